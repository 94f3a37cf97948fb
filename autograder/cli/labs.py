"""What runs on a student's finished pieces: lab, train, sample."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autograder.labs import Lab, Settings, Work

Solutions = Annotated[bool, typer.Option("--solutions", help="Run the checkout's solutions instead of your files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

POSITIONS = ("learned", "none", "sinusoidal", "rope", "alibi")
NORMS = ("pre", "post", "none")
ENGINES = ("torch", "numpy")

Device = Annotated[str, typer.Option(help="cpu, cuda or mps; auto takes the best that is there.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(lab)
    app.command()(train)
    app.command()(sample)


def lab(
    name: Annotated[str | None, typer.Argument(help="Which lab; all are listed where none is named.")] = None,
    solutions: Solutions = False,
    full: Annotated[bool, typer.Option("--full", help="The text's settings: minutes to hours.")] = False,
    data: Annotated[Path | None, typer.Option(help="The folder with tinyshakespeare.txt.")] = None,
    json: AsJson = False,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Where all draws begin.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Where results go; labs/NAME where none is named.")] = None,
    device: Device = "auto",
) -> None:
    """Produce a table or figure of the texts from your own code, and compare."""
    from autograder.labs.catalogue import all_labs, find_lab

    if name is None:
        _list(all_labs().values(), json)
        return
    from autograder.labs import Settings
    from autograder.labs.machine import one_thread

    chosen = find_lab(name)
    one_thread()

    work = read_work(Path.cwd(), solutions)
    _run(chosen, work, Settings(out or Path("labs") / chosen.name, full, seed, data, device), json)


def train(
    corpus: Annotated[
        str, typer.Argument(help="shakespeare, a text file, skip-induction, copy, repeat or referent.")
    ] = "shakespeare",
    steps: Annotated[int, typer.Option(min=1, help="Updates in all; a larger number goes on.")] = 1000,
    heads: Annotated[int, typer.Option(min=1, help="Heads in each block.")] = 4,
    embed: Annotated[int, typer.Option(min=1, help="Width of a token's vector.")] = 64,
    context: Annotated[int, typer.Option(min=1, help="Tokens that the model sees.")] = 64,
    blocks: Annotated[int, typer.Option(min=1, help="Blocks.")] = 2,
    positions: Annotated[str, typer.Option(help="learned, none, sinusoidal, rope or alibi.")] = "learned",
    norm: Annotated[str, typer.Option(help="pre, post or none.")] = "pre",
    lr: Annotated[float, typer.Option(min=0.0, help="Learning rate.")] = 3e-3,
    warmup: Annotated[int, typer.Option(min=0, help="Steps over which the learning rate grows.")] = 50,
    batch: Annotated[int, typer.Option(min=1, help="Sequences in each step.")] = 16,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Where all draws begin.")] = 0,
    engine: Annotated[str, typer.Option(help="torch (parts 6 and 7) or numpy (part 9).")] = "torch",
    data: Annotated[Path | None, typer.Option(help="The folder with tinyshakespeare.txt.")] = None,
    out: Annotated[Path, typer.Option(help="Where the model goes, and is gone on with.")] = Path("model"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew instead of going on.")] = False,
    device: Device = "auto",
    solutions: Solutions = False,
) -> None:
    """Train a language model with your own parts; Ctrl-C keeps it, and the same command goes on."""
    for value, known in ((positions, POSITIONS), (norm, NORMS), (engine, ENGINES)):
        _require(value, known)
    from rich.console import Console

    from autograder.labs.lm import ModelSettings
    from autograder.labs.lm import train as train_model
    from autograder.labs.machine import one_thread

    one_thread()
    settings = ModelSettings(
        engine=engine,
        corpus=corpus,
        heads=heads,
        embed=embed,
        context=context,
        blocks=blocks,
        positions=positions,
        norm=norm,
        lr=lr,
        warmup=warmup,
        batch=batch,
        seed=seed,
    )
    work = read_work(Path.cwd(), solutions)
    console = Console(stderr=True, highlight=False)
    try:
        done = train_model(work, settings, steps, out, data=data, fresh=fresh, device=device, console=console)
    except KeyboardInterrupt:
        typer.echo(f"what was trained is kept in {out}; the same command goes on from there", err=True)
        raise
    if done.began_at:
        made = len(done.losses) - done.began_at
        typer.echo(f"went on from step {done.began_at}" if made else f"{done.began_at} steps were made already")
    at, held_out = done.evaluations[-1]
    typer.echo(f"step {at}: held-out perplexity {held_out:.2f}, last loss {done.losses[-1]:.3f} nats")
    typer.echo(f"saved: {', '.join(str(path) for path in done.files)}")
    typer.echo(f"let it write: gpt-hw sample {out}")


def sample(
    folder: Annotated[Path, typer.Argument(help="What gpt-hw train wrote.")] = Path("model"),
    prompt: Annotated[str | None, typer.Option(help="Where to begin.")] = None,
    tokens: Annotated[int, typer.Option(min=1, help="How many to add.")] = 300,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 always takes the likeliest.")] = 0.8,
    top_k: Annotated[int | None, typer.Option(min=1, help="Draw among so many only.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Of the draws.")] = 0,
    device: Device = "auto",
    solutions: Solutions = False,
) -> None:
    """Let a model that you trained write."""
    from autograder.labs.lm import sample as write_on
    from autograder.labs.machine import one_thread

    one_thread()
    work = read_work(Path.cwd(), solutions)
    typer.echo(
        write_on(
            work,
            folder,
            prompt=prompt,
            tokens=tokens,
            temperature=temperature,
            top_k=top_k,
            seed=seed,
            device=device,
        )
    )


def _require(value: str, known: tuple[str, ...]) -> None:
    from autograder.errors import UsageError, did_you_mean

    if value not in known:
        raise UsageError(f"'{value}' is not one of {', '.join(known)}", did_you_mean(value, known))


def read_work(folder: Path, solutions: bool) -> "Work":
    """Read the part files of a workspace, or of the checkout's solutions/.

    Raises:
        UsageError: There are none.
    """
    from autograder.errors import UsageError
    from autograder.intake import read_source
    from autograder.labs import Work
    from autograder.parts import course_root, public_parts
    from autograder.workspace import find_source

    if solutions:
        root = course_root(folder)
        if root is None or not (root / "solutions").is_dir():
            raise UsageError(
                "--solutions needs the instructors' checkout, and this folder is not in one",
                "leave --solutions out, to run your own files",
            )
        folder = root / "solutions"
    known = public_parts()
    paths = {part.module: find_source(folder, part) for part in known.values()}
    # a part that this version's template does not have yet
    more = {path.stem: path for path in sorted(folder.glob("part[0-9]*_*.py"))}
    paths |= {module: path for module, path in more.items() if module.partition("_")[0] not in known}
    sources: dict[str, str] = {}
    problems: dict[str, str] = {}
    for module, path in paths.items():
        if path is not None:
            text, problem = read_source(path)
            (problems if problem else sources)[module] = problem or text
    if not sources and not problems:
        raise UsageError(f"there is no part file in {folder}", "make a workspace with gpt-hw init, or change to yours")
    return Work(sources, problems, is_ours=solutions)


def _list(labs: "Iterable[Lab]", json: bool) -> None:
    if json:
        import json as json_format

        found = [{"lab": one.name, "title": one.title, "parts": list(one.parts)} for one in labs]
        typer.echo(json_format.dumps({"version": 1, "labs": found}, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("lab", "needs", "what it shows"):
        table.add_column(column, overflow="fold")
    for one in labs:
        needs = ", ".join(part.removeprefix("part") for part in one.parts)
        table.add_row(Text(one.name), Text(f"part {needs}"), Text(one.title))
    console = Console(highlight=False)
    console.print(table)
    console.print("\nRun one with gpt-hw lab NAME; its table, picture and page are then in labs/NAME.", markup=False)


def _run(lab: "Lab", work: "Work", settings: "Settings", json: bool) -> None:
    import contextlib
    import json as json_format
    import sys

    from rich.console import Console

    from autograder.labs import run_lab, save_report
    from autograder.labs.plot import HOW_TO_DRAW, can_draw
    from autograder.labs.report import report_json
    from autograder.labs.show import print_report

    progress = Console(stderr=True, highlight=False)
    try:
        # what a student's code prints must not stand in the middle of our JSON
        with contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext():
            report, about = run_lab(lab, work, settings, progress)
    except KeyboardInterrupt:
        typer.echo("what was measured is kept; the same command goes on from there", err=True)
        raise
    written = save_report(report, about, settings.out)
    if json:
        typer.echo(json_format.dumps(report_json(report, about), ensure_ascii=False, indent=2))
        return
    print_report(Console(highlight=False), report, about)
    if about["reused"]:
        typer.echo(f"measurements of an earlier run: {about['reused']}; remove {settings.out} to make them again")
    if report.plots and not can_draw():
        typer.echo(HOW_TO_DRAW)
    typer.echo(f"saved: {', '.join(str(path) for path in written)}")

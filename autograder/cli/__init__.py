"""The command line: words typed, one call, what is printed, the exit code.

Exit: 0 all passed; 1 a check did not pass; 2 the input is wrong, or a regrade waits for --yes; 3 a bug of ours; 130
stopped by Ctrl-C.
"""

import contextlib
import os
import sys
from typing import NoReturn

import typer

from autograder import __version__
from autograder.cli import author, export, instructor, labs, nbgrader, student
from autograder.cli.interrupts import patient_interrupts
from autograder.errors import GptHwError

_STOPPED = 130

app = typer.Typer(
    name="gpt-hw",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Derive a GPT from an average, one tested piece at a time; and grade those who do.",
)
student.register(app)
instructor.register(app)
author.register(app)
labs.register(app)
nbgrader.register(app)
export.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gpt-hw {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Say which version."),
) -> None:
    return


def run() -> NoReturn:
    """Run the command and leave at once: taking torch down in good order costs half a second of somebody's waiting."""
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    with contextlib.suppress(OSError, ValueError):  # a reader who has gone away
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Run the command that was typed; every error of a person's is told with its remedy, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows another, and nothing stops
    patient_interrupts()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()  # here, where a reader who has gone away is no surprise
    except GptHwError as error:
        _tell(error.message, error.remedy)
        raise SystemExit(2) from None
    except (KeyboardInterrupt, typer.Abort):
        code = _STOPPED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as error:
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # words that are no command or option
            error.show()
            raise SystemExit(error.exit_code) from None
        if os.environ.get("GPT_HW_DEBUG"):
            raise
        told = " ".join(str(error).split())
        _tell(
            f"this is a bug of ours: {type(error).__name__}: {told}",
            "run it again with GPT_HW_DEBUG=1 and report what it prints",
        )
        raise SystemExit(3) from None
    if code == _STOPPED:
        typer.echo("stopped", err=True)
    raise SystemExit(code or 0)


def _tell(message: str, remedy: str) -> None:
    typer.echo(f"gpt-hw: {message}", err=True)
    if remedy:
        typer.echo(f"        {remedy}", err=True)

"""Nothing in a student's install is an answer: no function or class of it passes a check when it is pasted into a part.

The pasted code runs behind the wall, as a submission would: some of these functions end or replace their process.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from autograder.checks.local import load_suites, run_check, sources_of
from autograder.errors import SandboxError
from autograder.parts import load_parts
from autograder.records import Limits, Part
from autograder.sandbox import ForkServer, Worker, choose_rung
from autograder.wire import Array, WorkerDied

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENTS = ROOT / "assignments"
PARTS = load_parts(ASSIGNMENTS)
SEED = 0
REPLY_S = 2.0
FUNCTIONS_PER_WORKER = 150
MANY_BYTES = 1 << 20
TYPE_ERROR = {"error": {"type": "TypeError", "bases": ["Exception"], "message": "no", "traceback": ""}}
SILLY = {  # what somebody without an idea would try
    "identity": "def identity(x, *args, **kwargs):\n    return x\n",
    "zeros": "import torch\n\ndef zeros(x, *args, **kwargs):\n    return torch.zeros_like(x)\n",
    "none": "def none(*args, **kwargs):\n    return None\n",
    "refuses": "def refuses(*args, **kwargs):\n    raise ValueError('no')\n",
    "module": "import torch\n\nclass module(torch.nn.Module):\n    def __init__(self, *args, **kwargs):\n"
    "        super().__init__()\n\n    def forward(self, x, *args, **kwargs):\n        return x\n",
}

# Returning d where the variance of scores is asked for gives its expected value; a hidden check asks for the estimate.
KNOWN: dict[str, dict[str, list[str]]] = {}


class Asked(Exception):
    """A check has put its first question to the student."""


@dataclass(frozen=True)
class Question:
    """The first thing that a check asks of the student; a check that gets no answer to it does not pass."""

    message: Mapping[str, Any]
    arrays: Sequence[Array]
    is_first: bool  # False where the suite builds something of its own before

    @property
    def name(self) -> str:
        return str(self.message["name"])

    @property
    def bytes(self) -> int:
        return sum(len(array.data) for array in self.arrays)

    def fits(self, parameters: inspect.Signature | None) -> bool:
        """Tell whether a function of this signature can be called so; None is not known."""
        if parameters is None:
            return True
        args, kwargs = self.message["args"], self.message["kwargs"]
        try:
            parameters.bind(*_items(args), **dict.fromkeys(_keys(kwargs)))
        except TypeError:
            return False
        return True


def _items(node: Any) -> list[Any]:
    return list(node["list"]) if isinstance(node, dict) else list(node)


def _keys(node: Any) -> list[str]:
    entries = node["dict"] if isinstance(node, dict) and "dict" in node else node
    return [str(entry[0]) for entry in entries] if isinstance(entries, list) else [str(key) for key in entries]


class Ear:
    """Hears the first question of a check, and stops it there."""

    def __init__(self) -> None:
        self.question: Question | None = None
        self._probes = 0

    def begin(self, seed: int, threads: int = 1) -> None:
        pass

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        if message["op"] == "probe":
            self._probes += 1
            return {"value": {"handle": [self._probes, "Probe"]}}, []
        self.question = Question(message, arrays, self._probes == 0)
        raise Asked


class Deaf:
    """Answers everything with an exception."""

    def begin(self, seed: int, threads: int = 1) -> None:
        pass

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        return dict(TYPE_ERROR), []


class Pasted:
    """A part file behind the wall, asked by checks in this process; many files one after another in one worker."""

    def __init__(self, server: ForkServer, rung: int, part: Part) -> None:
        self._open = lambda: server.worker(rung, Limits(check_s=REPLY_S), part.forbidden)
        self._module = part.module
        self._worker: Worker | None = None
        self._sources: dict[str, str] = {}
        self._files = 0

    def paste(self, sources: Mapping[str, str]) -> bool:
        """Load a file; False where it does not import."""
        self._sources = dict(sources)
        self._files += 1
        if self._files % FUNCTIONS_PER_WORKER == 0:
            self.close()
        return self._import()

    def _import(self) -> bool:
        if self._worker is None:
            self._worker = self._open()
        try:
            reply, _ = self._ask({"op": "import", "module": self._module, "sources": self._sources}, [])
        except WorkerDied:
            return False
        return "error" not in reply

    def begin(self, seed: int, threads: int = 1) -> None:
        if self._worker is None:
            self._import()
        self._ask({"op": "begin", "seed": seed, "threads": threads}, [])

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        return self._ask(message, arrays)

    def _ask(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        if self._worker is None:
            raise WorkerDied("the process ended before")
        try:
            self._worker.allow(REPLY_S)
            return self._worker.request(message, arrays)
        except WorkerDied:
            self.close()
            raise

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def __enter__(self) -> "Pasted":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Paste:
    """A function or class of the release, as text that stands by itself."""

    place: str
    name: str
    text: str
    signature: inspect.Signature | None

    def as_answer(self, names: Iterable[str]) -> str:
        return f"{self.text}\n" + "".join(f"{name} = {self.name}\n" for name in names)


def released_files() -> list[Path]:
    """List the Python files of the wheel; tests/test_release.py holds it to these folders."""
    template = [*ROOT.glob("student_template/part*.py"), *ROOT.glob("student_template/checks/part*/test_public.py")]
    return sorted([*ROOT.glob("autograder/**/*.py"), *template])


@cache
def pastes() -> list[Paste]:
    found = {}
    for path in released_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                text = _standing_alone(tree, node)
                place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                found.setdefault(text, Paste(place, node.name, text, _signature(node)))
    return list(found.values())


def _standing_alone(tree: ast.Module, node: ast.stmt) -> str:
    """Give a function with its file's imports and whatever of its file it uses, so that it works where it can."""
    defined = {name: statement for statement in tree.body for name in _names_of(statement)}
    needed: list[ast.stmt] = []
    waiting: list[ast.stmt] = [node]
    while waiting:
        used = {part.id for part in ast.walk(waiting.pop()) if isinstance(part, ast.Name)}
        for statement in (defined[name] for name in sorted(used) if name in defined):
            if statement is not node and statement not in needed:
                needed.append(statement)
                waiting.append(statement)
    imports = [part for part in ast.walk(tree) if isinstance(part, ast.Import | ast.ImportFrom)]
    pieces = [f"try:\n    {ast.unparse(part)}\nexcept Exception:\n    pass\n" for part in imports]
    return "\n".join([*pieces, *map(_bare, sorted(needed, key=lambda one: one.lineno)), _bare(node)])


def _names_of(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _bare(statement: ast.stmt) -> str:
    """Write a statement without its decorators; what surrounds the answer may fail without harm to it."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return ast.unparse(type(statement)(**{**vars(statement), "decorator_list": []}))
    return f"try:\n    {ast.unparse(statement).replace(chr(10), chr(10) + '    ')}\nexcept Exception:\n    pass"


def _signature(node: ast.AST) -> inspect.Signature | None:
    """Read how a function can be called; None for a class, whose constructor may be another's."""
    if not isinstance(node, ast.FunctionDef):
        return None
    a, kind = node.args, inspect.Parameter
    positional = [*a.posonlyargs, *a.args]
    without = len(positional) - len(a.defaults)
    kinds = [kind.POSITIONAL_ONLY] * len(a.posonlyargs) + [kind.POSITIONAL_OR_KEYWORD] * len(a.args)
    found = [
        kind(arg.arg, each, default=kind.empty if number < without else None)
        for number, (arg, each) in enumerate(zip(positional, kinds, strict=True))
    ]
    found += [kind(a.vararg.arg, kind.VAR_POSITIONAL)] if a.vararg else []
    for arg, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        found.append(kind(arg.arg, kind.KEYWORD_ONLY, default=kind.empty if default is None else None))
    found += [kind(a.kwarg.arg, kind.VAR_KEYWORD)] if a.kwarg else []
    return inspect.Signature(found)


@cache
def suites(part_name: str) -> dict[str, Any]:
    """Give every check of a part by id, but those that train: nothing here trains, and failing to costs minutes."""
    part = PARTS[part_name]
    exact = {check.id for check in part.checks if not check.trains}
    return {name: function for name, function in load_suites(part.folder, hidden=True).items() if name in exact}


@cache
def questions(part_name: str) -> dict[str, Question]:
    """Give the first question of each check."""
    found = {}
    for check_id, function in suites(part_name).items():
        ear = Ear()
        with pytest.raises(Asked):
            run_check(function, check_id, ear, SEED)  # type: ignore[arg-type]
        assert ear.question is not None
        found[check_id] = ear.question
    return found


@pytest.fixture(scope="module")
def wall() -> Iterator[tuple[ForkServer, int]]:
    groups = sorted({group for part in PARTS.values() for group in part.forbidden})
    with ForkServer(("torch", "full", *groups)) as server:
        try:
            rung, _ = choose_rung(server, Limits(), [ASSIGNMENTS])
        except SandboxError as error:
            pytest.skip(error.message)
        yield server, rung


def has_answer(pasted: Pasted, question: Question) -> bool:
    """Put the first question of a check; one that a suite's own object goes before is not put alone."""
    if not question.is_first:
        return True
    try:
        pasted.begin(SEED)
        reply, _ = pasted.request(dict(question.message), question.arrays)
    except WorkerDied:
        return False
    error = reply.get("error")
    return error is None or "ValueError" in (error["type"], *error.get("bases", []))


def passed(pasted: Pasted, part: Part, check_id: str) -> bool:
    """Run one check on what is pasted."""
    try:
        return run_check(suites(part.name)[check_id], check_id, pasted, SEED) is None  # type: ignore[arg-type]
    except WorkerDied:
        return False


def wins_of(pasted: Pasted, part: Part, paste: Paste) -> list[str]:
    """Run every check that could go on past its first question."""
    asked = questions(part.name)
    fitting = [check_id for check_id in asked if asked[check_id].fits(paste.signature)]
    earlier = {name: text for name, text in sources_of(ASSIGNMENTS).items() if name in part.needs}
    names = sorted({question.name for question in asked.values()})
    if not fitting or not pasted.paste({**earlier, part.module: paste.as_answer(names)}):
        return []
    wins = []
    has_answered = False
    for check_id in sorted(fitting, key=lambda check_id: asked[check_id].bytes):
        if asked[check_id].bytes > MANY_BYTES and not has_answered:
            continue  # who has no answer to any small question has none to a large one, which takes long to send
        if has_answer(pasted, asked[check_id]):
            has_answered = True
            wins += [check_id] if passed(pasted, part, check_id) else []
    return wins


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_check_that_gets_exceptions_for_answers_does_not_pass(part: Part) -> None:
    """What the shortcut of this module rests on: whoever has no answer to the first question fails the check."""
    for check_id, function in suites(part.name).items():
        assert run_check(function, check_id, Deaf(), SEED) is not None, check_id  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_no_function_of_the_release_passes_a_check(part: Part, wall: tuple[ForkServer, int]) -> None:
    with Pasted(*wall, part) as pasted:
        wins = {paste.place: found for paste in pastes() if (found := wins_of(pasted, part, paste))}
    assert wins == {}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_no_silly_answer_passes_a_check(part: Part, wall: tuple[ForkServer, int]) -> None:
    with Pasted(*wall, part) as pasted:
        found = {name: wins_of(pasted, part, Paste(name, name, text, None)) for name, text in SILLY.items()}
    assert {name: wins for name, wins in found.items() if wins} == KNOWN.get(part.name, {})


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_unsolved_template_passes_no_check(part: Part, wall: tuple[ForkServer, int]) -> None:
    template = ROOT / "student_template" / f"{part.module}.py"
    if not template.is_file():
        pytest.skip("this part has no template yet")
    earlier = {name: text for name, text in sources_of(ASSIGNMENTS).items() if name in part.needs}
    with Pasted(*wall, part) as pasted:
        assert pasted.paste({**earlier, part.module: template.read_text(encoding="utf-8")})
        wins = [check_id for check_id in suites(part.name) if passed(pasted, part, check_id)]
    assert wins == []


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_solution_passes_here(part: Part, wall: tuple[ForkServer, int]) -> None:
    """The way through this module lets a right answer pass, so that nothing else passing means something."""
    sources = sources_of(ASSIGNMENTS)
    with Pasted(*wall, part) as pasted:
        assert pasted.paste({name: text for name, text in sources.items() if name in (part.module, *part.needs)})
        results = {check_id: passed(pasted, part, check_id) for check_id in suites(part.name)}
    assert sum(results.values()) > len(results) / 2

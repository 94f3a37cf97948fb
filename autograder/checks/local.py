"""Run a suite in this process, on trusted text only: our solutions, and our catalogue of mistakes.

Authors use it directly::

    from autograder.checks.local import load_suite, run_suite, sources_of, mistakes_of
    sources = sources_of(Path("assignments"))                       # module -> text of every part file
    suite = load_suite(Path("assignments/part3_attention/test_hidden.py"))
    for check_id, failure in run_suite(suite, "part3_attention", sources, seed=0).items():
        print(check_id, "passed" if failure is None else failure.message)
    for name, mistake in mistakes_of(Path("assignments/part3_attention/mistakes.py")).items():
        wrong = sources | {"part3_attention": mistake.applied_to(sources["part3_attention"])}
        run_suite(suite, "part3_attention", wrong, seed=0)
"""

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.checks.bands import Band, Bands
from autograder.checks.draws import Rng
from autograder.checks.failures import CheckFailure, restart_steps
from autograder.checks.student import Student
from autograder.errors import PartError
from autograder.wire import Array
from autograder.worker import Session

CheckFunction = Callable[..., None]  # of student and rng, and of bands where it trains


class LocalConnection:
    """A session in this process, for text that we trust.

    Args:
        module: The part's module.
        sources: Module -> text of everything it may import.
    """

    def __init__(self, module: str, sources: Mapping[str, str]) -> None:
        self.part = module.partition("_")[0]
        self._session = Session()
        self._import = {"op": "import", "module": module, "sources": dict(sources)}
        self.import_error: dict[str, Any] | None = None

    def begin(self, seed: int, threads: int = 1) -> None:
        """Start a check: import on first use, then set everything anew."""
        if self._import is not None:
            reply, _ = self._session.handle(self._import, [])
            self.import_error = reply.get("error")
            self._import = None  # type: ignore[assignment]
        self._session.handle({"op": "begin", "seed": seed, "threads": threads}, [])

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Answer one request."""
        if self.import_error is not None:
            return {"error": self.import_error}, []
        return self._session.handle(message, arrays)


class InProcessWorker:
    """A worker without a wall, on the student's own machine: what it raises reaches a debugger."""

    def __init__(self) -> None:
        self._session = Session(reraise=True)
        self.alive = True

    def allow(self, seconds: float) -> None:
        """Do nothing: there is no time limit while a person looks around."""

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Answer one request."""
        return self._session.handle(message, arrays)

    def printed(self) -> str:
        """Return nothing: it went to the terminal."""
        return ""

    def threads(self) -> int:
        """Return 1: what runs in this process is not told apart."""
        return 1

    def forget_printed(self) -> None:
        """Do nothing: it was seen already."""

    def close(self) -> None:
        """Forget the session."""
        self.alive = False


@dataclass(frozen=True, slots=True)
class Mistake:
    """One entry of a part's mistakes.py.

    Attributes:
        name: What it is called in results.
        of: What it replaces: ``attention`` or ``Head.forward``.
        told: The sentence for the student.
        text: Imports and the wrong function, ready to stand below the solution.
        trains: The training checks that it must lose.
    """

    name: str
    of: str
    told: str
    text: str
    trains: tuple[str, ...] = ()

    def applied_to(self, solution: str) -> str:
        """Return the solution with this mistake in it."""
        return f"{solution}\n\n{self.text}\n\n{self.of} = {self.name}\n"


def sources_of(assignments: Path) -> dict[str, str]:
    """Read every part file below a folder, by module name."""
    return {
        folder.name: (folder / f"{folder.name}.py").read_text(encoding="utf-8")
        for folder in sorted(assignments.glob("part*_*"))
        if (folder / f"{folder.name}.py").is_file()
    }


def load_suite(path: Path) -> dict[str, CheckFunction]:
    """Import a suite and return its checks by id.

    Raises:
        PartError: The suite does not import.
    """
    spec = importlib.util.spec_from_file_location(f"suite_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise PartError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PartError(f"{path} does not import: {type(error).__name__}: {error}") from error
    finally:
        sys.dont_write_bytecode = bytecode
    found = {name: value for name, value in vars(module).items() if name.startswith("test_") and callable(value)}
    return {name.removeprefix("test_"): function for name, function in found.items()}


def load_suites(folder: Path, *, hidden: bool) -> dict[str, CheckFunction]:
    """Import a part's public suite, and the hidden one too where asked, and return their checks by id."""
    names = ("test_public.py", "test_hidden.py") if hidden else ("test_public.py",)
    return {check_id: function for name in names for check_id, function in load_suite(folder / name).items()}


def run_check(
    function: CheckFunction,
    check_id: str,
    connection: LocalConnection,
    seed: int,
    threads: int = 1,
    bands: Mapping[str, Band] | None = None,
) -> CheckFailure | None:
    """Run one check; None where it passes."""
    takes_bands = "bands" in inspect.signature(function).parameters
    extra = {"bands": Bands(bands or {}, connection.part)} if takes_bands else {}
    restart_steps()
    connection.begin(seed, threads)
    try:
        function(Student(connection), Rng(seed, check_id), **extra)
    except CheckFailure as failure:
        return failure
    except AssertionError as failure:  # a suite's own assert, as in ``suite.run``
        return CheckFailure(str(failure) or "the property does not hold")
    return None


def run_suite(
    suite: Mapping[str, CheckFunction], module: str, sources: Mapping[str, str], seed: int
) -> dict[str, CheckFailure | None]:
    """Run every check of a suite on one set of texts."""
    connection = LocalConnection(module, sources)
    return {check_id: run_check(function, check_id, connection, seed) for check_id, function in suite.items()}


def mistakes_of(path: Path) -> dict[str, Mistake]:
    """Read a part's catalogue of wrong solutions from its text.

    Args:
        path: mistakes.py; a missing file is an empty catalogue.

    Raises:
        PartError: An entry has no ``@mistake(of=...)`` or no docstring.
    """
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    own = path.parent.name
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    # The entry stands in the solution's own module, where the solution's names already are.
    kept = [node for node in imports if getattr(node, "module", None) not in (own, "autograder.checks")]
    head = "\n".join(ast.unparse(node) for node in kept)
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            declared, told = _declared(node), ast.get_docstring(node)
            of, trains = declared.get("of"), declared.get("trains", ())
            if not isinstance(of, str) or not told:
                raise PartError(f"{path}:{node.lineno}: {node.name} needs @mistake(of=...) and a docstring")
            bare = ast.FunctionDef(**{**vars(node), "decorator_list": []})
            text = f"{head}\n\n\n{ast.unparse(bare)}"
            checks = (trains,) if isinstance(trains, str) else tuple(trains)
            found[node.name] = Mistake(node.name, of, " ".join(told.split()), text, checks)
    return found


def _declared(node: ast.FunctionDef) -> dict[str, Any]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") in ("mistake", "equivalent"):
            return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in decorator.keywords}
    return {}

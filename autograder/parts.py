"""Read the parts of the course: folder -> Part and Check, from text alone; nothing of a part is run.

What a submission is graded against is known before its code starts, so a file that does not import
scores 0 of 12 and not 0 of 0.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import cast

from autograder.errors import PartError, UsageError, did_you_mean
from autograder.records import Check, Part
from autograder.yaml_file import read_table

FORMAT = 1
FORBIDDEN_SETS = ("attention", "normalisation")
LIBRARIES = ("torch", "numpy")  # what a part may import beside Python\'s own modules; torch brings numpy
RUNGS = 3  # of a ladder of hints: the question, the idea, the line of reasoning
CHECK_ARGUMENTS = ("points", "exercise", "hint", "timeout_s", "trains")
TEST_PREFIX = "test_"

_FOLDER = re.compile(r"(part([1-9][0-9]*))_([a-z][a-z0-9_]*)")
_EXAMPLE = '@check(points=2, exercise="attention", hint="Which axis?")'


def load_parts(folder: Path, *, hidden: bool = True) -> dict[str, Part]:
    """Read every part in a folder.

    Args:
        folder: Holds one folder partN_topic for each part: ``assignments``, or the ``checks`` of a template.
        hidden: Whether to read the hidden suites too, where there are any.

    Returns:
        The parts by name (``part3``), in the order of their numbers.

    Raises:
        PartError: A part is not as it should be; the message says where.
    """
    if not folder.is_dir():
        raise PartError(f"there is no folder {folder}", "Run this inside the course's folder.")
    found = _find_folders(folder)
    modules = [path.name for path in found.values()]
    parts = {}
    for name in sorted(found, key=lambda name: int(name.removeprefix("part"))):
        parts[name] = _load_part(found[name], modules, hidden)
    return parts


def find_part(word: str, parts: Mapping[str, Part]) -> Part:
    """Find the part that a person means by ``part3``, ``3``, ``attention`` or the name of its file.

    Raises:
        UsageError: No part is called so.
    """
    last = PurePosixPath(word.strip().replace("\\", "/")).name.casefold()
    wanted = last.removesuffix(".py").removesuffix(".ipynb")
    for part in parts.values():
        if wanted in (part.name, str(part.number), part.topic, part.module):
            return part
    known = [name for part in parts.values() for name in (part.name, part.topic)]
    raise UsageError(f"no part is called '{word}'", did_you_mean(wanted, known))


def find_parts(words: str | Iterable[str], parts: Mapping[str, Part]) -> list[Part]:
    """Find several parts, for example ``3,5`` or ``["attention", "5"]``.

    Returns:
        Each part once, in the order of the course.

    Raises:
        UsageError: A word names no part, or there is no word.
    """
    texts = [words] if isinstance(words, str) else list(words)
    named = [find_part(word, parts).name for text in texts for word in re.split(r"[,\s]+", text) if word]
    if not named:
        raise UsageError("no part is named", f"Known: {', '.join(parts)}.")
    return [part for part in parts.values() if part.name in named]


def course_root(start: Path) -> Path | None:
    """Find the nearest folder, from ``start`` upwards, that holds grading.yml and assignments/."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / "grading.yml").is_file() and (folder / "assignments").is_dir():
            return folder
    return None


def template_folder() -> Path:
    """Find what students start from: inside an installed package, or beside it in a checkout.

    Raises:
        PartError: There is none.
    """
    package = Path(__file__).absolute().parent
    for folder in (package / "student_template", package.parent / "student_template"):
        if folder.is_dir():
            return folder
    raise PartError("student_template/ is not there", "Run 'gpt-hw build' in the course's folder to make it.")


def public_parts() -> dict[str, Part]:
    """Read the parts as students have them: public suites only, from the template."""
    return load_parts(template_folder() / "checks", hidden=False)


def suites_sha256(parts: Mapping[str, Part]) -> str:
    """Digest all that decides a grade: suites, part.yml, mistakes.py and part files, and which checks count.

    A suite may import a module beside it, so every Python file of a part's folder is counted.
    """
    digest = hashlib.sha256()
    for part in sorted(parts.values(), key=lambda part: part.number):
        digest.update(f"{part.module} {[check.id for check in part.checks]}\n".encode())
        for path in sorted([*part.folder.glob("[!.]*.py"), part.folder / "part.yml"]):
            data = path.read_bytes()
            digest.update(f"{path.name} {len(data)}\n".encode())
            digest.update(data)
    return digest.hexdigest()


def _find_folders(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    topics: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or not path.name.casefold().startswith("part"):
            continue
        match = _FOLDER.fullmatch(path.name)
        if match is None:
            remedy = "Rename it to partN_topic in lower case, for example part3_attention."
            raise PartError(f"{path} is not named like a part", remedy)
        name, _, topic = match.groups()
        for twin in (found.get(name), topics.get(topic)):
            if twin is not None:
                raise PartError(
                    f"{twin.name} and {path.name} share a number or a topic", f"Renumber or rename one in {folder}."
                )
        found[name] = topics[topic] = path
    if not found:
        raise PartError(f"there is no part in {folder}", "Add a folder such as part1_average.")
    return found


def _load_part(folder: Path, modules: Iterable[str], hidden: bool) -> Part:
    name, topic = folder.name.split("_", maxsplit=1)
    table = read_table(folder / "part.yml", shown=f"{folder.name}/part.yml", error=PartError)
    version = table.version(FORMAT)  # before the names: a newer format may have new ones
    table.only("version", "title", "needs", "minutes", "forbidden", "libraries", "hints")
    table.whole("minutes", 1, at_least=1)  # for the people who plan the term; grading does not use it

    suites = [(folder / "test_public.py", False)]
    if hidden and (folder / "test_hidden.py").is_file():
        suites.append((folder / "test_hidden.py", True))
    checks: dict[str, Check] = {}
    for path, is_hidden in suites:
        for check in _read_suite(path, is_hidden):
            if check.id in checks:
                first = checks[check.id]
                where = "test_hidden.py" if first.hidden else "test_public.py"
                raise _slip(
                    path, check.line, f"{TEST_PREFIX}{check.id} is already in {where}:{first.line}", "Rename it."
                )
            checks[check.id] = check

    ladders = table.table("hints")
    hints = {exercise: ladders.texts(exercise) for exercise in ladders.keys}
    exercises = {check.exercise for check in checks.values()}
    for exercise, rungs in hints.items():
        if not 0 < len(rungs) <= RUNGS:
            raise ladders.slip(exercise, f"expected {RUNGS} hints (question, idea, reasoning), found {len(rungs)}")
        # the checks of an exercise may all be hidden, so this can be judged only where those were read
        if len(suites) > 1 and exercise not in exercises:
            raise ladders.slip(exercise, "no check is about this exercise", did_you_mean(str(exercise), exercises))
    return Part(
        name=name,
        topic=topic,
        module=folder.name,
        folder=folder,
        title=table.text("title"),
        version=version,
        needs=table.choices("needs", modules),
        forbidden=table.choices("forbidden", FORBIDDEN_SETS),
        libraries=table.choices("libraries", LIBRARIES, LIBRARIES[:1]),
        hints=hints,
        checks=tuple(checks.values()),
    )


def _read_suite(path: Path, hidden: bool) -> list[Check]:
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise _slip(path, error.lineno or 1, f"not valid Python: {error.msg}", "Mend that line.") from None
    except (OSError, ValueError) as error:
        raise PartError(f"{path}: cannot be read ({error})", "Every part has a test_public.py in UTF-8.") from None
    checks = []
    for node, at_top in _functions(tree):
        decorators = [each for each in node.decorator_list if _is_check(each)]
        if not node.name.startswith(TEST_PREFIX):
            if decorators:
                remedy = f"Rename it to {TEST_PREFIX}{node.name}."
                raise _slip(path, node.lineno, f"{node.name} is a check but pytest will not run it", remedy)
            continue
        if not at_top or isinstance(node, ast.AsyncFunctionDef):
            remedy = "Write it as 'def' at the left margin."
            raise _slip(path, node.lineno, f"{node.name} is not a plain function of the suite", remedy)
        if len(decorators) != 1:
            problem = f"{node.name} has {len(decorators)} @check, expected one"
            raise _slip(path, node.lineno, problem, f"Put one line above it, such as {_EXAMPLE}.")
        checks.append(_read_check(path, node, decorators[0], hidden))
    if not checks:
        raise PartError(f"{path}: there is no check in it", f"Write a function test_... under {_EXAMPLE}.")
    return checks


def _read_check(path: Path, node: ast.FunctionDef, decorator: ast.expr, hidden: bool) -> Check:
    arguments = _read_arguments(path, node.name, decorator)
    points, exercise = arguments.get("points"), arguments.get("exercise")
    hint, timeout_s = arguments.get("hint", ""), arguments.get("timeout_s")
    trains = arguments.get("trains", False)
    wrongs = (
        (_is_positive(points), f"points: expected a number above 0, found {points!r}"),
        (
            isinstance(exercise, str) and all(word.isidentifier() for word in exercise.split(".")),
            f"exercise: expected the name of a function or class, found {exercise!r}",
        ),
        (isinstance(hint, str), f"hint: expected a text, found {hint!r}"),
        (timeout_s is None or _is_positive(timeout_s), f"timeout_s: expected seconds above 0, found {timeout_s!r}"),
        (isinstance(trains, bool), f"trains: expected True or False, found {trains!r}"),
    )
    for is_right, wrong in wrongs:
        if not is_right:
            raise _slip(path, decorator.lineno, f"{node.name}: {wrong}", f"Write it like {_EXAMPLE}.")
    title = (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()
    if not title:
        remedy = 'Begin its body with """The property that it checks, in one line.""": students read it.'
        raise _slip(path, node.lineno, f"{node.name} has no docstring", remedy)
    return Check(
        id=node.name.removeprefix(TEST_PREFIX),
        title=title,
        points=float(cast("float", points)),
        exercise=str(exercise),
        hint=str(hint),
        hidden=hidden,
        line=node.lineno,
        timeout_s=None if timeout_s is None else float(cast("float", timeout_s)),
        trains=bool(trains),
    )


def _read_arguments(path: Path, name: str, decorator: ast.expr) -> dict[str, object]:
    if not isinstance(decorator, ast.Call) or decorator.args:
        problem = f"{name}: @check takes named arguments only"
        raise _slip(path, decorator.lineno, problem, f"Write it like {_EXAMPLE}.")
    arguments: dict[str, object] = {}
    for keyword in decorator.keywords:
        if keyword.arg not in CHECK_ARGUMENTS:
            word = keyword.arg or "**"
            problem = f"{name}: @check has no argument '{word}'"
            raise _slip(path, keyword.value.lineno, problem, did_you_mean(word, CHECK_ARGUMENTS))
        try:
            arguments[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError):
            problem = f"{name}: {keyword.arg}: not a literal: {ast.unparse(keyword.value)}"
            remedy = "Write the value itself: checks are read from the text, before anything runs."
            raise _slip(path, keyword.value.lineno, problem, remedy) from None
    for needed in ("points", "exercise"):
        if needed not in arguments:
            problem = f"{name}: {needed} is missing"
            raise _slip(path, decorator.lineno, problem, f"Write it like {_EXAMPLE}.")
    return arguments


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Give every function of a suite in the order of its text, and whether it stands at the left margin."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in sorted(functions, key=lambda node: node.lineno):
        yield node, any(node is statement for statement in tree.body)


def _is_check(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "check"


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _slip(path: Path, line: int, problem: str, remedy: str) -> PartError:
    return PartError(f"{path}:{line}: {problem}", remedy)

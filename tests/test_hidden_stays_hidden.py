"""Nothing of the hidden suites reaches a student: every text of theirs is searched for in everything a grading shows.

The submissions are wrong in as many ways as can be made by rule: untouched, returning nothing, raising and printing
whatever they are given, answering in NaN, and with the mistakes of the catalogue. Only result.json, which is for
instructors, may name hidden checks.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="instructors grade on Linux"),
]

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("part*.py"))
SHORTEST = 12  # characters; shorter texts stand in any program
MISTAKES = 2  # submissions with a mistake in each part

NOTHING = "def {name}(*args, **kwargs):\n    return None\n"
TELLS = """
def {name}(*args, **kwargs):
    import sys
    frame, names = sys._getframe(), []
    while frame is not None:
        names += [frame.f_code.co_filename, frame.f_code.co_name, *map(str, frame.f_locals)]
        frame = frame.f_back
    print(names, args, kwargs)
    raise RuntimeError(str((names, args, kwargs))[:4000])
"""
NAN = """
def {name}(*args, **kwargs):
    given = [each for each in args if hasattr(each, "shape")]
    return given[0] * float("nan") if given else float("nan")
"""


# -- what is hidden ----------------------------------------------------------------------------------------------------


def hidden_texts() -> set[str]:
    """Collect what only the hidden suites hold: names of functions, and texts, but not the titles of checks."""
    suites = [path.read_text(encoding="utf-8") for path in (ROOT / "assignments").glob("part*/test_hidden.py")]
    trees = [ast.parse(suite) for suite in suites]
    found = {text for tree in trees for text in _texts(tree)}
    titles = [title for tree in trees for title in _titles(tree)]
    shown = "\n".join([*titles, *(path.read_text(encoding="utf-8") for path in _shown_files())])
    # A dotted path (blocks.0.attention) names a place in the student's own model.
    return {text for text in found if text not in shown and not re.fullmatch(r"\w+(\.\w+)+", text)}


def _titles(tree: ast.Module) -> set[str]:
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {ast.get_docstring(node, clean=False) or "" for node in checks}


def _texts(tree: ast.Module) -> Iterator[str]:
    titles = _titles(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name.startswith("test_"):  # the id of a check, without its prefix, is the same secret
                yield node.name.removeprefix("test_")
            elif len(node.name) >= SHORTEST:
                yield node.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in titles:
            for line in node.value.splitlines():
                if len(line.strip()) >= SHORTEST:
                    yield line.strip()


def _shown_files() -> list[Path]:
    """List what students have or may be told: their files, the public suites, hints and sentences of mistakes."""
    patterns = ("student_template/**/*.py", "student_template/**/*.json", "assignments/*/part.yml")
    found = [path for pattern in patterns for path in ROOT.glob(pattern)]
    # A page shows texts of the tool itself.
    return [*found, *ROOT.glob("assignments/*/mistakes.py"), *ROOT.glob("autograder/**/*.py")]


# -- the submissions ---------------------------------------------------------------------------------------------------


def write_submissions(target: Path) -> None:
    """Write every wrong submission, each with all parts."""
    for kind, text in (("nothing", NOTHING), ("tells", TELLS), ("nan", NAN)):
        for solution in SOLUTIONS:
            if kind == "nan" and _trains(solution.stem):
                continue
            _write(target / kind / solution.name, _replaced(solution.read_text(encoding="utf-8"), text))
    for solution in SOLUTIONS:
        shutil.copy(ROOT / "student_template" / solution.name, _write(target / "template" / solution.name, ""))
        if _trains(solution.stem):  # whatever does not fail at once takes a minute there
            continue
        mistakes = (ROOT / "assignments" / solution.stem / "mistakes.py").read_text(encoding="utf-8")
        for number, wrong in enumerate(_mistakes(mistakes)):
            if number < MISTAKES:
                _write(target / f"mistake-{number}" / solution.name, solution.read_text(encoding="utf-8") + wrong)


def _trains(module: str) -> bool:
    suites = (ROOT / "assignments" / module).glob("test_*.py")
    return any("trains=True" in suite.read_text(encoding="utf-8") for suite in suites)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _replaced(solution: str, text: str) -> str:
    """Put a function in place of every function, and of every method of a class but its constructor."""
    new = []
    for node in ast.parse(solution).body:
        if isinstance(node, ast.FunctionDef):
            new.append(text.format(name=node.name))
        elif isinstance(node, ast.ClassDef):
            names = [each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name != "__init__"]
            new += [text.format(name=f"_{node.name}_{name}") for name in names]
            new += [f"{node.name}.{name} = _{node.name}_{name}\n" for name in names]
    return solution + "\n\n" + "\n\n".join(new)


def _mistakes(text: str) -> Iterator[str]:
    """Give the text that turns a solution into one with a mistake, for each mistake."""
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    kept = [ast.unparse(node) for node in imports if not (getattr(node, "module", "") or "").startswith("autograder")]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            (call,) = node.decorator_list
            assert isinstance(call, ast.Call)
            of = next(word.value.value for word in call.keywords if word.arg == "of")  # type: ignore[attr-defined]
            name, node.decorator_list = node.name, []
            lines = [line for line in kept if not line.startswith("from part")]
            yield "\n\n" + "\n".join([*lines, ast.unparse(node), f"{of} = {name}"]) + "\n"


# -- the search --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The results of one grading with the policy of this repository, and all that was printed."""
    base = tmp_path_factory.mktemp("hidden")
    for name in ("assignments", "grading.yml"):
        path = ROOT / name
        shutil.copytree(path, base / name) if path.is_dir() else shutil.copy(path, base / name)
    write_submissions(base / "handed-in")
    printed = ""
    for more in ([], ["--json"]):  # the second run finds all current, and prints the same in the other form
        command = [sys.executable, "-m", "autograder", "grade", str(base / "handed-in"), "--out", str(base / "out")]
        command += ["--parts", ",".join(solution.stem.partition("_")[0] for solution in SOLUTIONS), *more]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=base, env=environment, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 1, done.stderr[-2000:]
        printed += done.stdout + done.stderr
    return base / "out", printed


def test_there_is_something_to_search_for() -> None:
    texts = hidden_texts()
    assert len(texts) > 300
    assert not {text for text in texts if len(text) < 5}


def test_no_output_for_students_holds_a_text_of_the_hidden_suites(graded: tuple[Path, str]) -> None:
    out, printed = graded
    pages = {str(path.relative_to(out)): path.read_text(encoding="utf-8") for path in out.rglob("feedback.html")}
    assert len(pages) == 4 + MISTAKES
    tables = {name: (out / name).read_text(encoding="utf-8") for name in ("gradebook.csv", "manifest.json")}
    texts = hidden_texts()
    escaped = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})
    for name, output in {**pages, **tables, "what was printed": printed}.items():
        found = sorted(text for text in texts if text in output or text.translate(escaped) in output)
        assert not found, (name, found)


def test_the_record_for_instructors_names_hidden_checks_so_that_the_search_proves_something(
    graded: tuple[Path, str],
) -> None:
    texts, found = hidden_texts(), set()
    for path in graded[0].rglob("result.json"):
        record = path.read_text(encoding="utf-8")
        found |= {text for text in texts if json.dumps(text)[1:-1] in record}
    assert len(found) > 100

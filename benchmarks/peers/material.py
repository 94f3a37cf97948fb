"""What is graded: the submissions and the attacks, as texts, and the course with a word in its hidden checks."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import ROOT

HERE = Path(__file__).resolve().parent
MODULE = "part3_attention"
NEEDED = ("part1_average", "part2_scores")
CANARY = "CANARY-7e1b"  # stands in every hidden check; whoever shows it to a student shows hidden text
SUBMISSIONS = 20
ENDLESS = ("student-015",)  # would measure each tool's time limit and nothing else
BASELINE = "no attack"

Sources = dict[str, str]  # module -> text


def submissions() -> dict[str, Sources]:
    """Read twenty submissions of part 3: the examples that end by themselves, the first ones again to fill up."""
    from autograder.pipeline import open_course

    course = open_course(ROOT)
    read = {}
    for path in sorted((ROOT / "examples" / "submissions").iterdir()):
        sources = course.read(path, path.stem).sources
        if MODULE in sources and path.stem not in ENDLESS:
            read[path.stem] = {name: sources[name] for name in (*NEEDED, MODULE) if name in sources}
    names = list(read)
    for number in range(SUBMISSIONS - len(read)):
        read[f"{names[number]}-again"] = read[names[number]]
    return dict(list(read.items())[:SUBMISSIONS])


def attacks(port: int) -> dict[str, Sources]:
    """Read the attacks, each around the same wrong solution, and that solution alone.

    Args:
        port: Where a listener waits for code that calls home.
    """
    wrong = (ROOT / "tests" / "golden" / "plain-wrong" / f"{MODULE}.py").read_text(encoding="utf-8")
    read = {BASELINE: wrong}
    for path in sorted((HERE / "attacks").glob("*.py")):
        text = path.read_text(encoding="utf-8").replace("LISTENER_PORT", str(port))
        read[path.stem] = text.replace("# INSERT wrong\n", wrong)
    return {name.replace(" ", "-"): {MODULE: text} for name, text in read.items()}


def course(target: Path) -> Path:
    """Copy what gpt-hw needs to grade part 3, with the word in each hidden check."""
    for name in (*NEEDED, MODULE):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "assignments" / name, target / "assignments" / name, ignore=ignored)
    suite = target / "assignments" / MODULE / "test_hidden.py"
    text = suite.read_text(encoding="utf-8")
    for word in ('what="', 'what=f"', 'hint="'):
        text = text.replace(word, f"{word}{CANARY} ")
    suite.write_text(f"{text}\nSECRET = '{CANARY}'\n", encoding="utf-8")
    (target / "grading.yml").write_text("version: 1\nseed: 1\n", encoding="utf-8")
    return target


def plain_checks() -> Iterator[tuple[str, str, float, bool]]:
    """Give the plain checks: name, text, points, whether it is hidden; points and secrecy are those of our suites."""
    from autograder.parts import load_parts

    text = (HERE / "plain_part3.py").read_text(encoding="utf-8")
    functions = dict(re.findall(r"^def test_(\w+)(\(.*?)(?=^def |\Z)", text, re.MULTILINE | re.DOTALL))
    declared = load_parts(ROOT / "assignments")["part3"].checks
    if {check.id for check in declared} != set(functions):
        raise RuntimeError("plain_part3.py must have one function for each check of part 3")
    for check in declared:
        head, body = functions[check.id].rstrip().split("\n", 1)
        word = f'    canary = "{CANARY}"\n' if check.hidden else ""
        yield check.id, f"def test_{check.id}{head}\n{word}{body}\n", check.points, check.hidden


def plain_preamble() -> str:
    """Return what the plain checks share: imports, sizes, references."""
    checks = (HERE / "plain_part3.py").read_text(encoding="utf-8")
    references = (HERE / "plain_references.py").read_text(encoding="utf-8")
    imports = checks[checks.index("import torch") : checks.index("from benchmarks")]
    return f"{imports.strip()}\n{references[references.index('import math') :].strip()}\n"

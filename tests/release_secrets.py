"""What must not be released: the telling lines of solutions and hidden checks, and a search for them."""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from autograder.build import find_regions, template
from autograder.nbgrader.questions import FILE as QUESTIONS
from autograder.nbgrader.questions import read_questions
from autograder.records import Part

SHORTEST_NEEDLE = 20  # characters without blanks: a shorter line ("return x") gives nothing away


class Secret(NamedTuple):
    """A text that must not be released, where it comes from, and whether it is a whole word of code."""

    text: str
    origin: str
    is_name: bool = False


def squeeze(text: str) -> str:
    return "".join(text.split())


def readable(name: str, data: bytes) -> str:
    """Give a released file's text; after JSON (a notebook's too) its strings once more, without escapes."""
    text = data.decode("utf-8", errors="replace")
    if not name.endswith((".ipynb", ".json")):
        return text
    strings: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, str):
            strings.append(value)
        elif isinstance(value, list):
            strings.append("".join(each for each in value if isinstance(each, str)))
            for each in value:
                walk(each)
        elif isinstance(value, dict):
            strings.extend(value)
            for each in value.values():
                walk(each)

    walk(json.loads(text))
    return "\n".join([text, *strings])


def leaks(files: Mapping[str, bytes], secrets: Iterable[Secret]) -> list[str]:
    """Name every secret that a released file holds."""
    texts = {name: readable(name, data) for name, data in files.items()}
    squeezed = {name: squeeze(text) for name, text in texts.items()}
    words = {name: frozenset(re.findall(r"\w+", text)) for name, text in texts.items()}
    found: list[str] = []
    for secret in secrets:
        needle = squeeze(secret.text)
        for name in files:
            if secret.text in words[name] if secret.is_name else needle in squeezed[name]:
                found.append(f"{name}: {secret.text.strip()} ({secret.origin})")
    return found


def telling(lines: Iterable[str], given: str, origin: str) -> list[Secret]:
    """Keep the lines that are long enough to tell something and that are not given to students anyway."""
    long = [line for line in lines if len(squeeze(line)) >= SHORTEST_NEEDLE]
    return [Secret(line, origin) for line in long if squeeze(line) not in given]


def secrets_of(part: Part, published: str) -> list[Secret]:
    """List what must not leave the instructors' checkout of one part.

    Args:
        part: The part.
        published: The templates and public suites of all parts, without blanks.
    """
    path = part.folder / f"{part.module}.py"
    text = path.read_text(encoding="utf-8")
    given = squeeze(template(text, part))
    lines = text.split("\n")
    secrets: list[Secret] = []
    for region in find_regions(text, str(path)):
        secrets += telling(lines[region.begin : region.end - 1], given, f"solution of {part.name} {region.name}")
    for name in ("test_hidden.py", "mistakes.py"):
        if (part.folder / name).is_file():
            secrets += file_secrets(part.folder / name, published)
    rubrics = [line for question in read_questions(part) for line in question.rubric]
    return secrets + telling(rubrics, published, f"{part.folder.name}/{QUESTIONS}")


def file_secrets(path: Path, given: str) -> list[Secret]:
    """List the telling lines of a hidden suite or of mistakes.py; of a hidden suite, its checks' names and titles too.

    A mistake's docstring is told to students, and imports are the same everywhere.
    """
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    is_suite = path.name == "test_hidden.py"
    origin = f"{path.parent.name}/{path.name}"
    told: set[int] = set()
    for node in ast.walk(tree):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and not is_suite
        if isinstance(node, ast.Import | ast.ImportFrom) or is_docstring:
            told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    bodies = {n for node in functions for n in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)}
    lines = [
        line
        for number, line in enumerate(text.split("\n"), start=1)
        if number not in told and (is_suite or number in bodies)
    ]
    secrets = telling(lines, given, origin)
    if is_suite:
        checks = [node for node in functions if node.name.startswith("test_")]
        secrets += [Secret(node.name, origin, is_name=True) for node in checks]
        # A short name without the prefix ("dtype") is a word like any other.
        ids = [node.name.removeprefix("test_") for node in checks]
        secrets += [Secret(each, origin, is_name=True) for each in ids if len(each) >= SHORTEST_NEEDLE]
        titles = [ast.get_docstring(node) or "" for node in checks]
        secrets += telling(titles, given, origin)
    return secrets

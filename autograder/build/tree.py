"""Plan, write and check the generated folders: what a path should hold is computed, never kept by hand."""

import difflib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.build.notebook import to_notebook
from autograder.build.regions import find_regions, solution, template
from autograder.errors import BuildError
from autograder.parts import load_parts
from autograder.records import Part
from autograder.whole_file import write_whole

SOLUTIONS = "solutions"
TEMPLATE = "student_template"
CHECKS = f"{TEMPLATE}/checks"
DIAGNOSES = "diagnoses.json"
REPAIR = "gpt-hw build"

# What a student gets of a part's folder, beside its template. All else stays with the author.
_RELEASED = ("part.yml", "test_public.py")
# What a build may have left behind and may therefore remove. Other files are somebody's own.
_GENERATED = (f"{SOLUTIONS}/*.py", f"{TEMPLATE}/*.py", f"{TEMPLATE}/*.ipynb", f"{TEMPLATE}/README.md", f"{CHECKS}/*/*")
# Numbers of a diagnosis come from float32 arithmetic, whose rounding differs between processors.
_TOLERANCE = 1e-4
_SHOWN = 20  # differences of one file of numbers that are worth a person's time


def plan(assignments: Path, diagnose: Callable[[Part], Mapping[str, Any] | None] | None = None) -> dict[str, bytes]:
    """Compute every generated file, without writing anything.

    Args:
        assignments: The folder that the parts' folders are in.
        diagnose: Gives what a student's install needs to name a part's mistakes, ready for JSON; None for
            a part without. Without this function no ``diagnoses.json`` is planned.

    Returns:
        Path below the repository's root (with ``/``) to content.

    Raises:
        BuildError: A part cannot be built; nothing half done is returned.
    """
    files = {f"{TEMPLATE}/README.md": _read(assignments / "README.md").encode()}
    for part in load_parts(assignments).values():
        source = part.folder / f"{part.module}.py"
        text = _read(source)
        regions = find_regions(text, str(source))
        if not regions:
            remedy = "Put each exercise's solution between the two markers; without them students would receive it."
            raise BuildError(f"{source}: this part has no solution region.", remedy)
        unsolved = template(text, part)
        files[f"{SOLUTIONS}/{part.module}.py"] = solution(text, str(source)).encode()
        files[f"{TEMPLATE}/{part.module}.py"] = unsolved.encode()
        files[f"{TEMPLATE}/{part.module}.ipynb"] = to_notebook(unsolved, part, regions).encode()
        for name in _RELEASED:
            files[f"{CHECKS}/{part.folder.name}/{name}"] = _read(part.folder / name).encode()
        diagnoses = diagnose(part) if diagnose is not None else None
        if diagnoses is not None:
            dumped = json.dumps(diagnoses, sort_keys=True, indent=1) + "\n"
            files[f"{CHECKS}/{part.folder.name}/{DIAGNOSES}"] = dumped.encode()
    return dict(sorted(files.items()))


def write(planned: Mapping[str, bytes], root: Path) -> list[str]:
    """Bring the generated folders up to date, touching only what changes.

    Args:
        planned: What ``plan`` computed.
        root: The repository's root.

    Returns:
        One line a change, such as ``changed student_template/part3_attention.py``.
    """
    changes: list[str] = []
    for name, content in planned.items():
        path = root / name
        if path.is_file() and _same(name, path.read_bytes(), content):
            continue
        changes.append(f"{'changed' if path.exists() else 'new'} {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    for name in _stale(planned, root):
        path = root / name
        path.unlink()
        changes.append(f"removed {name}")
        if path.parent.name != TEMPLATE and not any(path.parent.iterdir()):
            path.parent.rmdir()
    return changes


def check(planned: Mapping[str, bytes], root: Path) -> str:
    """Compare the generated folders with what they should hold.

    Args:
        planned: What ``plan`` computed.
        root: The repository's root.

    Returns:
        A unified diff that ends with the command that repairs it; empty where all is current.
    """
    found: list[str] = []
    for name, content in planned.items():
        path = root / name
        if not path.is_file():
            found.append(f"missing: {name}")
        elif not _same(name, path.read_bytes(), content):
            found.extend(_difference(name, path.read_bytes(), content))
    found.extend(f"stale: {name} (nothing in assignments/ makes it)" for name in _stale(planned, root))
    return "\n".join([*found, "", f"To repair it, run: {REPAIR}", ""]) if found else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BuildError(f"{path}: this file is missing.", "Write it; every release contains it.") from error
    except UnicodeDecodeError as error:
        raise BuildError(f"{path}: this file is not UTF-8 text ({error}).", "Save it as UTF-8.") from error


def _stale(planned: Mapping[str, bytes], root: Path) -> list[str]:
    """Give what an earlier build made and this one does not."""
    found = {
        path.relative_to(root).as_posix() for pattern in _GENERATED for path in root.glob(pattern) if path.is_file()
    }
    return sorted(name for name in found - set(planned) if "__pycache__" not in name)


def _same(name: str, old: bytes, new: bytes) -> bool:
    if old == new or not name.endswith(f"/{DIAGNOSES}"):
        return old == new
    return not list(_unequal_numbers(old, new))


def _difference(name: str, old: bytes, new: bytes) -> Iterator[str]:
    """Say how a file differs from what it should hold."""
    if name.endswith(f"/{DIAGNOSES}"):
        lines = list(_unequal_numbers(old, new))
        yield f"--- {name}"
        yield f"+++ {name} (as built)"
        yield from lines[:_SHOWN]
        if len(lines) > _SHOWN:
            yield f"... and {len(lines) - _SHOWN} more"
        return
    try:
        before, after = old.decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        yield f"binary files differ: {name}"
        return
    lines = list(difflib.unified_diff(before, after, name, f"{name} (as built)", lineterm=""))
    yield from lines or [f"line endings differ: {name}"]


def _unequal_numbers(old: bytes, new: bytes) -> Iterator[str]:
    try:
        before = json.loads(old)
    except ValueError:
        yield "- this file is not JSON"
        return
    yield from _unequal(before, json.loads(new), "")


def _unequal(old: object, new: object, at: str) -> Iterator[str]:
    """Give the places where two JSON values differ by more than rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in new:
                yield f"-{at}/{key}"
            elif key not in old:
                yield f"+{at}/{key}"
            else:
                yield from _unequal(old[key], new[key], f"{at}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _unequal(before, after, f"{at}/{index}")
    elif not _equal(old, new):
        yield f"-{at}: {json.dumps(old)}"
        yield f"+{at}: {json.dumps(new)}"


def _equal(old: object, new: object) -> bool:
    """Compare two JSON values that hold no others, floats to within rounding."""
    numbers = [value for value in (old, new) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2 and any(isinstance(number, float) for number in numbers):
        both_nan = all(math.isnan(number) for number in numbers)
        return both_nan or math.isclose(*numbers, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(old) is type(new) and old == new

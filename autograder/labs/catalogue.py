"""Which labs there are: read from the text of their modules, so that listing them imports nothing heavy."""

import ast
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import GptHwError, UsageError, did_you_mean

_FOLDER = Path(__file__).parent / "experiments"


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab: ``leak``, the line that says what it shows, the parts it runs on, and its module's file.

    ``on_device`` says whether its models can be trained elsewhere than on the processor.
    """

    name: str
    title: str
    parts: tuple[str, ...]
    path: Path
    on_device: bool = False


def all_labs() -> dict[str, Lab]:
    """Read every lab, in the order in which a student can run them."""
    labs = [_read(path) for path in _FOLDER.glob("[!_]*.py")]
    return {lab.name: lab for lab in sorted(labs, key=lambda lab: (lab.parts[-1], lab.name))}


def find_lab(word: str) -> Lab:
    """Find a lab by its name.

    Raises:
        UsageError: No lab is called so.
    """
    labs = all_labs()
    name = word.strip().casefold().replace("-", "_")
    if name not in labs:
        raise UsageError(f"no lab is called '{word}'", did_you_mean(name, labs))
    return labs[name]


def _read(path: Path) -> Lab:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    title = (ast.get_docstring(tree) or "").partition("\n")[0].strip()
    said = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    parts = ast.literal_eval(said["PARTS"]) if "PARTS" in said else ()
    if not title or not parts:
        raise GptHwError(
            f"{path.name}: a lab has a docstring and a PARTS, such as ('part3',)", "see the labs beside it"
        )
    on_device = "ON_DEVICE" in said and bool(ast.literal_eval(said["ON_DEVICE"]))
    return Lab(path.stem, title, tuple(sorted(parts)), path, on_device)

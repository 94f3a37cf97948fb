"""Names: which are part files, which are dangerous, how they are shown, what a submission is called."""

import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NAME_BYTES = 200  # file systems allow 255; room is left for "-2" and for endings that reports add
SHOWN_CHARACTERS = 200
LONGEST_NAME = 255  # characters; also keeps the patterns below from meeting a name of megabytes
OUTPUT_NAMES = ("gradebook.csv", "manifest.json")  # stand beside the folders that are called after submissions
JOINERS = "\u200c\u200d"  # format characters that Persian and Indic spelling needs; all other ones are stripped
PORTS = [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
DEVICES = frozenset(["con", "prn", "aux", "nul", "conin$", "conout$", *PORTS])
OTHER_LIBRARIES = (
    "autograder conftest hypothesis matplotlib numpy pandas pluggy pytest "
    "safetensors scipy sitecustomize torch transformers usercustomize yaml"
)
LIBRARIES = frozenset(OTHER_LIBRARIES.split()) | sys.stdlib_module_names
PART_FILE = re.compile(r"(?P<prefix>.*_)?part[0-9]+_\w+?(?: ?\([0-9]+\))?(?:-[0-9]+)?\.(?:py|ipynb)", re.I | re.A)


@dataclass(frozen=True, slots=True)
class PartName:
    """A file name read as that of a part: its module, its kind and which copy it is.

    ``copy`` orders copies of one file, the newest last: the larger of the numbers that the learning platform (``-2``)
    and the browser (`` (2)``) added, then these two.
    """

    module: str
    kind: str
    copy: tuple[int, int, int]


class PartNames:
    """Recognise the names under which the files of known modules arrive."""

    def __init__(self, modules: Iterable[str]) -> None:
        """Prepare to recognise the files of these modules."""
        self._modules = {module.lower(): module for module in modules}
        choices = "|".join(re.escape(module) for module in sorted(self._modules, key=len, reverse=True)) or r"(?!)"
        self._pattern = re.compile(
            r"(?:(?:.+?_)?[0-9]+_[0-9]+_|.+?_assignsubmission_file_)?"  # name_id_id_ (Canvas), ..._file_ (Moodle)
            rf"(?P<module>{choices})"
            r"(?: ?\((?P<browser>[0-9]{1,9})\))?(?:-(?P<platform>[0-9]{1,9}))?"
            r"(?P<kind>\.py|\.ipynb)",
            re.IGNORECASE | re.ASCII,
        )

    def read(self, name: str) -> PartName | None:
        """Read a file name; None if it is not that of a known module."""
        found = self._pattern.fullmatch(name) if len(name) <= LONGEST_NAME else None
        if found is None:
            return None
        platform, browser = int(found["platform"] or 0), int(found["browser"] or 0)
        copy = (max(platform, browser), platform, browser)
        return PartName(self._modules[found["module"].lower()], found["kind"].lower(), copy)


def looks_like_part_file(name: str) -> bool:
    """Tell whether any course's part could be called this."""
    return len(name) <= LONGEST_NAME and PART_FILE.fullmatch(name) is not None


def has_platform_prefix(name: str) -> bool:
    """Tell whether a learning platform put a student's name before that of a part file."""
    found = PART_FILE.fullmatch(name) if len(name) <= LONGEST_NAME else None
    return found is not None and bool(found["prefix"])


def is_clutter(name: str) -> bool:
    """Tell whether an operating system left this behind; such things are not worth a word."""
    return name in ("__MACOSX", ".DS_Store") or name.startswith("._") or name.lower() in ("thumbs.db", "desktop.ini")


def is_private(name: str) -> bool:
    """Tell whether a folder is hidden or a cache, so that nothing in it was meant to be handed in."""
    return name.startswith(".") or name == "__pycache__"


def shadows_library(name: str, folder: str) -> bool:
    """Tell whether a file beside the code would take the place of a library in a careless grader.

    Args:
        name: The file's name.
        folder: The name of the folder it is in, for packages; empty at the root.
    """
    stem, dot, ending = name.lower().rpartition(".")
    if dot and ending == "py" and stem == "__init__":
        return folder.lower() in LIBRARIES
    return bool(dot) and ending == "py" and stem in LIBRARIES


def danger(path: str) -> str:
    """Say why a path must not be followed; empty if it may be.

    Args:
        path: A path as an archive has it, or the name of a single file.
    """
    if not path:
        return "it has no name"
    if "\0" in path:
        return "its name has a NUL character"
    if "\\" in path:
        return "its path has backslashes; make the zip with the system's own zip command or with gpt-hw pack"
    if path.startswith("/"):
        return "its path is absolute"
    if re.match(r"[A-Za-z]:", path):
        return "its path begins with a drive letter"
    pieces = path.split("/")
    if ".." in pieces:
        return "its path leaves the submission"
    if any(len(piece) > LONGEST_NAME for piece in pieces):
        return "its name is too long"
    if any(piece.partition(".")[0].rstrip(" ").lower() in DEVICES for piece in pieces):
        return "its name is that of a device"
    return ""


def shown(text: str) -> str:
    """Make a foreign name fit for reports: no control or direction characters, no broken ones, not endless."""
    text = unicodedata.normalize("NFC", _strip(text[: 10 * SHOWN_CHARACTERS]))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def submission_name(path: Path) -> str:
    """Name a submission after its folder or zip, in any script, fit to be a folder's name."""
    # abspath rather than resolve: a link must not lend its target's name.
    absolute = Path(path).absolute()
    name = absolute.resolve().name if absolute.name == ".." else absolute.name
    if name.lower().endswith(".zip") and not path.is_dir():
        name = name[: -len(".zip")]
    name = unicodedata.normalize("NFC", re.sub(r"[/\\]", "_", _strip(name)))
    name = name.encode()[:NAME_BYTES].decode(errors="ignore").strip()
    return name if name.strip(". ") else "submission"


def unique_names(paths: Iterable[Path]) -> dict[Path, str]:
    """Name submissions so that no two names fall together, even where case does not count.

    Args:
        paths: The submissions, in any order; the names do not depend on it.

    Returns:
        For each path the name that it has alone, or that name with ``-2``, ``-3`` and so on.
    """
    ordered = sorted(set(paths))
    names: dict[Path, str] = {}
    taken = {name.casefold() for name in OUTPUT_NAMES}
    plain = {path: submission_name(path) for path in ordered}
    for path, name in plain.items():  # a name that somebody has by right goes first
        if name.casefold() not in taken:
            names[path] = name
            taken.add(name.casefold())
    for path, name in plain.items():
        number = 2
        while path not in names:
            numbered = f"{name}-{number}"
            if numbered.casefold() not in taken:
                names[path] = numbered
                taken.add(numbered.casefold())
            number += 1
    return {path: names[path] for path in ordered}


def _strip(text: str) -> str:
    """Drop control and format characters, mark broken ones, and turn line separators into spaces."""
    kept = []
    for character in text:
        category = unicodedata.category(character)
        if category == "Cs":
            kept.append("\ufffd")  # a byte that is not UTF-8, as Python keeps it in file names
        elif category in ("Zl", "Zp"):
            kept.append(" ")
        elif category != "Cc" and (category != "Cf" or character in JOINERS):
            kept.append(character)
    return "".join(kept)

"""Choose the part files of a submission and read them, and only them."""

import difflib
import hashlib
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from autograder.intake.archive import open_archive
from autograder.intake.folder import KINDS, list_folder, read_file, reason_of
from autograder.intake.listing import Item, Listing
from autograder.intake.names import LONGEST_NAME, PartName, PartNames, shadows_library, shown, submission_name
from autograder.intake.notebook import NOTEBOOK_LIMIT, read_notebook
from autograder.intake.text import SOURCE_LIMIT, Unreadable, decode_source
from autograder.records import Refusal, Submission

NAMED_AT_MOST = 5  # in one warning


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file that could be the one of its module."""

    item: Item
    name: PartName


@dataclass(slots=True)
class _Taken:
    """A submission in the making; the fields are those of ``Submission``."""

    sources: dict[str, str] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_submission(path: Path, modules: Mapping[str, str], templates: Mapping[str, str] | None = None) -> Submission:
    """Read what one student handed in.

    Args:
        path: The folder or zip.
        modules: The name of the part, such as ``part3``, for each module, such as ``part3_attention``.
        templates: The text that students were given for each module. A ``.py`` that still is that text gives way to
            the notebook beside it: its author works in the notebook.

    Returns:
        The submission. Whatever is wrong with it is said in its problems, refusals and warnings; a module that was
        not handed in is in neither its sources nor its problems.
    """
    name = submission_name(path)
    try:
        with _open(path) as listing:
            taken = _take(listing, modules, templates or {})
    except Unreadable as error:
        sentence = f"not gradable: {error}"
        return Submission(name, problems=dict.fromkeys(modules, sentence), warnings=(sentence,))
    return Submission(name, taken.sources, taken.sha256, taken.problems, tuple(taken.refused), tuple(taken.warnings))


def read_source(path: Path) -> tuple[str, str]:
    """Read one part file that a student is working on, module or notebook.

    Args:
        path: The file.

    Returns:
        Its text and an empty string, or an empty text and what is wrong with it.
    """
    is_notebook = path.suffix == ".ipynb"
    try:
        data = read_file(path, path.name, NOTEBOOK_LIMIT if is_notebook else SOURCE_LIMIT)
        text = read_notebook(data, path.name)[0] if is_notebook else decode_source(data, path.name)
    except Unreadable as error:
        return "", str(error)
    return text, ""


@contextmanager
def _open(path: Path) -> Iterator[Listing]:
    """List a folder or a zip, whichever it is; its files can be read until the block ends."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        raise Unreadable(f"the submission cannot be opened ({reason_of(error)})") from error
    except ValueError as error:
        raise Unreadable("the submission has a name that cannot be opened") from error
    if stat.S_ISDIR(mode):
        yield list_folder(path)
    elif stat.S_ISREG(mode):
        with open_archive(path) as listing:
            yield listing
    else:
        raise Unreadable(KINDS.get(stat.S_IFMT(mode), "it is neither a folder nor a zip file"))


def _take(listing: Listing, modules: Mapping[str, str], templates: Mapping[str, str]) -> _Taken:
    """Sort the files by module, then take one for each."""
    taken = _Taken(refused=list(listing.refused), warnings=list(listing.warnings))
    known = PartNames(modules)
    candidates: dict[str, list[_Candidate]] = {module: [] for module in modules}
    shadows = []
    for item in listing.items:
        name = known.read(item.name)
        if name is not None:
            candidates[name.module].append(_Candidate(item, name))
            continue
        taken.refused.append(Refusal(item.path, item.blocked or _why_not(item.name)))
        if shadows_library(item.name, item.folder[-1] if item.folder else ""):
            shadows.append(item.path)
    for item in listing.items:
        meant = _meant(item.name, [module for module in modules if not candidates[module]])
        if meant:
            taken.warnings.append(f"{item.path} is not the name of a part file; it may be meant for {meant}")
    if shadows:
        taken.warnings.append(f"only part files are taken, so these cannot shadow a library: {_few(shadows)}")
    for module, part in modules.items():
        chosen = _choose(candidates[module], module, part, templates.get(module), taken)
        if chosen is not None:
            _read(chosen, module, part, taken)
    if not any(candidates.values()):
        taken.warnings.append("there is no part file in the submission")
    return taken


def _meant(name: str, missing: list[str]) -> str:
    """Guess which file that was not handed in another name stands for; empty if none."""
    if not name.lower().startswith("part") or len(name) > LONGEST_NAME:
        return ""
    wanted = [f"{module}{kind}" for module in missing for kind in (".py", ".ipynb")]
    return next(iter(difflib.get_close_matches(name.lower(), wanted, n=1, cutoff=0.8)), "")


def _why_not(name: str) -> str:
    if name.lower().endswith(".zip"):
        return "not a part file: a zip inside the submission is not opened"
    return "not a part file"


def _choose(
    candidates: list[_Candidate], module: str, part: str, template: str | None, taken: _Taken
) -> _Candidate | None:
    """Choose the file of one module: the shallowest, then .py before .ipynb, then the newest copy."""
    usable = [candidate for candidate in candidates if not candidate.item.blocked]
    for candidate in candidates:
        if candidate.item.blocked:
            taken.refused.append(Refusal(candidate.item.path, candidate.item.blocked))
            if not usable:
                taken.problems[module] = f"{candidate.item.path} is not taken: {candidate.item.blocked}"
    if not usable:
        return None
    depth = min(len(candidate.item.folder) for candidate in usable)
    usable = _narrow(usable, [c for c in usable if len(c.item.folder) == depth], part, "it is nearer the top", taken)
    notebooks = [candidate for candidate in usable if candidate.name.kind == ".ipynb"]
    if notebooks and template is not None and all(_is_untouched(c, template) for c in notebooks):
        if len(usable) > len(notebooks):
            usable = [candidate for candidate in usable if candidate not in notebooks]  # given out, not handed in
    elif notebooks and template is not None:
        kept = [c for c in usable if c in notebooks or not _is_untouched(c, template)]
        usable = _narrow(usable, kept, part, "the .py is still as it was given out", taken)
    sources = [candidate for candidate in usable if candidate.name.kind == ".py"]
    usable = _narrow(usable, sources or usable, part, "a .py goes before a notebook", taken)
    if len({candidate.item.folder for candidate in usable}) > 1:
        _give_up(usable, module, "is in several folders", taken)
        return None
    newest = max(candidate.name.copy for candidate in usable)
    usable = _narrow(usable, [c for c in usable if c.name.copy == newest], part, "it has the highest number", taken)
    if len(usable) > 1:
        same = len({candidate.item.name.lower() for candidate in usable}) == 1
        why = "is there twice, under names that differ only in case" if same else "is there more than once"
        _give_up(usable, module, why, taken)
        return None
    return usable[0]


def _is_untouched(candidate: _Candidate, template: str) -> bool:
    """Tell whether a part file holds the code that students were given; one that cannot be read does not."""
    try:
        data = candidate.item.read(NOTEBOOK_LIMIT if candidate.name.kind == ".ipynb" else SOURCE_LIMIT)
        name = candidate.item.name
        text = read_notebook(data, name)[0] if candidate.name.kind == ".ipynb" else decode_source(data, name)
    except Unreadable:
        return False
    return _code(text) == _code(template)


def _code(text: str) -> list[str]:
    """Return what a file says to Python; a notebook has its text in other cells, a module in comments."""
    return [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]


def _narrow(
    candidates: list[_Candidate], kept: list[_Candidate], part: str, why: str, taken: _Taken
) -> list[_Candidate]:
    """Go on with some of the candidates, and say which were left out and why."""
    left_out = [candidate.item.path for candidate in candidates if candidate not in kept]
    if left_out:
        first = kept[0].item.path
        taken.warnings.append(f"{part}: {first} was taken, not {_few(left_out)}: {why}")
        taken.refused.extend(Refusal(path, f"{first} was taken: {why}") for path in left_out)
    return kept


def _give_up(candidates: list[_Candidate], module: str, why: str, taken: _Taken) -> None:
    """Take none of several files between which nothing decides."""
    paths = [candidate.item.path for candidate in candidates]
    taken.problems[module] = f"{module} {why}: {_few(paths)}; hand in one"
    taken.refused.extend(Refusal(path, f"{module} {why}") for path in paths)


def _read(chosen: _Candidate, module: str, part: str, taken: _Taken) -> None:
    """Read the file that was chosen; what is wrong with it becomes the module's problem."""
    name = shown(chosen.item.name)
    is_notebook = chosen.name.kind == ".ipynb"
    try:
        data = chosen.item.read(NOTEBOOK_LIMIT if is_notebook else SOURCE_LIMIT)
        taken.sha256[name] = hashlib.sha256(data).hexdigest()
        if is_notebook:
            text, warnings = read_notebook(data, name)
            taken.warnings.extend(f"{part}: {warning}" for warning in warnings)
        else:
            text = decode_source(data, name)
        taken.sources[module] = text
    except Unreadable as error:
        taken.problems[module] = str(error)


def _few(paths: list[str]) -> str:
    """List paths, but not endlessly many."""
    more = len(paths) - NAMED_AT_MOST
    return ", ".join(paths[:NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")

"""Let a notebook import an earlier part that was written in a notebook: ``from part1_average import causal_mask``."""

import importlib.abc
import importlib.machinery
import linecache
import re
import sys
from collections.abc import Sequence
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

from autograder.intake import read_source
from autograder.parts import public_parts
from autograder.workspace import find_source

_PART = re.compile(r"part[1-9][0-9]*_\w+")


class EarlierParts(importlib.abc.MetaPathFinder):
    """Finds a part where ``gpt-hw test`` would: in its module, or in its notebook where the student works in that.

    Args:
        folder: The student's workspace.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for parts only; a part's module is left to Python.

        Raises:
            ImportError: The part is not there, or its notebook cannot be read.
        """
        if not _PART.fullmatch(fullname):
            return None
        part = next((part for part in public_parts().values() if part.module == fullname), None)
        if part is None:
            return None
        source = find_source(self._folder, part)
        if source is None and importlib.machinery.PathFinder.find_spec(fullname) is None:
            message = (
                f"there is no {fullname}.py and no {fullname}.ipynb in {self._folder}. "
                f"This notebook builds on {part.name}: put your file of it into that folder, and run this cell again."
            )
            raise ModuleNotFoundError(message, name=fullname)
        if source is None or source.suffix == ".py":
            return None
        text, problem = read_source(source)
        if problem:
            raise ImportError(problem, name=fullname)
        return spec_from_loader(fullname, _Cells(text, source.name), origin=str(source))

    def install(self) -> None:
        """Be asked first, once."""
        sys.meta_path[:] = [self, *(finder for finder in sys.meta_path if not isinstance(finder, EarlierParts))]


class _Cells(importlib.abc.InspectLoader):
    """Loads a module from a notebook's code cells."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = f"{name} (as a module)"  # a name that no file has: the file itself holds JSON

    def get_source(self, fullname: str) -> str:
        """Return the text."""
        return self._text

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text, and let tracebacks find its lines."""
        linecache.cache[self._name] = (len(self._text), None, self._text.splitlines(keepends=True), self._name)
        return compile(self._text, self._name, "exec", dont_inherit=True)

    def is_package(self, fullname: str) -> bool:
        """No part is a package."""
        return False

"""The student's modules, imported from their text, and what to say when they are not there or fail."""

import hashlib
import importlib
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from autograder.errors import GptHwError
from autograder.source_modules import SourceModules

_STUB = re.compile(r"(part[0-9]+): (\S+) is not written yet")  # the words of a template
_IMPORTS = re.compile(r"^\s*(?:from|import)\s+(part[0-9]+_\w+)", re.MULTILINE)
_FRAMES = 20  # of the student's own, the innermost


class StudentCodeError(GptHwError):
    """The student's code is not there, not written yet, or failed; nothing is wrong with the lab."""


class Piece:
    """One module of the student's: its attributes are what the student wrote."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._module, name)
        except AttributeError:
            file = f"{self._module.__name__}.py"
            raise StudentCodeError(
                f"{file} defines no '{name}'", f"add it as the text of {file} describes it"
            ) from None


class Work:
    """What a lab runs on: the part files of a student, or our solutions.

    Args:
        sources: Module (``part3_attention``) -> text.
        problems: Module -> why its file cannot be read.
        is_ours: Whether these are our own solutions: their failure is then a bug and not the student's.
    """

    def __init__(
        self, sources: Mapping[str, str], problems: Mapping[str, str] | None = None, *, is_ours: bool = False
    ) -> None:
        self.sources = dict(sources)
        self.problems = dict(problems or {})
        self.is_ours = is_ours
        self._importer = SourceModules(self.sources)

    def module(self, part: str) -> str:
        """Name the module of a part: ``part3_attention`` for ``part3``.

        Raises:
            StudentCodeError: There is no such file, or it cannot be read.
        """
        for module in (*self.sources, *self.problems):
            if module.partition("_")[0] == part:
                if module in self.problems:
                    raise StudentCodeError(f"{module}: {self.problems[module]}", "mend it, then run the lab again")
                return module
        remedy = "gpt-hw init adds the files that are missing; write it first: gpt-hw status says how far you are"
        raise StudentCodeError(f"this needs {part}, and there is no file of it here", remedy)

    def part(self, part: str) -> Piece:
        """Import a part.

        Raises:
            StudentCodeError: It is not there, or its code fails when it is imported.
        """
        module = self.module(part)
        with self.active(), self.guarded((part,)):
            return Piece(importlib.import_module(module))

    def digest(self, parts: Iterable[str]) -> str:
        """Digest the text of these parts and of those that they import: it changes whenever a figure could."""
        wanted = [self.module(part) for part in parts]
        seen: list[str] = []
        while wanted:
            module = wanted.pop()
            if module in self.sources and module not in seen:
                seen.append(module)
                wanted += _IMPORTS.findall(self.sources[module])
        text = "\0".join(f"{module}\0{self.sources[module]}" for module in sorted(seen))
        return hashlib.sha256(text.encode()).hexdigest()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let ``import`` see these modules and no others of their names."""
        self._importer.show_lines()
        with self._importer.active():
            yield

    @contextmanager
    def guarded(self, parts: Iterable[str]) -> Iterator[None]:
        """Tell what the student's code raised in the student's words and frames.

        Raises:
            StudentCodeError: The block raised something that is no error of ours.
        """
        try:
            yield
        except GptHwError:
            raise
        except NotImplementedError as error:
            match = _STUB.search(str(error))
            if match is None or self.is_ours:
                raise self._failure(error, parts) from error
            part, exercise = match.groups()
            remedy = f"write it; gpt-hw test {part} says when it is right, gpt-hw hint {part} helps"
            raise StudentCodeError(f"this needs {exercise} of {part}, which is not written yet", remedy) from None
        except Exception as error:
            raise self._failure(error, parts) from error

    def _failure(self, error: Exception, parts: Iterable[str]) -> Exception:
        """Make the error to raise: our own solutions fail as they are, a student's code by its own frames."""
        if self.is_ours:
            return error
        words = ", ".join(parts)
        frames = self._frames(error)
        test = f"run gpt-hw test {words.replace(',', '')} first: it says more about what is wrong"
        if frames:
            return StudentCodeError(f"your code failed\n{frames}", test)
        told = "".join(traceback.format_exception_only(error)).strip()
        return StudentCodeError(f"what your code gave cannot be used ({words}): {told}", test)

    def _frames(self, error: Exception) -> str:
        if isinstance(error, SyntaxError):
            return "".join(traceback.format_exception_only(error)).rstrip()
        trace = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in trace if frame.filename in self._importer.files][-_FRAMES:]
        if not own:
            return ""
        return "".join([*traceback.format_list(own), *traceback.format_exception_only(error)]).rstrip()

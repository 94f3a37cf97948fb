"""Student modules made from text: no file is written, and no module of ours or of Python's can be shadowed."""

import importlib.abc
import importlib.util
import linecache
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

_PART = re.compile(r"part\d+_\w+")  # no module of Python's, of torch's or of ours is called so


class SourceModules(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads exactly the modules of one submission.

    Args:
        sources: Module name -> Python text.

    Raises:
        ValueError: A name could be another module's.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        strange = [name for name in sources if not _PART.fullmatch(name)]
        if strange:
            raise ValueError(f"'{strange[0]}' is not the name of a part's module")
        self.sources = dict(sources)
        self.files = {f"{name}.py": name for name in sources}
        self._modules: dict[str, ModuleType] = {}

    def load(self, name: str) -> ModuleType:
        """Import one module, as ``import name`` would, and those of the submission that it imports.

        Raises:
            BaseException: Whatever the module's own code raises.
        """
        self.show_lines()
        with self.active():
            return importlib.import_module(name)

    def show_lines(self) -> None:
        """Let tracebacks show the lines of these texts, which are in no file."""
        for file, module in self.files.items():
            text = self.sources[module]
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let ``import`` see this submission's modules, and only this submission's, while a call runs.

        Within itself it changes nothing: the outer block is the one that puts everything back.
        """
        if self in sys.meta_path:
            yield
            return
        # A module of that name may be there already: another session's, or one imported from a folder.
        others = {name: sys.modules.pop(name) for name in self.sources if name in sys.modules}
        sys.meta_path.insert(0, self)
        sys.modules.update(self._modules)
        try:
            yield
        finally:
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            for name in self.sources:
                module = sys.modules.pop(name, None)
                if module is not None:
                    self._modules[name] = module
            sys.modules.update(others)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Answer for the submission's own names only."""
        if fullname not in self.sources:
            return None
        spec = importlib.util.spec_from_loader(fullname, self, origin=f"{fullname}.py")
        if spec is not None:
            spec.has_location = True  # gives the module a __file__, which tracebacks and inspect read
        return spec

    def get_source(self, fullname: str) -> str:
        """Return the text, for tracebacks and ``inspect``."""
        return self.sources[fullname]

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text under the name that the student knows."""
        return compile(self.sources[fullname], f"{fullname}.py", "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        exec(self.get_code(module.__name__), module.__dict__)

    def is_package(self, fullname: str) -> bool:
        """No part is a package."""
        return False

    def find(self, module: ModuleType, name: str) -> Any:
        """Return what the student's module calls ``name``.

        Raises:
            LookupError: Nothing is called so.
        """
        try:
            return getattr(module, name)
        except AttributeError:
            raise LookupError(f"{module.__name__}.py defines no '{name}'") from None

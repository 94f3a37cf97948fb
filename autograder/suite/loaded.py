"""Suites stay loaded from one submission to the next: compiling them takes longer than many a part's mathematics."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

_Stamp = tuple[int, int]  # when the file was written, and its size
_kept: dict[str, tuple[_Stamp, ModuleType]] = {}


@contextmanager
def loaded(files: Sequence[str], is_broken: Callable[[str], bool]) -> Iterator[None]:
    """Lend pytest the modules of these files where they were imported before, and take them back afterwards.

    All parts call their suites alike, so that none may be left where the next part's would be looked for.

    Args:
        files: Paths of suites.
        is_broken: Asked at the end whether the suite of that name did not load; it is read anew the next time.
    """
    for file in files:
        stamp, module = _kept.pop(file, (None, None))
        if module is not None and stamp == _stamp(file):
            sys.modules[module.__name__] = module
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and path in files:
                del sys.modules[name]
                if not is_broken(Path(path).name):
                    _kept[path] = (_stamp(path), module)


def _stamp(file: str) -> _Stamp:
    found = Path(file).stat()
    return found.st_mtime_ns, found.st_size

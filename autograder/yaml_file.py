"""Read a YAML file that a person wrote, and answer a slip with its place and what was expected.

PyYAML is imported when a file is read, so importing this module costs nothing.
"""

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import GptHwError, did_you_mean

if TYPE_CHECKING:
    import yaml

SIZE_CAP_KIB = 64  # a page of policy is 2 KiB: anything larger is the wrong file
SHOWN_CHARACTERS = 60  # of a wrong value, so that a message stays one line

_LINES = object()  # key under which a mapping keeps the line of each of its keys


class Table:
    """One mapping of the file, whose values are asked for by name and type.

    Args:
        values: What the YAML says.
        path: The file, for the remedy.
        shown: How messages call the file, for example ``grading.yml``.
        error: The kind of error that a slip raises.
        where: Dotted name of this mapping inside the file; empty at the top.
    """

    def __init__(
        self, values: Mapping[Any, Any], *, path: Path, shown: str, error: type[GptHwError], where: str = ""
    ) -> None:
        self._lines: Mapping[Any, int] = values.get(_LINES, {})
        self._values = {key: value for key, value in values.items() if key is not _LINES}
        self._path = path
        self._shown = shown
        self._error = error
        self._where = where

    @property
    def keys(self) -> list[str]:
        """The names in this mapping, in the order of the file."""
        return list(self._values)

    def slip(self, key: str, problem: str, remedy: str = "") -> GptHwError:
        """Make the error for one value: where it is, what is wrong, what to do."""
        name = f"{self._where}.{key}" if self._where else str(key)
        place = f"line {self._lines[key]} of {self._path}" if key in self._lines else str(self._path)
        return self._error(f"{self._shown}: {name}: {problem}", f"{remedy} See {place}.".lstrip())

    def only(self, *known: str) -> None:
        """Refuse the first key that is not one of the known ones."""
        for key in self._values:
            if key not in known:
                raise self.slip(key, "there is no such setting here", did_you_mean(str(key), known))

    def version(self, ours: int) -> int:
        """Read ``version``, and say in which direction a foreign one lies."""
        found = self.whole("version", at_least=1)
        if found > ours:
            raise self.slip(
                "version",
                f"written for a newer gpt-hw (format {found}; this one reads format {ours})",
                "Upgrade with 'pip install --upgrade gpt-hw'.",
            )
        if found < ours:
            raise self.slip(
                "version",
                f"written for an older gpt-hw (format {found}; this one reads format {ours})",
                "CHANGELOG.md says what changed.",
            )
        return found

    def text(self, key: str, default: str | None = None) -> str:
        """Read a line of text that is not blank."""
        value = self._get(key, default, "some text")
        if value is default and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, "some text", value)
        return value.strip()

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        above: float | None = None,
        at_least: float | None = None,
        at_most: float = math.inf,
    ) -> float:
        """Read a finite number within its bounds."""
        return self._number(key, default, "a number", (int, float), above, at_least, at_most)

    def whole(self, key: str, default: int | None = None, *, at_least: int = 0, at_most: float = math.inf) -> int:
        """Read a whole number within its bounds."""
        return int(self._number(key, default, "a whole number", (int,), None, at_least, at_most))

    def band(self, key: str) -> tuple[float, float]:
        """Read two finite numbers, the lower one first."""
        value = self._values.get(key)
        numbers = value if isinstance(value, list) else []
        is_band = len(numbers) == 2 and all(type(item) in (int, float) and math.isfinite(item) for item in numbers)
        if not is_band or numbers[0] > numbers[1]:
            raise self._wrong(key, "two numbers such as [6.0, 6.9], the lower one first", value)
        return float(numbers[0]), float(numbers[1])

    def texts(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        """Read a list of texts."""
        value = self._values.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self._wrong(key, "a list of texts", value)
        return tuple(item.strip() for item in value)

    def choices(self, key: str, known: Iterable[str], default: Iterable[str] = ()) -> tuple[str, ...]:
        """Read a list of words, each one of the known ones."""
        words = self.texts(key, default)
        for word in words:
            if word not in known:
                raise self.slip(key, f"there is no choice called {_show(word)}", did_you_mean(word, known))
        return tuple(dict.fromkeys(words))

    def table(self, key: str) -> "Table":
        """Read a nested mapping; an absent one is empty."""
        value = self._values.get(key)
        if value is None:  # a heading whose lines are all commented out
            value = {}
        if not isinstance(value, dict):
            raise self._wrong(key, "indented 'name: value' lines", value)
        name = f"{self._where}.{key}" if self._where else str(key)
        return Table(value, path=self._path, shown=self._shown, error=self._error, where=name)

    def _get(self, key: str, default: object, expected: str) -> object:
        if key not in self._values and default is None:
            name = f"{self._where}.{key}" if self._where else key
            raise self._error(
                f"{self._shown}: {name} is missing, expected {expected}", f"Add a line '{key}: ...' to {self._path}."
            )
        return self._values.get(key, default)

    def _number(
        self,
        key: str,
        default: float | None,
        kind: str,
        types: tuple[type, ...],
        above: float | None,
        at_least: float | None,
        at_most: float,
    ) -> float:
        expected = kind
        if above is not None:
            expected += f" above {above:g}"
        if at_least is not None:
            expected += f" of at least {at_least:g}"
        value = self._get(key, default, expected)
        # bool is an int to Python, but 'weight: yes' is no number to its author
        if isinstance(value, bool) or not isinstance(value, types) or not _is_finite(value):
            raise self._wrong(key, expected, value)
        number: float = value  # type: ignore[assignment]  # narrowed by `types`, which mypy cannot see
        if number > at_most:
            raise self._wrong(key, f"{expected} and at most {at_most}", value)
        if (above is not None and number <= above) or (at_least is not None and number < at_least):
            raise self._wrong(key, expected, value)
        return number

    def _wrong(self, key: str, expected: str, value: object) -> GptHwError:
        return self.slip(key, f"expected {expected}, found {_show(value)}", "Mend that value.")


def read_table(path: Path, *, shown: str, error: type[GptHwError]) -> Table:
    """Read a YAML file whose top is a mapping.

    Args:
        path: The file.
        shown: How messages call it.
        error: The kind of error to raise.

    Returns:
        The top mapping.

    Raises:
        GptHwError: Of the kind ``error``: the file is missing, unreadable, too large, not UTF-8, not
            YAML, says a key twice, or is no mapping.
    """
    values = _parse(_read_text(path, shown, error), path, shown, error)
    if not isinstance(values, dict):
        found = "nothing" if values is None else _show(values)
        raise error(f"{shown}: expected 'name: value' lines, found {found}", f"Begin {path} with 'version: 1'.")
    return Table(values, path=path, shown=shown, error=error)


def _read_text(path: Path, shown: str, error: type[GptHwError]) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_CAP_KIB * 1024 + 1)
    except FileNotFoundError:
        raise error(f"{shown}: there is no such file in {path.parent}", f"Create {path}.") from None
    except OSError as problem:
        raise error(f"{shown}: cannot be read ({problem.strerror})", f"Check the permissions of {path}.") from None
    if len(data) > SIZE_CAP_KIB * 1024:
        raise error(f"{shown}: larger than {SIZE_CAP_KIB} KiB", f"Is {path} the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise error(f"{shown}: line {line} is not UTF-8 text", f"Save {path} as UTF-8.") from None


def _parse(text: str, path: Path, shown: str, error: type[GptHwError]) -> object:
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise error(f"{shown}{place}: not valid YAML: {problem.problem}", f"Mend {path} there.") from None
    except yaml.YAMLError as problem:
        raise error(f"{shown}: not valid YAML: {str(problem).splitlines()[0]}", f"Mend {path}.") from None
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as problem:
        # PyYAML lets these through for scalars it cannot convert (a 13th month) and for deep nesting
        raise error(f"{shown}: holds a value that YAML cannot read ({problem})", f"Mend {path}.") from None


def _loader() -> type["yaml.SafeLoader"]:
    """Make PyYAML's safe loader refuse repeated keys and aliases, and remember the line of each key."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):  # a few lines of aliases can stand for gigabytes, or for themselves
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # the stubs leave it untyped
                raise yaml.composer.ComposerError(None, None, "aliases (*name) are not used in this file", mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            lines: dict[Hashable, int] = {}
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, Hashable):
                    continue  # PyYAML's own message follows
                if key in lines:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"{key!r} is already said in line {lines[key]}", key_node.start_mark
                    )
                lines[key] = key_node.start_mark.line + 1
            return {**super().construct_mapping(node, deep), _LINES: lines}

    return Loader


def _is_finite(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _show(value: object) -> str:
    """Write a value as a person would write it in the file, cut to one line."""
    if isinstance(value, int) and not isinstance(value, bool):
        shown = hex(value) if value.bit_length() > 64 else str(value)  # Python refuses to write huge ones in decimal
    else:
        shown = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)  # which skips _LINES
    return shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[: SHOWN_CHARACTERS - 3]}..."

"""A model that trains in no time, for the tests of ``gpt-hw train`` and ``sample``."""

from collections.abc import Callable
from pathlib import Path

from autograder.labs.lm import ModelSettings

TEXT = "the quick brown fox jumps over the lazy dog.\n" * 40


def tiny_settings(folder: Path) -> Callable[..., ModelSettings]:
    """Write the text there and return what makes settings; they warm up for longer than until training is stopped."""
    text = folder / "text.txt"
    text.write_text(TEXT)

    def settings(**changes: object) -> ModelSettings:
        small = {"corpus": str(text), "heads": 2, "embed": 8, "context": 8, "blocks": 1, "batch": 4, "warmup": 7}
        return ModelSettings(**{**small, **changes})

    return settings

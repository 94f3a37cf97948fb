"""The two-sided bands that a training check's result must lie in, calibrated in grading.yml."""

from collections.abc import Mapping

from autograder.errors import ConfigError

Band = tuple[float, float]


class Bands(dict[str, Band]):
    """The bands of one part, by name: ``low, high = bands["block"]``.

    Args:
        bands: As grading.yml has them.
        part: Of which part, for the message about a missing one.
    """

    def __init__(self, bands: Mapping[str, Band], part: str) -> None:
        super().__init__(bands)
        self._part = part

    def __missing__(self, name: str) -> Band:
        """Raise ConfigError: a check without its band cannot judge anybody."""
        raise ConfigError(
            f"grading.yml has no band {self._part}.{name}",
            f"Add it below 'bands:', such as '{self._part}: {{{name}: [1.0, 2.0]}}'.",
        )

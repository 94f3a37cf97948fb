"""Leave in a released notebook what students find in their template: a stub that names its part and exercise."""

from typing import Any

from nbgrader import preprocessors

from autograder.build.regions import find_regions
from autograder.errors import BuildError
from autograder.nbgrader.settings import Checkout
from autograder.parts import load_parts


class ClearSolutions(preprocessors.ClearSolutions, Checkout):  # type: ignore[misc]
    """nbgrader's preprocessor, with the placeholders of ``gpt-hw build`` in place of its one stub for everything."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Clear a notebook; one that is no part of the course is left to nbgrader."""
        parts = load_parts(self.checkout / "assignments")
        name = resources["nbgrader"]["notebook"]
        self._part = next((part for part in parts.values() if part.module == name), None)
        cleared: tuple[Any, Any] = super().preprocess(nb, resources)
        return cleared

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        if cell.cell_type == "code" and self._part is not None:
            try:
                regions = find_regions(cell.source, f"cell {cell.metadata.get('nbgrader', {}).get('grade_id')}")
            except BuildError as error:
                self.log.warning("%s", error)
                regions = ()
            lines = cell.source.split("\n")
            for region in reversed(regions):
                lines[region.begin - 1 : region.end] = [region.indent + region.placeholder(self._part)]
            cell.source = "\n".join(lines)
            if regions:
                return True
        replaced: bool = super()._replace_solution_region(cell, language)
        return replaced

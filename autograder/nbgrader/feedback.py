"""What runs inside ``nbgrader generate_feedback``: nbgrader's own page, for every student."""

from typing import Any

from nbconvert.exporters import HTMLExporter
from nbgrader.converters import GenerateFeedback

from autograder.nbgrader.settings import Checkout
from autograder.nbgrader.tolerance import forgive_timestamps, take_every_folder
from autograder.parts import load_parts


class FeedbackExporter(HTMLExporter, Checkout):
    """nbgrader's exporter; no student is passed over for a name with brackets or a broken date."""

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)  # type: ignore[no-untyped-call]
        converter: Any = self.parent
        if isinstance(converter, GenerateFeedback):
            parts = load_parts(self.checkout / "assignments", hidden=False)
            modules = {part.name: part.module for part in parts.values()}
            forgive_timestamps(converter.coursedir, self.log)
            take_every_folder(converter, converter.coursedir.autograded_directory, modules)

"""What nbgrader_config.py tells our classes inside nbgrader's process."""

from pathlib import Path

from traitlets import Unicode
from traitlets.config import Configurable

from autograder.errors import UsageError

REPAIR = "Run 'gpt-hw nbgrader COURSE_DIR' in the instructors' checkout again; it writes nbgrader_config.py."


class Checkout(Configurable):
    """Whatever needs the parts of the course and its policy."""

    folder = Unicode(help="The instructors' checkout: it holds grading.yml and assignments/.").tag(config=True)

    @property
    def checkout(self) -> Path:
        """Give the checkout's folder.

        Raises:
            UsageError: It is not configured, or not there.
        """
        path = Path(self.folder)
        if not self.folder or not (path / "grading.yml").is_file():
            message = f"Checkout.folder in nbgrader_config.py is no checkout of the course: '{self.folder}'."
            raise UsageError(message, REPAIR)
        return path

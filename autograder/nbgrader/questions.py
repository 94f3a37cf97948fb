"""Questions that a person grades: a part's questions.yml, which holds their rubrics and is never released."""

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import PartError
from autograder.records import Part
from autograder.yaml_file import Table, read_table

FORMAT = 1
FILE = "questions.yml"

_ID = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Question:
    """One question; ``rubric`` has a line for each thing that earns points."""

    id: str
    points: float
    text: str
    rubric: tuple[str, ...]


def read_questions(part: Part) -> tuple[Question, ...]:
    """Read the questions of a part.

    Args:
        part: The part, as an instructors' checkout has it.

    Returns:
        The questions in the order of the file; none where the part has no such file.

    Raises:
        PartError: The file cannot be followed.
    """
    path = part.folder / FILE
    if not path.is_file():
        return ()
    table = read_table(path, shown=f"{part.folder.name}/{FILE}", error=PartError)
    table.version(FORMAT)
    table.only("version", "questions")
    questions = table.table("questions")
    return tuple(_question(path, questions, key) for key in questions.keys)


def _question(path: Path, questions: Table, key: str) -> Question:
    if not _ID.fullmatch(str(key)):
        raise questions.slip(key, "expected a name of small letters", "Write it like 'no_mask'.")
    table = questions.table(key)
    table.only("points", "text", "rubric")
    rubric = table.texts("rubric")
    if not rubric:
        raise table.slip("rubric", "expected a line for each thing that earns points", "Whoever grades needs one.")
    return Question(key, float(table.number("points", above=0)), table.text("text"), rubric)

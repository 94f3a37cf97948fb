"""What holds for every test."""

import signal
from pathlib import Path

import pytest

# Whoever starts the tests in the background starts them with Ctrl-C ignored; every process that a test sends it to
# would inherit that, and not stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An assert in what several files share says as much as one in a test.
HERE = Path(__file__).parent
SHARED = [path.stem for pattern in ("*.py", "*/*.py") for path in HERE.glob(pattern)]
pytest.register_assert_rewrite(*(name for name in SHARED if not name.startswith(("test_", "part"))))

# Files that take a minute and more, by their time. A file's tests run in one process: one that is begun last would be
# waited for while the other cores have nothing left to do.
FIRST = (
    "test_golden.py",
    "test_journal.py",
    "test_nbgrader_commands.py",
    "test_labs_training.py",
    "test_labs_train.py",
    "test_nbgrader_tricks.py",
    "test_cli_grade.py",
    "test_end_to_end.py",
)


def pytest_configure(config: pytest.Config) -> None:
    # Else pytest-xdist sorts the files by their number of tests, and those that take longest have the fewest.
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(FIRST)))

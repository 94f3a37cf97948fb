"""Nothing in a student's install is an answer: no function or class of it passes a check when it is pasted into a part.

The pasted code runs behind the wall, as a submission would: some of these functions end or replace their process.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from pasted_answers import Asked, Deaf, Ear, Pasted, Question
from released_functions import ROOT, Paste, pastes

from autograder.checks.local import load_suites, run_check, sources_of
from autograder.errors import SandboxError
from autograder.parts import load_parts
from autograder.records import Limits, Part
from autograder.sandbox import ForkServer, choose_rung
from autograder.wire import WorkerDied

pytestmark = pytest.mark.slow

ASSIGNMENTS = ROOT / "assignments"
PARTS = load_parts(ASSIGNMENTS)
SEED = 0
MANY_BYTES = 1 << 20
SILLY = {  # what somebody without an idea would try
    "identity": "def identity(x, *args, **kwargs):\n    return x\n",
    "zeros": "import torch\n\ndef zeros(x, *args, **kwargs):\n    return torch.zeros_like(x)\n",
    "none": "def none(*args, **kwargs):\n    return None\n",
    "refuses": "def refuses(*args, **kwargs):\n    raise ValueError('no')\n",
    "module": "import torch\n\nclass module(torch.nn.Module):\n    def __init__(self, *args, **kwargs):\n"
    "        super().__init__()\n\n    def forward(self, x, *args, **kwargs):\n        return x\n",
}

# Returning d where the variance of scores is asked for gives its expected value; a hidden check asks for the estimate.
KNOWN: dict[str, dict[str, list[str]]] = {}


@cache
def suites(part_name: str) -> dict[str, Any]:
    """Give every check of a part by id, but those that train: nothing here trains, and failing to costs minutes."""
    part = PARTS[part_name]
    exact = {check.id for check in part.checks if not check.trains}
    return {name: function for name, function in load_suites(part.folder, hidden=True).items() if name in exact}


@cache
def questions(part_name: str) -> dict[str, Question]:
    """Give the first question of each check."""
    found = {}
    for check_id, function in suites(part_name).items():
        ear = Ear()
        with pytest.raises(Asked):
            run_check(function, check_id, ear, SEED)  # type: ignore[arg-type]
        assert ear.question is not None
        found[check_id] = ear.question
    return found


@pytest.fixture(scope="module")
def wall() -> Iterator[tuple[ForkServer, int]]:
    groups = sorted({group for part in PARTS.values() for group in part.forbidden})
    with ForkServer(("torch", "full", *groups)) as server:
        try:
            rung, _ = choose_rung(server, Limits(), [ASSIGNMENTS])
        except SandboxError as error:
            pytest.skip(error.message)
        yield server, rung


def has_answer(pasted: Pasted, question: Question) -> bool:
    """Put the first question of a check; one that a suite's own object goes before is not put alone."""
    if not question.is_first:
        return True
    try:
        pasted.begin(SEED)
        reply, _ = pasted.request(dict(question.message), question.arrays)
    except WorkerDied:
        return False
    error = reply.get("error")
    return error is None or "ValueError" in (error["type"], *error.get("bases", []))


def passed(pasted: Pasted, part: Part, check_id: str) -> bool:
    """Run one check on what is pasted."""
    try:
        return run_check(suites(part.name)[check_id], check_id, pasted, SEED) is None  # type: ignore[arg-type]
    except WorkerDied:
        return False


def wins_of(pasted: Pasted, part: Part, paste: Paste) -> list[str]:
    """Run every check that could go on past its first question."""
    asked = questions(part.name)
    fitting = [check_id for check_id in asked if asked[check_id].fits(paste.signature)]
    earlier = {name: text for name, text in sources_of(ASSIGNMENTS).items() if name in part.needs}
    names = sorted({question.name for question in asked.values()})
    if not fitting or not pasted.paste({**earlier, part.module: paste.as_answer(names)}):
        return []
    wins = []
    has_answered = False
    for check_id in sorted(fitting, key=lambda check_id: asked[check_id].bytes):
        if asked[check_id].bytes > MANY_BYTES and not has_answered:
            continue  # who has no answer to any small question has none to a large one, which takes long to send
        if has_answer(pasted, asked[check_id]):
            has_answered = True
            wins += [check_id] if passed(pasted, part, check_id) else []
    return wins


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_check_that_gets_exceptions_for_answers_does_not_pass(part: Part) -> None:
    """What the shortcut of this module rests on: whoever has no answer to the first question fails the check."""
    for check_id, function in suites(part.name).items():
        assert run_check(function, check_id, Deaf(), SEED) is not None, check_id  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_no_function_of_the_release_passes_a_check(part: Part, wall: tuple[ForkServer, int]) -> None:
    with Pasted(*wall, part) as pasted:
        wins = {paste.place: found for paste in pastes() if (found := wins_of(pasted, part, paste))}
    assert wins == {}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_no_silly_answer_passes_a_check(part: Part, wall: tuple[ForkServer, int]) -> None:
    with Pasted(*wall, part) as pasted:
        found = {name: wins_of(pasted, part, Paste(name, name, text, None)) for name, text in SILLY.items()}
    assert {name: wins for name, wins in found.items() if wins} == KNOWN.get(part.name, {})


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_unsolved_template_passes_no_check(part: Part, wall: tuple[ForkServer, int]) -> None:
    template = ROOT / "student_template" / f"{part.module}.py"
    if not template.is_file():
        pytest.skip("this part has no template yet")
    earlier = {name: text for name, text in sources_of(ASSIGNMENTS).items() if name in part.needs}
    with Pasted(*wall, part) as pasted:
        assert pasted.paste({**earlier, part.module: template.read_text(encoding="utf-8")})
        wins = [check_id for check_id in suites(part.name) if passed(pasted, part, check_id)]
    assert wins == []


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_solution_passes_here(part: Part, wall: tuple[ForkServer, int]) -> None:
    """The way through this module lets a right answer pass, so that nothing else passing means something."""
    sources = sources_of(ASSIGNMENTS)
    with Pasted(*wall, part) as pasted:
        assert pasted.paste({name: text for name, text in sources.items() if name in (part.module, *part.needs)})
        results = {check_id: passed(pasted, part, check_id) for check_id in suites(part.name)}
    assert sum(results.values()) > len(results) / 2

"""A hint is one step of its exercise's ladder, whatever word asks for it."""

import json

import pytest
from toy_workspace import MODULE, TEMPLATE

from autograder.errors import UsageError
from autograder.workspace import hint


def test_hint_climbs_the_ladder_and_says_when_it_ends(workspace, part):
    given = [hint(workspace, part, "attention") for _ in range(4)]
    assert [(each.level, each.rung, each.text, each.is_repeated) for each in given] == [
        (1, "question", "question a", False),
        (2, "idea", "idea a", False),
        (3, "line of reasoning", "reasoning a", False),
        (3, "line of reasoning", "reasoning a", True),
    ]
    assert given[0].levels == 3
    assert given[0].others == ("Head",)


def test_hint_takes_a_level_and_goes_on_from_there(workspace, part):
    assert hint(workspace, part, "attention", level=2).text == "idea a"
    assert hint(workspace, part, "attention", level=1).text == "question a"
    assert hint(workspace, part, "attention").text == "reasoning a"
    with pytest.raises(UsageError, match="Ask for a level from 1 to 3"):
        hint(workspace, part, "attention", level=4)


@pytest.mark.parametrize("word", ["Head", "head", "head_is_causal", "test_head_is_causal", "Head.forward", "Head.q"])
def test_hint_understands_an_exercise_a_method_and_a_check(workspace, part, word):
    assert hint(workspace, part, word).exercise == "Head"
    assert hint(workspace, part, "Head").level == 2, "all are one ladder"


def test_hint_without_a_word_is_about_the_first_exercise_that_is_not_written(workspace, part):
    assert hint(workspace, part).exercise == "attention"
    half = TEMPLATE.replace('raise NotImplementedError("part3: attention is not written yet")', "return q")
    (workspace / f"{MODULE}.py").write_text(half)
    assert hint(workspace, part).exercise == "Head"
    (workspace / f"{MODULE}.py").unlink()
    (workspace / f"{MODULE}.ipynb").unlink()
    assert hint(workspace, part).exercise == "attention"


def test_hint_falls_back_on_the_hint_of_a_check(workspace, part):
    assert hint(workspace, part, "lonely").text == "Look at the axis."


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("atention", "no exercise and no check called 'atention'\nDid you mean 'attention'?"),
        ("rows_sum_to_on", "Did you mean 'rows_sum_to_one'?"),
        ("zzz", "Known: Head, Head.forward, alone, attention, mute."),
        ("mute", "part3 has no hint for mute\npart3 has hints for: attention, Head."),
    ],
)
def test_hint_answers_an_unknown_word_with_what_there_is(workspace, part, word, said):
    with pytest.raises(UsageError) as caught:
        hint(workspace, part, word)
    assert said in str(caught.value)


@pytest.mark.parametrize("level", ['"2"', "9", "-1", "true", "null", "[]"])
def test_hint_starts_again_where_its_memory_is_damaged(workspace, part, level):
    (workspace / ".gpt-hw").mkdir()
    kept = f'{{"version": 1, "parts": {{"part3": {{"attention": {level}}}, "part1": {{"mean": 2}}}}}}'
    (workspace / ".gpt-hw" / "hints.json").write_text(kept)
    assert hint(workspace, part, "attention").level == 1
    assert hint(workspace, part, "attention").level == 2
    assert json.loads((workspace / ".gpt-hw" / "hints.json").read_text())["parts"]["part1"] == {"mean": 2}

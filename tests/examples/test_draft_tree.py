import re

import pytest

from pie_mlx.events import PassCompleted

QUESTION = "What is the capital of Italy?"


def played_with(play, **options):
    played = play("draft-tree", {"question": QUESTION, **options})
    tokens, passes = map(int, re.findall(r"\d+", played.text))
    assert len(played.of(PassCompleted)) == passes
    assert played.result == play("hello", {"prompt": QUESTION}).text.strip()
    return tokens, passes


def test_a_tree_of_all_answers_takes_fewer_passes_than_one_of_them(play):
    tokens, passes = played_with(play)
    assert passes < played_with(play, branches=1)[1] < tokens


@pytest.mark.parametrize("seen", [[], ["The weather in Rome is fine."]])
def test_answers_that_do_not_come_change_nothing(play, seen):
    tokens, passes = played_with(play, seen=seen)
    assert passes >= tokens

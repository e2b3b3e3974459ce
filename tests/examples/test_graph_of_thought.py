import re

from pie_mlx.events import ContextCreated, ContextForked


def test_thoughts_are_merged_in_pairs_until_one_is_left(play):
    played = play("graph-of-thought", {"numbers": [12, 30, 25], "votes": 2, "temperature": 0.0})
    first, second = played.messages
    assert re.fullmatch(r"\(12 \+ 30 = \d+\)  25\n", first)
    assert re.fullmatch(r"\(\(12 \+ 30 = \d+\) \+ 25 = \d+\)\n", second)
    assert len(played.of(ContextCreated)) == 2
    assert len(played.of(ContextForked)) == 4
    assert isinstance(played.result, int)

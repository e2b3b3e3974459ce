import re

from pie_mlx.events import ContextForked


def test_every_kept_thought_is_forked_into_branches_and_the_best_are_kept(play):
    played = play("tree-of-thought", {"branches": 2, "keep": 2, "depth": 2})
    proposed = [int(count) for count in re.findall(r"(\d+) proposed", played.text)]
    kept = [int(count) for count in re.findall(r"(\d+) kept", played.text)]
    assert proposed[0] == 2
    assert proposed[1] == 2 * kept[0]
    assert max(kept) <= 2
    assert len(played.of(ContextForked)) == sum(proposed)


def test_equal_thoughts_are_kept_once(play):
    played = play("tree-of-thought", {"branches": 3, "keep": 3, "temperature": 0.0, "depth": 2})
    assert played.text.count("3 proposed, 1 kept") == 2
    assert "=" in played.result

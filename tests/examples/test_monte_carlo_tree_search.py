import re

from pie_mlx.events import ContextForked


def test_every_round_adds_a_node_and_plays_its_rollouts(play):
    played = play("monte-carlo-tree-search", {"rounds": 3, "rollouts": 2, "branches": 2, "wanted": ["dog", "zebra"]})
    assert len(played.of(ContextForked)) == 3 * (1 + 2)
    depths = [int(depth) for depth in re.findall(r"^(\d) deep", played.text, re.MULTILINE)]
    assert depths == [1, 1, 2]
    assert isinstance(played.result, str)


def test_the_best_reward_never_falls(play):
    played = play("monte-carlo-tree-search", {"rounds": 3, "rollouts": 1, "wanted": ["dog", "In"]})
    best = [float(value) for value in re.findall(r"([\d.]+) at best", played.text)]
    assert best == sorted(best)

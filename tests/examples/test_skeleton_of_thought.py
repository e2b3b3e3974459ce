from pie_mlx.events import ContextForked


def test_every_point_is_expanded_on_a_fork_that_shares_the_skeleton(play):
    played = play("skeleton-of-thought", {"points": "Name two animals.", "max_tokens": 8})
    skeleton, *expanded = played.messages
    points = [line.split(":")[0].removeprefix("- ") for line in expanded]
    assert skeleton == f"skeleton: {points}\n"
    assert len(played.of(ContextForked)) == played.result == len(points) > 1

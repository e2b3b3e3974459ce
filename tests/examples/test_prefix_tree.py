from pie_mlx.events import ContextForked


def test_what_branches_share_is_computed_once(play):
    played = play("prefix-tree", {"max_tokens": 10})
    assert len(played.of(ContextForked)) == 6
    assert played.input_tokens == played.result["computed"]
    assert played.result["computed"] < played.result["alone"]

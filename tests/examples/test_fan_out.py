from pie_mlx.events import AccountJoined, ProcessLaunched

TEXTS = ["Tom lives in Oslo. Tom is 45 years old.", "Nina is 27 years old and comes from Lima."]


def test_a_child_reads_each_text_on_the_wallet_of_its_parent(play):
    played = play("fan-out", {"texts": TEXTS})
    parent, *children = played.of(ProcessLaunched)
    assert [child.parent for child in children] == [parent.process] * 2
    assert len(played.of(AccountJoined)) == 1
    assert all(child.process[:8] in line for child, line in zip(children, played.messages, strict=True))


def test_children_that_fail_take_nobody_with_them(play):
    played = play("fan-out", {"texts": TEXTS}, token_budget=1)
    assert played.text.count(" failed: child ") == 2
    assert played.result == "nobody"

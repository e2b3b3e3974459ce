from pie_mlx.events import ContextCreated


def test_a_wrong_answer_is_tried_again_in_the_same_context(play):
    played = play("reflexion", {"first": 120, "second": 345, "attempts": 2})
    assert [line.split(":")[0] for line in played.messages] == ["1", "2"]
    assert played.messages[0].endswith("(wrong)\n")
    assert len(played.of(ContextCreated)) == 1
    assert played.result["attempts"] == 2


def test_a_right_answer_ends_it(play):
    played = play("reflexion", {"first": 2, "second": 3})
    assert played.result == {"correct": True, "attempts": 1}

import re

from pie_mlx.events import ContextForked

TEXT = "Anna is 32 and moved to Oslo."


def test_what_is_not_in_the_text_is_rejected_and_tried_again_on_a_fork(play):
    played = play("validate-and-retry", {"text": TEXT, "attempts": 4})
    *rejected, _ = played.messages
    assert len(played.of(ContextForked)) == len(played.messages)
    assert all("invents" in line for line in rejected)
    if played.result is not None:
        assert all(re.search(rf"\b{value}\b", TEXT) for value in played.result.values())


def test_nothing_is_returned_when_no_attempt_holds(play):
    played = play("validate-and-retry", {"text": "Hello!", "attempts": 2})
    assert played.result is None
    assert [line.split(":")[0] for line in played.messages] == ["attempt 1", "attempt 2"]

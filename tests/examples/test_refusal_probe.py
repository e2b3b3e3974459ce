import pytest

from pie_mlx.events import PassCompleted


@pytest.mark.parametrize("request_", ["Count to ten.", "Fly me to the moon."])
def test_a_refusal_ends_at_its_first_token(play, request_):
    played = play("refusal-probe", {"request": request_})
    assert played.messages == ["It is about to refuse.\n"]
    last = list(played.of(PassCompleted))[-1]
    assert (last.finish, last.following) == ("rule", 0)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [("What colour is a lemon?", "The colour of a lemon is yellow."), ("Name three animals.", "dog, cat, horse")],
)
def test_an_answer_is_written_to_its_end(play, request_, answer):
    assert play("refusal-probe", {"request": request_}).messages == [f"{answer}\n"]

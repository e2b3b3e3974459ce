from pie_mlx.events import ContextForked


def test_a_question_knows_what_the_modules_it_sees_say(play):
    played = play("modular-cache")
    name, home, both, _ = played.result
    assert "Anna" in name
    assert "Anna" in both
    assert "Anna" not in home
    assert len(played.of(ContextForked)) == 4

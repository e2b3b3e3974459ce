import re

from pie_mlx.events import PassCompleted

QUESTION = "Repeat the list: dog, cat, horse, rabbit, fox"


def test_guesses_save_passes_and_change_nothing(play):
    played = play("n-gram-speculator", {"question": QUESTION, "max_tokens": 24})
    tokens, passes, right, guessed = map(int, re.findall(r"\d+", played.text))
    assert len(played.of(PassCompleted)) == passes < tokens
    assert 0 < right <= guessed
    assert played.result == play("hello", {"prompt": QUESTION}).text.strip()

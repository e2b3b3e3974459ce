import re

import pytest

QUESTIONS = ["What sound does a cat make?", "Tell me a story about a dog."]


@pytest.mark.parametrize("block", [1, 8])
@pytest.mark.parametrize("question", QUESTIONS)
def test_it_is_greedy_decoding_in_no_more_passes(play, question, block):
    played = play("jacobi-decoding", {"question": question, "block": block})
    tokens, passes = map(int, re.findall(r"\d+", played.text))
    assert passes <= tokens + 1
    assert played.result == play("hello", {"prompt": question}).text.strip()

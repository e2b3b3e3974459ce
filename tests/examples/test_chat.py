import re

from pie_mlx.events import ContextCreated


def test_turns_are_streamed_on_one_context(play):
    played = play("chat", {"turns": ["My name is Anna."]}, says=["What is my name?"])
    assert re.findall(r"^> (.*)$", played.text, re.MULTILINE) == ["My name is Anna.", "What is my name?"]
    assert len(played.of(ContextCreated)) == 1
    assert len(played.messages) > 6


def test_nothing_that_was_said_is_read_again(play):
    played = play("chat", {"turns": ["My name is Anna.", "What is my name?"], "max_tokens": 12})
    kept = [int(count) for count in re.findall(r"\[(\d+) tokens", played.text)]
    assert played.input_tokens == kept[-1] > kept[0]

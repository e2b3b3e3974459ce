def test_an_answer_is_streamed(play):
    played = play("hello", {"prompt": "Who are you?"})
    assert "pie-tiny" in played.text
    assert len(played.messages) > 2

TEXTS = ["The train to Rome leaves at nine.", "A red apple is a sweet fruit."]


def test_the_text_nearest_to_the_question_is_found_and_read(play):
    played = play("semantic-search", {"texts": TEXTS, "question": "a red apple is a fruit"})
    assert played.messages == [f"found: {TEXTS[1]}\n"]
    assert isinstance(played.result, str)
    assert played.result


def test_as_many_texts_are_read_as_asked_for(play):
    played = play("semantic-search", {"texts": TEXTS, "question": "When does the train leave?", "passages": 2})
    assert sorted(played.messages) == sorted(f"found: {text}\n" for text in TEXTS)

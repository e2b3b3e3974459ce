THINGS = {"things": ["dog", "cat", "horse", "wolf", "lamp", "robot", "fox", "bear"], "max_tokens": 48}


def test_the_detector_tells_marked_text_from_plain(play):
    found = play("watermark", {**THINGS, "strength": 8.0}).result
    assert found["marked"] > 3
    assert found["marked"] > found["plain"] + 2


def test_without_strength_nothing_is_changed(play):
    played = play("watermark", {"things": ["dog"], "max_tokens": 8, "strength": 0.0})
    assert played.messages[0] == played.messages[1]

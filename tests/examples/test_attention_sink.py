import re

QUESTIONS = ["What is the capital of Norway?", "What is 12 + 30?"]


def test_what_is_seen_stays_within_sink_and_window(play):
    played = play("attention-sink", {"questions": QUESTIONS, "sink": 4, "window": 28})
    seen = [(int(few), int(all)) for few, all in re.findall(r"sees (\d+) of (\d+)", played.text)]
    assert [few for few, _ in seen] == [min(32, all) for _, all in seen]
    assert seen[-1][1] == played.result > 32


def test_what_is_beyond_the_window_is_unknown(play):
    def recalled(window):
        told = {"questions": ["My name is Anna.", "What is my name?"], "sink": 0, "window": window}
        return play("attention-sink", told).messages[1]

    assert "Anna" in recalled(64)
    assert "Anna" not in recalled(8)

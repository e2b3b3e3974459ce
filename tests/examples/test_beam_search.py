from pie_mlx.events import ContextForked, ContextReleased

QUESTION = "What is 12 + 30?"


def test_beams_are_forked_where_they_part_and_released_when_they_are_left(play):
    played = play("beam-search", {"width": 3, "max_tokens": 6})
    assert len(played.messages) == 3
    assert len(played.of(ContextReleased)) == len(played.of(ContextForked)) + 1


def test_one_beam_is_greedy_decoding(play):
    searched = play("beam-search", {"question": QUESTION, "width": 1, "max_tokens": 12})
    assert searched.result == play("hello", {"prompt": QUESTION}).text.strip()
    assert not searched.of(ContextForked)


def test_a_wider_search_finds_nothing_less_likely(play):
    def score(width):
        found = play("beam-search", {"width": width, "max_tokens": 8}).messages
        return max(float(line.split()[0]) for line in found)

    assert score(4) >= score(1)

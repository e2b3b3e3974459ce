import re


def test_a_page_that_is_read_is_kept_and_one_that_nobody_reads_is_not(play):
    played = play("heavy-pages", {"pages": 2})
    assert "Anna" in played.messages[-1]
    assert played.result != [0, 1]
    assert int(re.findall(r"of (\d+)\]", played.text)[-1]) > 6


def test_without_pages_what_lies_before_the_window_is_unknown(play):
    assert "Anna" not in play("heavy-pages", {"pages": 0}).messages[-1]

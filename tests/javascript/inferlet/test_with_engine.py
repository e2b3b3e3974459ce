"""The JavaScript SDK on a real engine, where no example goes."""

import pytest

from tests.javascript.inferlet.running import HERE

EXPECTED = {
    "adapters": {"differ": True, "gone": True, "bytes": True},
    "masks": {"drawn": 6, "allowed": True, "top": [4, True]},
    "market": {"bid": 0.5, "figures": True, "back": True, "kept": True},
    "rules": {"same": [True, True], "state": True, "ended": [3, "rule", 3]},
    "hidden": {
        "ended": [1, "rule"],
        "refused": "rule alike: vector towards has 2 numbers, a hidden state of pie-tiny 192",
    },
    "together": {"same": True, "grown": [[9, 9], [9, 9]], "ended": [1, "rule", 1]},
    "toolCalls": {"name": "get_weather", "args": {"city": "Oslo"}},
}


@pytest.mark.parametrize("part", EXPECTED)
def test_a_part_of_the_sdk_does_what_it_says(stage, part):
    assert stage.play(HERE / "tour.ts", {"part": part}).result == EXPECTED[part]


def test_texts_survive_the_tokenizer(stage):
    found = stage.play(HERE / "tour.ts", {"part": "tokenizer"}).result
    assert found["text"] is True
    assert found["special"][1] is True
    assert found["vocabulary"][0] == found["vocabulary"][1] > found["special"][0] > 0


def test_vectors_are_as_long_as_the_model_is_wide(stage):
    found = stage.play(HERE / "tour.ts", {"part": "vectors"}).result
    assert found["same"] is True
    assert found["width"][0] == found["width"][1] > 1
    assert found["best"] == [1, 1, 2]


def test_the_pages_of_each_head_group_have_all_attention(stage):
    sums = stage.play(HERE / "tour.ts", {"part": "attention"}).result
    assert len(sums) == 16
    assert all(abs(total - 3) < 1e-3 for total in sums)


def test_messages_and_files_go_out_and_come_in(stage):
    played = stage.play(HERE / "tour.ts", {"part": "channels"}, says=["hi there"])
    assert played.result == {"news": '{"n":1}', "job": "one", "said": "hi there"}

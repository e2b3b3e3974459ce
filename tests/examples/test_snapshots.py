import re


def counts(played):
    return [int(count) for count in re.findall(r"\d+", played.text)]


def test_the_next_run_goes_on_with_what_was_kept(play):
    first = play("snapshots", {"say": "My name is Anna.", "forget": True})
    second = play("snapshots", {"say": "What is my name?"})
    assert counts(first)[0] == 0
    assert counts(second)[0] == sum(counts(first))
    assert second.input_tokens == counts(second)[1]
    assert "Anna" in second.result

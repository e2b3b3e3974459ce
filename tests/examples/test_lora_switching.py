from pie_mlx.events import AdapterChanged, TickCompleted


def test_each_manner_answers_in_its_own_way(play):
    played = play("lora-switching")
    plain, polite, pirate = played.result
    assert polite.strip().startswith("Thank you for asking.")
    assert pirate.strip().startswith("Arr!")
    assert not plain.strip().startswith(("Thank", "Arr"))


def test_all_manners_share_a_batch(play):
    # A prompt of many chunks: the three have met before the first of them is read.
    played = play("lora-switching", {"question": "Tell me a story. " * 150, "max_tokens": 64})
    assert any(tick.contexts == 3 for tick in played.of(TickCompleted))


def test_an_adapter_that_is_loaded_is_used_again(play):
    play("lora-switching", {"max_tokens": 4})
    assert play("lora-switching", {"max_tokens": 4}).of(AdapterChanged) == []

from pie_mlx.events import AdapterChanged, TickCompleted


def test_each_manner_answers_in_its_own_way_and_all_in_one_batch(play):
    played = play("lora-switching")
    plain, polite, pirate = played.result
    assert polite.strip().startswith("Thank you for asking.")
    assert pirate.strip().startswith("Arr!")
    assert not plain.strip().startswith(("Thank", "Arr"))
    assert any(tick.contexts == 3 for tick in played.of(TickCompleted))


def test_an_adapter_that_is_loaded_is_used_again(play):
    play("lora-switching", {"max_tokens": 4})
    assert play("lora-switching", {"max_tokens": 4}).of(AdapterChanged) == []

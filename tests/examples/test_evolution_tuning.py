from pie_mlx.events import AdapterDestroyed


def test_the_tuned_adapter_scores_better_on_questions_it_was_not_tuned_on(play):
    played = play("evolution-tuning", {"generations": 6})
    assert played.result["before"] < -20
    assert played.result["after"] > played.result["before"] + 10  # nats; about 15 with these seeds
    assert played.text.count("generation") == 6
    assert len(played.of(AdapterDestroyed)) == 1


def test_the_same_seeds_give_the_same_result(play):
    first, second = (play("evolution-tuning", {"generations": 2, "population": 4}).result for _ in range(2))
    assert abs(first["after"] - second["after"]) < 0.01

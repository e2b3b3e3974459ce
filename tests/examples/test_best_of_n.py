from pie_mlx.events import ContextForked


def test_each_candidate_is_drawn_on_a_fork_with_its_score_and_the_likeliest_is_returned(play):
    played = play("best-of-n", {"n": 3, "max_tokens": 10})
    assert len(played.of(ContextForked)) == 3
    scores = [float(line.split()[0]) for line in played.messages]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] < 0
    assert played.messages[0].endswith(f"  {played.result}\n")


def test_the_greedy_answer_is_likelier_than_a_wild_one(play):
    def best(temperature):
        return float(play("best-of-n", {"n": 1, "max_tokens": 10, "temperature": temperature}).messages[0].split()[0])

    assert best(0.0) > best(5.0)

from collections import Counter

from pie_mlx.events import ContextCreated, PassCompleted


def answers(played):
    return [message.split(": ", 1)[1] for message in played.messages]


def test_two_contexts_step_together_for_each_answer(play):
    played = play("contrastive-decoding", {"max_tokens": 6})
    passes = Counter(each.context for each in played.of(PassCompleted))
    contexts = [event.context for event in played.of(ContextCreated)]
    assert len(contexts) == 4
    assert passes[contexts[0]] == passes[contexts[1]] > 1


def test_what_was_read_changes_the_answer(play):
    plain, contrasted = answers(
        play(
            "contrastive-decoding",
            {"question": "What colour is a lemon?", "weight": 50.0, "plausible": 1e-6, "max_tokens": 8},
        )
    )
    assert contrasted != plain


def test_when_only_the_likeliest_is_plausible_it_is_greedy(play):
    plain, contrasted = answers(play("contrastive-decoding", {"plausible": 1.0}))
    assert contrasted == plain

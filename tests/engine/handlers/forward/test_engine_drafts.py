"""Who guessed is told what became of it."""

from pie_mlx.engine.handlers.forward.engine_drafts import DraftSource
from pie_mlx.engine.speculation.drafting import Allowance, NgramDrafter, Pace


def test_what_the_draft_model_took_counts_against_its_guesses() -> None:  # V8
    cheap, dear = Pace(), Pace()
    for pace, spent in ((cheap, 0.4), (dear, 8.0)):
        DraftSource("draft_model", NgramDrafter(), Allowance(), pace, spent).learn([1, 2, 3], 4, 2, 0.4)
    assert cheap.pays(0.4)
    assert not dear.pays(0.4)


def test_guesses_of_the_draft_model_say_nothing_about_repetitions() -> None:
    text, drafter = [1, 2, 3, 4, 5, 1, 2, 3, 4], NgramDrafter()
    drafter.draft(0, text, 4, lambda count: [], cost=0.5, may_try=True)
    drafter.learn([], 4, 4)
    DraftSource("draft_model", drafter, Allowance(), Pace(), 9.0).learn([5, 1, 2, 3, 4], 4, 0, 0.4)
    assert drafter.draft(9, [5, 1, 2, 3, 4], 4, lambda count: [], cost=0.5, may_try=False) == [5, 1, 2, 3]


def test_what_one_stream_has_lost_keeps_the_others_from_trying() -> None:
    allowance = Allowance()
    assert allowance.step()
    DraftSource("draft_model", NgramDrafter(), allowance, Pace(), 8.0).learn([1], 4, 0, 2.0)
    assert not allowance.step()
    assert sum(not allowance.step() for _ in range(1000)) > 250
    assert allowance.step()


def test_guesses_that_came_to_no_window_still_took_their_time() -> None:
    allowance = Allowance()
    DraftSource("draft_model", NgramDrafter(), allowance, Pace(), 1.0).learn([1], 0, 0, 2.0)
    assert [allowance.step() for _ in range(60)].index(True) in (38, 39)

"""The simulated agents show what hints are worth."""

from benchmarks.agents import TURNS, measure, simulate


def test_agents_that_give_hints_lose_a_third_of_what_least_recently_used_pages_lose_at_most() -> None:
    lru, plain, hints = (
        measure(contender, [simulate(contender, 20, TURNS, 1_500_000, seed=0)])
        for contender in ("LRU", "market", "market with hints")
    )
    assert hints.hit_rate >= 0.95
    assert 3 * hints.recomputed_tokens <= lru.recomputed_tokens
    assert 3 * hints.recomputed_tokens <= plain.recomputed_tokens

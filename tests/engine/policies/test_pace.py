"""Pieces of prompts beside programs that decode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.policies import (
    POLICIES,
    Chunk,
    ContextView,
    Limits,
    MarketPolicy,
    View,
    longest_wait_ticks,
    paced,
    policy,
)

LIMITS = Limits(decode_stall_seconds=0.1)
DECODE, PROMPT, OTHER = Chunk(1, 1, atomic=True), Chunk(2, 4000), Chunk(3, 4000)


def test_a_prompt_beside_a_decoding_program_is_cut_to_what_the_time_allows() -> None:
    assert paced(LIMITS, [DECODE, PROMPT], 1000.0).prefill_chunk_tokens == 100


def test_all_prompts_together_take_no_longer() -> None:
    limits = paced(LIMITS, [DECODE, PROMPT, OTHER], 1000.0)
    contexts = tuple(ContextView(number, 1) for number in (1, 2, 3))
    plan = MarketPolicy().plan(View(0, 100, 100, contexts, (DECODE, PROMPT, OTHER), limits=limits))
    assert DECODE in plan.chunks
    assert sum(chunk.tokens for chunk in plan.chunks) == 101


@pytest.mark.parametrize("passes", [[PROMPT, OTHER], [DECODE], []])
def test_nothing_is_cut_where_nobody_is_held_up(passes: list[Chunk]) -> None:
    assert paced(LIMITS, passes, 1000.0) == LIMITS


@pytest.mark.parametrize(("limits", "rate"), [(LIMITS, None), (Limits(), 1000.0)])
def test_nothing_is_cut_before_the_speed_is_known_or_without_a_wish(limits: Limits, rate: float | None) -> None:
    assert paced(limits, [DECODE, PROMPT], rate) == limits


@given(st.floats(1e-3, 1e6), st.floats(1e-4, 10), st.integers(1, 40), st.integers(1, 40))
def test_a_batch_has_room_for_all_who_decode(rate: float, stall: float, decodes: int, prompts: int) -> None:
    passes = [Chunk(number, 1, atomic=True) for number in range(decodes)]
    passes += [Chunk(decodes + number, 4000) for number in range(prompts)]
    limits = paced(Limits(decode_stall_seconds=stall), passes, rate)
    assert decodes < limits.max_batch_tokens <= Limits().max_batch_tokens
    assert 1 <= limits.prefill_chunk_tokens <= Limits().prefill_chunk_tokens


@pytest.mark.parametrize("name", POLICIES)
def test_a_replay_beside_a_decoding_program_ends_within_the_bound(name: str) -> None:  # Q7
    limits, left, waited = Limits(aging_window_ticks=4, decode_stall_seconds=0.01), 2000, 0
    while left:
        passes = (DECODE, Chunk(2, left, atomic=left <= 32))
        contexts = (ContextView(1, 1), ContextView(2, 2, waiting_ticks=waited))
        view = View(0, 100, 100, contexts, passes, limits=paced(limits, passes, 100.0))
        left -= sum(chunk.tokens for chunk in policy(name).plan(view).chunks if chunk.context == 2)
        waited += 1
    assert waited <= longest_wait_ticks(limits, 2, 2000)

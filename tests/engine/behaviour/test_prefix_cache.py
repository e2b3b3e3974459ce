"""Looking up before computing: what was computed once is not computed again."""

import asyncio
from contextlib import ExitStack

import pytest

from inferlet import Context, Logprobs
from pie_mlx.calls import Sampler
from pie_mlx.events import PassCompleted, TickCompleted
from tests.engine.running import Running


def computed_tokens(engine: Running) -> int:
    return sum(event.tokens for event in engine.events if isinstance(event, TickCompleted))


async def computed_by_flush(engine: Running, tokens: list[int]) -> int:
    before = computed_tokens(engine)
    with Context(engine.model) as context:
        context.append(tokens)
        await context.flush()
    return computed_tokens(engine) - before


async def test_an_equal_prompt_computes_only_its_uncached_suffix(engine: Running) -> None:  # T11
    prompt = engine.prompt(1000, seed=21)
    assert await computed_by_flush(engine, prompt) == 1000
    assert await computed_by_flush(engine, prompt) == 1000 - 62 * 16


async def test_equal_prompts_that_come_together_are_computed_once(engine: Running) -> None:  # K5
    prompt, before = engine.prompt(1000, seed=29), computed_tokens(engine)
    with ExitStack() as contexts:
        several = [contexts.enter_context(Context(engine.model)) for _ in range(8)]
        for number, context in enumerate(several):
            context.append([*prompt, 60 + number])
        await asyncio.gather(*(context.flush() for context in several))
    assert computed_tokens(engine) - before == 1001 + 7 * (1001 - 62 * 16)


async def test_a_prompt_whose_twin_is_given_up_is_computed_after_all(engine: Running) -> None:  # E5
    prompt, before = engine.prompt(1500, seed=30), computed_tokens(engine)
    with Context(engine.model) as first, Context(engine.model) as second:
        first.append(prompt)
        second.append(prompt)
        given_up, kept = asyncio.create_task(first.flush()), asyncio.create_task(second.flush())
        await asyncio.sleep(0)
        given_up.cancel()
        await kept
        assert second.seq_len == 1500
    assert 1500 <= computed_tokens(engine) - before <= 3000
    engine.check_books()


async def test_a_sampled_row_is_always_computed(engine: Running) -> None:  # K6
    prompt = engine.prompt(64, seed=22)
    await computed_by_flush(engine, prompt)
    before = computed_tokens(engine)
    context = Context(engine.model)
    fwd = context.forward().input(prompt)
    fwd.sample([63], Sampler.argmax())
    await fwd.execute()
    assert computed_tokens(engine) - before == 16
    assert context.seq_len == 64


async def test_a_flush_that_is_wholly_covered_runs_no_pass(engine: Running) -> None:  # K6
    prompt = engine.prompt(64, seed=23)
    await computed_by_flush(engine, prompt)
    assert await computed_by_flush(engine, prompt) == 0


async def test_the_continuation_of_a_hit_is_that_of_a_cold_run(engine: Running) -> None:  # K10
    prompt = engine.prompt(70, seed=24)
    cold = Context(engine.model)
    cold.append(prompt)
    expected = await engine.greedy(cold, 10)
    warm = Context(engine.model)
    warm.append(prompt)
    assert await engine.greedy(warm, 10) == expected


async def test_other_positions_are_not_shared(engine: Running) -> None:  # T9
    prompt = engine.prompt(32, seed=25)
    await computed_by_flush(engine, prompt)
    before = computed_tokens(engine)
    await Context(engine.model).forward().input_at(prompt, range(1, 33)).execute()
    assert computed_tokens(engine) - before == 32


async def test_an_explicit_causal_mask_shares_with_none(engine: Running) -> None:  # K2, T9
    prompt = engine.prompt(32, seed=26)
    await computed_by_flush(engine, prompt)
    used = engine.used_pages()
    masked = Context(engine.model)
    await masked.forward().input(prompt).attention_mask([[0, 32]] * 32).execute()
    plain = Context(engine.model)
    plain.append(prompt)
    await plain.flush()
    assert engine.used_pages() == used + 2


async def test_probes_of_a_cached_prompt_equal_those_of_a_cold_one(engine: Running) -> None:  # K10
    prompt = engine.prompt(48, seed=27)
    values = []
    for _ in range(2):
        fwd = Context(engine.model).forward().input(prompt)
        handle = fwd.probe(47, Logprobs([1, 2, 3]))
        values.append((await fwd.execute()).logprobs(handle))
    assert values[0] == pytest.approx(values[1], abs=1e-4)


async def test_a_pass_tells_what_it_attached_and_what_it_computed(engine: Running) -> None:  # K5
    prompt = engine.prompt(40, seed=28)
    await computed_by_flush(engine, prompt)
    await computed_by_flush(engine, prompt)
    passes = [event for event in engine.events if isinstance(event, PassCompleted)]
    assert [(event.attached_tokens, event.computed_tokens) for event in passes[-2:]] == [(0, 40), (32, 8)]

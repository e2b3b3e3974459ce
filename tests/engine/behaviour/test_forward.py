"""Forward passes: inputs, masks, slots, and independence of company."""

import asyncio
import math
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from msgspec.structs import replace

from inferlet import Context, Distribution, Entropy, HiddenState, Logits, Logprob, Logprobs, Sampler
from pie_mlx import calls
from pie_mlx.engine.handlers.forward import slot_checks
from pie_mlx.engine.model.loading.sources import EMBEDDED
from pie_mlx.errors import (
    BatchFailedError,
    ContextLengthError,
    EmptyMaskError,
    InvalidArgumentError,
    InvalidTypeError,
    TokenBudgetError,
)
from pie_mlx.events import PromptProgressed, TickCompleted
from tests.engine.running import Running, running


async def last_logprobs(engine: Running, tokens: list[int], **options: object) -> list[float]:
    fwd = Context(engine.model).forward()
    if positions := options.get("positions"):
        fwd.input_at(tokens, positions)  # type: ignore[arg-type]
    else:
        fwd.input(tokens)
    if masks := options.get("masks"):
        fwd.attention_mask(masks)  # type: ignore[arg-type]
    handle = fwd.probe(len(tokens) - 1, Logprobs(list(range(50))))
    values = (await fwd.execute()).logprobs(handle)
    assert values is not None
    return values


async def test_slots_are_numbered_as_they_were_attached(engine: Running) -> None:  # T35
    fwd = Context(engine.model).forward().input(engine.prompt(4, 41))
    pair = fwd.sample([0, 2], Sampler.argmax())
    probe = fwd.probe(1, Entropy())
    last = fwd.sample([3], Sampler.argmax())
    out = await fwd.execute()
    assert len(out.tokens_at(pair)) == 2
    assert out.token(pair) is None
    assert out.token(last) is not None
    assert out.entropy(probe) is not None
    assert out.entropy(last) is None
    assert out.tokens_at(probe) == []
    assert out.tokens == []


async def test_a_hidden_state_is_what_the_head_makes_logits_of(engine: Running) -> None:  # Y1
    fwd = Context(engine.model).forward().input(engine.prompt(5, 43))
    handles = [(fwd.probe(index, HiddenState()), fwd.probe(index, Logits())) for index in (1, 4)]
    out = await fwd.execute()
    tied_head = mx.load(str(EMBEDDED / "pie-tiny" / "model.safetensors"))["model.embed_tokens.weight"]
    for state, logits in handles:
        hidden, raw = out.hidden_state(state), out.logits(logits)
        assert hidden is not None
        assert raw is not None
        assert len(hidden) == engine.model.info.hidden_size
        expected = np.array(tied_head.astype(mx.float32)) @ np.array(hidden)
        np.testing.assert_allclose(np.frombuffer(raw, np.float32), expected, rtol=2e-2, atol=5e-2)
    assert out.hidden_state(handles[0][1]) is None


async def test_a_hidden_state_of_a_model_whose_head_was_not_found_is_refused(  # F6
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = engine.core.services
    monkeypatch.setattr(services, "model_info", replace(services.model_info, hidden_size=0))
    fwd = Context(engine.model).forward().input([5])
    fwd.probe(0, HiddenState())
    with pytest.raises(InvalidArgumentError, match="output head was not found"):
        await fwd.execute()


async def test_several_draws_at_one_index_are_all_given(engine: Running) -> None:  # T35, L3
    fwd = Context(engine.model).forward().input(engine.prompt(4, 42))
    handle = fwd.sample([3], Sampler.multinomial(1.0, draws=3))
    assert len((await fwd.execute()).tokens_at(handle)) == 3


async def test_any_mix_of_samplers_and_probes_may_read_one_row(engine: Running) -> None:  # L5
    prompt = engine.prompt(4, 42)
    (expected,) = (await last_logprobs(engine, prompt))[5:6]
    fwd = Context(engine.model).forward().input(prompt)
    most_likely, logprob = fwd.probe(3, Distribution(1.0, 2)), fwd.probe(3, Logprob(5))
    largest = fwd.sample([3], Sampler.argmax())
    kept = fwd.sample([3, 3], Sampler.top_p(1.0, p=0.0))
    others = [fwd.sample([3], sampler) for sampler in (Sampler.multinomial(1.0, draws=2), Sampler.min_p(1.0))]
    entropy = fwd.probe(3, Entropy())
    out = await fwd.execute()
    found = out.distribution(most_likely)
    assert found is not None
    assert (out.tokens_at(largest), out.tokens_at(kept)) == ([found[0][0]], [found[0][0]] * 2)
    assert [len(out.tokens_at(other)) for other in others] == [2, 1]
    assert out.logprobs(logprob) == pytest.approx([expected], abs=1e-5)
    assert out.entropy(entropy) is not None


async def test_a_pass_draws_no_more_than_one_sampler_may(engine: Running) -> None:  # L3
    fwd = Context(engine.model).forward().input(engine.prompt(2, 42))
    fwd.sample([0, 1], Sampler.multinomial(1.0, draws=1025))
    with pytest.raises(InvalidArgumentError, match="2050 draws, at most 2048"):
        await fwd.execute()


async def test_every_input_may_be_drawn_at(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:  # L3
    monkeypatch.setattr(slot_checks, "MOST_DRAWS", 500)
    fwd = Context(engine.model).forward().input(engine.prompt(600, 42))
    handle = fwd.sample(range(600), Sampler.argmax())
    assert len((await fwd.execute()).tokens_at(handle)) == 600


async def test_explicit_causal_rows_are_no_rows(engine: Running) -> None:  # T34
    tokens = engine.prompt(20, 43)
    rows = [[0, slot + 1] for slot in range(20)]
    assert await last_logprobs(engine, tokens, masks=rows) == pytest.approx(
        await last_logprobs(engine, tokens), abs=1e-4
    )


async def test_hidden_slots_are_as_if_they_were_not_there(engine: Running) -> None:  # T34
    tokens = engine.prompt(20, 44)
    rows = [[0, 4, 6, 10] if slot >= 10 else [0, slot + 1] for slot in range(20)]
    hidden = await last_logprobs(engine, tokens, masks=rows)
    # Slots 4 to 9 must not reach the others through their own rows either: they are left out entirely.
    kept = [slot for slot in range(20) if not 4 <= slot < 10]
    without = await last_logprobs(engine, [tokens[slot] for slot in kept], positions=kept)
    assert hidden == pytest.approx(without, abs=1e-4)


async def test_a_window_mask_over_many_pages_hides_what_it_says(engine: Running) -> None:  # F8, T33
    tokens = engine.prompt(100, 45)
    rows = [[max(0, slot - 19), min(slot + 1, 20)] for slot in range(100)]
    masked = await last_logprobs(engine, tokens, masks=rows)
    assert masked != pytest.approx(await last_logprobs(engine, tokens), abs=1e-3)


async def test_pages_that_a_step_leaves_out_are_there_for_the_next_one(engine: Running) -> None:  # F8
    prompts = [engine.prompt(90 + seed, 60 + seed) for seed in range(3)]
    contexts = [Context(engine.model) for _ in prompts]
    await asyncio.gather(*(one.append(tokens).flush() for one, tokens in zip(contexts, prompts, strict=True)))
    for hidden in (None, (4, 64), (20, 30), None, (32, 60)):

        async def step(context: Context, prompt: list[int], hidden: tuple[int, int] | None = hidden) -> None:
            forward = context.forward().input([50])
            first, stop = hidden or (0, 0)
            row = [0, first, stop - first, len(prompt) + 1 - stop]
            logprobs = forward.attention_mask([row]).probe(0, Logprobs(list(range(50))))
            out = await forward.execute()
            context.truncate(1)
            causal = [[0, slot + 1] for slot in range(len(prompt))]
            expected = await last_logprobs(engine, [*prompt, 50], masks=[*causal, row])
            assert out.logprobs(logprobs) == pytest.approx(expected, abs=1e-4)

        await asyncio.gather(*(step(one, prompt) for one, prompt in zip(contexts, prompts, strict=True)))


@pytest.mark.parametrize(
    "masks",
    [[[0, 3]], [[0, 1], [0, 2], [0, 4], [0, 5]], [[0, 1], [2], [0, 3]], [[0, 1], [0, -1, 2], [0, 3]]],
)
async def test_bad_attention_masks_are_refused(engine: Running, masks: list[list[int]]) -> None:  # F7
    context = Context(engine.model)
    with pytest.raises(InvalidArgumentError):
        await context.forward().input(engine.prompt(3, 46)).attention_mask(masks).execute()
    assert context.seq_len == 0


async def test_an_empty_pass_is_refused(engine: Running) -> None:  # F5, T35
    with pytest.raises(ValueError, match="input"):
        await Context(engine.model).forward().execute()


async def test_ids_outside_the_vocabulary_are_refused(engine: Running) -> None:  # F5
    with pytest.raises(InvalidArgumentError):
        await Context(engine.model).forward().input([10**6]).execute()


async def test_positions_beyond_the_model_are_refused(engine: Running) -> None:  # F4
    with pytest.raises(ContextLengthError, match="beyond the model's 4096"):
        await Context(engine.model).forward().input_at([50], [4096]).execute()


@pytest.mark.parametrize(
    "probe", [Logprob(10**6), Logprobs([]), Distribution(0.0), Distribution(1e31), Distribution(1.0, -1)]
)
async def test_bad_probe_arguments_are_refused(engine: Running, probe: object) -> None:  # L4
    async def read() -> None:
        fwd = Context(engine.model).forward().input([50])
        fwd.probe(0, probe)  # type: ignore[arg-type]
        await fwd.execute()

    with pytest.raises(InvalidArgumentError):
        await read()


@pytest.mark.parametrize("slot", [(0, 1.5), (0, None), (0.5, Sampler()), ("0", Entropy())])
async def test_a_slot_of_something_else_is_refused(engine: Running, slot: tuple[Any, Any]) -> None:  # L4, F6
    context = Context(engine.model)
    with pytest.raises((InvalidTypeError, InvalidArgumentError)):
        engine.host.call(calls.Forward(context.id, [50], slots=[calls.Slot(*slot)]))
    assert len(await engine.greedy(context.append([50]), 2)) == 2


async def test_probes_agree_with_each_other(engine: Running) -> None:  # L4
    fwd = Context(engine.model).forward().input(engine.prompt(5, 47))
    top = fwd.probe(4, Distribution(1.0, 3))
    every = fwd.probe(4, Distribution())
    entropy = fwd.probe(4, Entropy())
    out = await fwd.execute()
    ids, shares = out.distribution(top) or ([], [])
    all_ids, all_shares = out.distribution(every) or ([], [])
    assert (ids, shares) == (all_ids[:3], all_shares[:3])
    assert sum(all_shares) == pytest.approx(1, abs=1e-4)
    nats = -sum(p * math.log(p) for p in all_shares if p > 0)
    assert out.entropy(entropy) == pytest.approx(nats, rel=1e-3)


async def test_a_mask_that_allows_nothing_is_refused_before_the_pass(engine: Running) -> None:  # F9
    context = Context(engine.model)
    fwd = context.forward().input([50]).mask([engine.model.info.vocabulary_size])
    fwd.sample([0], Sampler.argmax())
    with pytest.raises(EmptyMaskError):
        await fwd.execute()
    assert context.seq_len == 0


async def test_probes_see_unmasked_logits(engine: Running) -> None:  # F9
    fwd = Context(engine.model).forward().input([50]).mask([5, 1])
    token = fwd.sample([0], Sampler.argmax())
    everything = fwd.probe(0, Distribution())
    out = await fwd.execute()
    assert out.token(token) == 5
    assert len([p for p in (out.distribution(everything) or ([], []))[1] if p > 0]) > 100


async def test_a_context_alone_is_as_in_company(engine: Running) -> None:  # T37, Q10
    # Hot, a thousand tokens are about equally likely here, and two closer than R7's tolerance may swap their ranks.
    sampler = Sampler.top_p(0.3, 0.9, seed=5)

    async def write(seed: int) -> list[int]:
        with Context(engine.model) as context:
            context.append(engine.prompt(20 + seed, 50 + seed))
            return await context.generate(sampler, max_tokens=4, stop=[], auto_flush=False).collect_tokens()

    alone = [await write(seed) for seed in range(32)]
    assert await asyncio.gather(*(write(seed) for seed in range(32))) == alone


async def test_chunks_do_not_change_results() -> None:  # T37
    written = []
    for chunk in (32, 512):
        with running(prefill_chunk_tokens=chunk) as started:
            context = Context(started.model)
            context.append(started.prompt(300, 60))
            written.append(await started.greedy(context, 10))
            context.release()
    assert written[0] == written[1]


async def test_a_prompt_of_several_ticks_tells_how_far_it_is_with_what_was_cached() -> None:
    with running(prefill_chunk_tokens=32) as started, Context(started.model) as context:
        context.append(started.prompt(64, 63))
        await context.flush()
        with Context(started.model) as again:
            again.append([*started.prompt(64, 63), *started.prompt(96, 64)])
            await again.flush()
            told = [event for event in started.events if isinstance(event, PromptProgressed)]
    assert [(one.context, one.tokens, one.prompt_tokens) for one in told] == [
        (context.id, 32, 64),
        *((again.id, tokens, 160) for tokens in (96, 128)),
    ]


async def test_a_long_prompt_is_cut_short_while_others_decode() -> None:  # Q8
    with running(decode_stall_seconds=1e-6) as started, Context(started.model) as first, Context(started.model) as late:
        first.append(started.prompt(300, 61))
        await first.flush()  # now the speed of prompts is known
        first.append([50])
        late.append(started.prompt(400, 62))
        first_event = len(started.events)
        writing = asyncio.create_task(started.greedy(first, 200))
        while not any(isinstance(event, TickCompleted) for event in started.events[first_event:]):  # noqa: ASYNC110
            await asyncio.sleep(0)
        await late.flush()
        ticks = [event for event in started.events[first_event:] if isinstance(event, TickCompleted)]
        writing.cancel()
        await asyncio.wait([writing])
    beside = [tick.tokens for tick in ticks if tick.contexts == 2]
    assert len(beside) >= 10
    assert max(beside) == 33


async def test_a_failing_batch_fails_every_program_in_it_and_harms_none(engine: Running) -> None:  # T31, E4
    expected = []
    for seed in range(3):
        with Context(engine.model) as context:
            context.append(engine.prompt(20, 70 + seed))
            expected.append(await engine.greedy(context, 4))
    contexts = [Context(engine.model) for _ in range(3)]
    model = engine.core.services.runner.model
    forward = model.forward
    model.forward = broken_device  # type: ignore[method-assign]
    try:
        for seed, context in enumerate(contexts):
            context.append(engine.prompt(20, 70 + seed))
        outcomes = await asyncio.gather(*(context.flush() for context in contexts), return_exceptions=True)
    finally:
        model.forward = forward  # type: ignore[method-assign]
    assert [type(outcome) for outcome in outcomes] == [BatchFailedError] * 3
    assert [context.seq_len for context in contexts] == [0, 0, 0]
    assert [await engine.greedy(context, 4) for context in contexts] == expected


def broken_device(step: object) -> None:
    raise RuntimeError("the device is gone")


async def test_a_cancelled_pass_leaves_the_context_usable(engine: Running) -> None:  # E5
    context = Context(engine.model)
    context.append(engine.prompt(600, 80))
    task = asyncio.ensure_future(context.flush())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    context.append(engine.prompt(3, 81))
    await context.flush()
    assert context.seq_len in {3, 603, 600 + 603}


async def test_a_token_budget_bounds_the_work(engine: Running) -> None:  # T21, M3
    with engine.process(token_budget=50):
        context = Context(engine.model)
        context.append(engine.prompt(48, 90))
        await context.flush()
        context.append(engine.prompt(3, 91))
        with pytest.raises(TokenBudgetError) as caught:
            await context.flush()
        assert (caught.value.needed, caught.value.remaining) == (3, 2)
        assert context.seq_len == 48

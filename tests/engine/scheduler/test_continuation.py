"""Collecting a text is one call: the engine goes on by itself, as if it had been asked step by step."""

import asyncio
import gc
import threading
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Entropy, Generator, Grammar, GrammarConstraint, Regex, Sampler
from pie_mlx import calls
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.errors import BatchFailedError, ContextReleasedError, InvalidArgumentError, TokenBudgetError
from pie_mlx.events import Event, PassCompleted, TickCompleted
from tests.addresses import addresses
from tests.engine.outcome import Outcome, outcome
from tests.engine.running import Running, finished, in_context, running

pytestmark = pytest.mark.usefixtures("random_model", "one_step_at_a_time")

GREEDY = Sampler.argmax()


async def step_by_step(generator: Generator) -> list[int]:
    return [token async for step in generator for token in (await step.execute()).tokens]


def passes(events: list[Event]) -> list[PassCompleted]:
    return [event for event in events if isinstance(event, PassCompleted)]


async def a_few_passes(engine: Running, count: int = 2) -> None:
    before = len(passes(engine.events))
    while len(passes(engine.events)) < before + count:  # noqa: ASYNC110 - events tell no loop
        await asyncio.sleep(0)


async def generated(
    engine: Running, prompt: list[int], options: dict[str, Any], *, steps: bool
) -> tuple[Outcome, dict[int, tuple[float, float]]]:
    """What is left behind, and what was expected to follow each pass that was bid for, by its number."""
    with Context(engine.model) as context:
        context.append(prompt)
        first_event = len(engine.events)
        wanted = {"stop": [], "auto_flush": False, **options}
        generator = context.generate(wanted.pop("sampler", GREEDY), **wanted)
        tokens = await (step_by_step(generator) if steps else generator.collect_tokens())
        told = passes(engine.events[first_event:])
        ends = accumulate(event.drawn_tokens for event in told)
        expected = {
            end - event.following - event.forced_tokens: (event.remaining_tokens, event.variation)
            for end, event in zip(ends, told, strict=True)
        }
        return outcome(context, generator, tokens), expected


@pytest.fixture
def forwards(engine: Running, monkeypatch: pytest.MonkeyPatch) -> list[calls.Forward]:
    """The passes the program asked for."""
    sent: list[calls.Forward] = []
    submit = engine.host.submit

    async def noted(message: calls.Call[Any]) -> Any:
        if isinstance(message, calls.Forward):
            sent.append(message)
        return await submit(message)

    monkeypatch.setattr(engine.host, "submit", noted)
    return sent


OPTIONS = st.fixed_dictionaries(
    {
        "sampler": st.sampled_from([GREEDY, Sampler.top_p(0.8, 0.95, seed=3), Sampler.multinomial(0.9, seed=5)]),
        "max_tokens": st.integers(0, 40),
        "constrain": st.sampled_from([None, Regex(r"([a-z]{1,6} ){2,6}\."), Regex(r"(ab|abc|abcd)+ and so on")]),
        "horizon": st.sampled_from([None, 3, 50]),
        "rebid_each_step": st.booleans(),
    }
)


@given(seed=st.integers(300, 350), length=st.integers(1, 40), options=OPTIONS, stop=st.integers(0, 39) | st.none())
@settings(max_examples=15)
def test_collecting_gives_what_single_steps_give(  # G11, B4, B6, L6
    shared_engine: Running, seed: int, length: int, options: dict[str, Any], stop: int | None
) -> None:
    async def compare() -> None:
        prompt = shared_engine.prompt(length, seed)
        plain = await generated(shared_engine, prompt, options, steps=True)
        tokens = plain[0].tokens
        if stop is not None and tokens and options["constrain"] is None:
            options["stop"] = [tokens[stop % len(tokens)]]
            plain = await generated(shared_engine, prompt, options, steps=True)
        left, expected = await generated(shared_engine, prompt, options, steps=False)
        assert left == plain[0]
        assert expected.items() <= plain[1].items()

    with shared_engine.process() as host:
        finished(in_context(Running(shared_engine.core, shared_engine.events, host), compare()))
    shared_engine.check_books()


async def test_a_text_is_one_call(engine: Running, forwards: list[calls.Forward]) -> None:
    left, _ = await generated(engine, engine.prompt(9), {"max_tokens": 30}, steps=False)
    assert len(left.tokens) == 30
    assert len(forwards) == 1


async def test_a_step_may_be_of_several_tokens(engine: Running, forwards: list[calls.Forward]) -> None:
    plain, _ = await generated(engine, engine.prompt(9, 8), {"max_tokens": 30}, steps=True)
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 8))
        generator = context.generate(GREEDY, max_tokens=30, stop=[], auto_flush=False)
        forwards.clear()
        parts = [(await step.up_to(8).execute()).tokens async for step in generator]
    assert list(map(len, parts)) == [8, 8, 8, 6]
    assert [token for part in parts for token in part] == plain.tokens
    assert len(forwards) == 4


@pytest.mark.parametrize("count", [0, -1])
async def test_a_step_draws_at_least_one_token(engine: Running, count: int) -> None:
    with Context(engine.model) as context:
        context.append(engine.prompt(9))
        step = await anext(context.generate(GREEDY, max_tokens=1))
        with pytest.raises(InvalidArgumentError, match="up_to"):
            step.up_to(count)


async def test_a_text_without_a_limit_ends_at_the_last_position(engine: Running) -> None:  # G6
    maximum = engine.model.info.maximum_positions
    with Context(engine.model) as context:
        context.append(engine.prompt(maximum - 20))
        generator = context.generate(GREEDY, stop=[], auto_flush=False)
        assert len(await generator.collect_tokens()) == 21
        assert generator.finish_reason == "length"


async def test_what_the_program_looks_at_is_asked_for_step_by_step(
    engine: Running, forwards: list[calls.Forward]
) -> None:  # G9
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 2))
        generator = context.generate(GREEDY, max_tokens=5, stop=[], auto_flush=False)
        generator.probe_each_step(-1, Entropy())
        await generator.collect_tokens()
    assert len(forwards) == 5


async def test_a_bid_set_by_hand_serves_one_pass(engine: Running) -> None:  # B2
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 3))
        generator = context.generate(GREEDY, max_tokens=4, stop=[], auto_flush=False)
        context.set_bid(5.0)
        first_event = len(engine.events)
        await generator.collect_tokens()
    bids = [event.bid for event in passes(engine.events[first_event:])]
    assert bids[0] == 5.0
    assert 5.0 not in bids[1:]


async def test_an_idle_scope_holds_for_a_text_under_way(engine: Running) -> None:  # B8, P3
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 9))
        work = asyncio.create_task(context.generate(GREEDY, max_tokens=300, stop=[], auto_flush=False).collect_tokens())
        await a_few_passes(engine)
        with context.idle():
            first_event = len(engine.events)
            await a_few_passes(engine, 4)
            bids = [event.bid for event in passes(engine.events[first_event:])]
        assert len(await work) == 300
    assert bids[2:] == [0.0] * (len(bids) - 2)


async def test_a_cancelled_collection_stops_at_once_and_the_context_goes_on(engine: Running) -> None:  # E5
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 4))
        generator = context.generate(GREEDY, max_tokens=2000, stop=[], auto_flush=False)
        work = asyncio.create_task(generator.collect_tokens())
        await a_few_passes(engine)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        length = context.seq_len
        assert 9 < length < 1000
        context.append([45])
        await context.flush()
        assert context.seq_len == length + 1


async def test_a_cancelled_collection_under_a_grammar_leaves_the_context_usable(engine: Running) -> None:  # E5
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 4))
        pattern = Regex(r"([a-z]{1,6} ){200,600}\.")
        work = asyncio.create_task(
            context.generate(GREEDY, max_tokens=2000, stop=[], auto_flush=False, constrain=pattern).collect_tokens()
        )
        await a_few_passes(engine)
        work.cancel()
        await asyncio.wait([work])
        del work
        gc.collect()
        context.append([45])
        assert context.buffer() == [45]


async def test_a_context_released_meanwhile_ends_its_text(engine: Running) -> None:  # P15
    context = Context(engine.model)
    context.append(engine.prompt(9, 5))
    work = asyncio.create_task(context.generate(GREEDY, max_tokens=2000, stop=[], auto_flush=False).collect_tokens())
    await a_few_passes(engine)
    context.release()
    with pytest.raises(ContextReleasedError):
        await work


def fail_at(engine: Running, monkeypatch: pytest.MonkeyPatch, *failing: int) -> None:
    """Let the evaluations of these numbers fail from now on, and no batch end before for the time it takes."""

    def fail(number: int) -> None:
        if number in failing:
            raise RuntimeError("out of memory")

    before_evaluations(engine, monkeypatch, fail)


def before_evaluations(engine: Running, monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None]) -> None:
    """Act before each step that is evaluated from now on. No batch ends before for the time it takes."""
    monkeypatch.setattr("pie_mlx.engine.model.runner.pipeline.LONGEST_SECONDS", 60.0)
    model = engine.core.services.runner.model
    begin, numbers = model.begin, iter(range(1000))

    def begun(*outputs: mx.array, **options: Any) -> None:
        if outputs[0].ndim < 3:  # else it is the pool, and of a step that will be begun
            act(next(numbers))
        begin(*outputs, **options)

    monkeypatch.setattr(model, "begin", begun)


async def test_a_batch_that_fails_midway_is_told_and_leaves_the_text_so_far(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    fail_at(engine, monkeypatch, 4, 5)  # also when it is tried again
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 6))
        generator = context.generate(GREEDY, max_tokens=10, stop=[], auto_flush=False)
        with pytest.raises(BatchFailedError):
            await generator.collect_tokens()
        assert generator.tokens_generated == 4
        assert context.seq_len == 9 + 3
        assert len(await generator.collect_tokens()) == 6


async def test_a_budget_that_ends_midway_is_told(engine: Running) -> None:  # M3
    with engine.process(token_budget=14), Context(engine.model) as context:
        context.append(engine.prompt(9, 7))
        generator = context.generate(GREEDY, max_tokens=10, stop=[], auto_flush=False)
        with pytest.raises(TokenBudgetError):
            await generator.collect_tokens()
        assert generator.tokens_generated == 6
        assert context.seq_len == 14


@pytest.mark.parametrize(
    "changes",
    [
        {"slots": [calls.Slot(0, GREEDY), calls.Slot(1, GREEDY)]},
        {"slots": [calls.Slot(0, GREEDY)]},
        {"slots": [calls.Slot(1, Entropy())]},
        {"positions": [3, 5]},
        {"attention_masks": [[0, 1], [0, 2]]},
        {"speculation": calls.Speculation(4, [60, 61])},
    ],
)
async def test_only_a_pass_that_draws_its_next_token_can_go_on(engine: Running, changes: dict[str, Any]) -> None:
    with Context(engine.model) as context:
        plain = {"tokens": [50, 51], "slots": [calls.Slot(1, GREEDY)], "continuation": calls.Continuation(4)}
        with pytest.raises(InvalidArgumentError, match="follow one another"):
            await engine.host.submit(calls.Forward(context.id, **{**plain, **changes}))


# What follows at once, in one batch.


def batches(engine: Running, first: int = 0) -> list[TickCompleted]:
    return [event for event in engine.events[first:] if isinstance(event, TickCompleted)]


async def collected(engine: Running, prompt: list[int], options: dict[str, Any]) -> list[int]:
    with Context(engine.model) as context:
        context.append(prompt)
        return await context.generate(GREEDY, auto_flush=False, **options).collect_tokens()


STREAMS = st.lists(
    st.fixed_dictionaries(
        {"length": st.integers(1, 40), "max_tokens": st.integers(1, 40), "stop": st.integers(0, 39) | st.none()}
    ),
    min_size=2,
    max_size=5,
)


@given(streams=STREAMS, seed=st.integers(300, 309))
@settings(max_examples=8)
def test_texts_side_by_side_are_what_each_is_alone(  # E1, L6
    shared_engine: Running, streams: list[dict[str, Any]], seed: int
) -> None:
    async def compare() -> None:
        prompts = [shared_engine.prompt(stream["length"], seed + 10 * place) for place, stream in enumerate(streams)]
        alone: list[list[int]] = []
        options: list[dict[str, Any]] = []
        for prompt, stream in zip(prompts, streams, strict=True):
            whole = {"max_tokens": stream["max_tokens"], "stop": []}
            tokens = (await generated(shared_engine, prompt, whole, steps=True))[0].tokens
            end = None if stream["stop"] is None else tokens[stream["stop"] % len(tokens)]
            options.append({**whole, "stop": [] if end is None else [end]})
            alone.append(tokens if end is None else tokens[: tokens.index(end)])
        together = await asyncio.gather(*map(collected, [shared_engine] * len(prompts), prompts, options))
        assert together == alone

    with shared_engine.process() as host:
        finished(in_context(Running(shared_engine.core, shared_engine.events, host), compare()))
    shared_engine.check_books()


async def test_steps_follow_a_batch_at_once(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    before_evaluations(engine, monkeypatch, begun.append)
    first = len(engine.events)
    await collected(engine, engine.prompt(9, 11), {"max_tokens": 66, "stop": []})
    assert [batch.steps for batch in batches(engine, first)] == [33, 33]
    assert [batch.tokens for batch in batches(engine, first)] == [9 + 32, 33]
    assert [batch.ahead for batch in batches(engine, first)] == [False, True]
    assert len(begun) == 66  # the text ends after the last one


async def test_pages_others_may_wait_for_are_committed_before_the_text_goes_on(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # K5
    monkeypatch.setattr("pie_mlx.engine.model.runner.pipeline.LONGEST_SECONDS", 60.0)
    size = engine.store.page_size
    for prompt, follows in ((engine.prompt(size + 1, 912), False), (engine.prompt(size - 1, 913), True)):
        while engine.used_pages():  # noqa: ASYNC110 - a context that is released now would end the steps that follow
            await asyncio.sleep(0)
        first = len(engine.events)
        await collected(engine, prompt, {"max_tokens": 8, "stop": []})
        assert (batches(engine, first)[0].steps > 1) == follows


async def test_steps_follow_at_once_under_a_grammar_too(  # G13
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.engine.model.runner.pipeline.LONGEST_SECONDS", 60.0)
    first = len(engine.events)
    options = {"max_tokens": 40, "stop": [], "constrain": Regex(r"[a-z]{3}[0-9]")}
    tokens = await collected(engine, engine.prompt(9, 16), options)
    assert len(engine.model.tokenizer().decode(tokens)) == 4
    assert [batch.steps for batch in batches(engine, first)] == [len(tokens)]


async def test_a_step_that_fails_once_is_tried_again_and_nothing_is_lost(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    plain = await collected(engine, engine.prompt(9, 12), {"max_tokens": 20, "stop": []})
    fail_at(engine, monkeypatch, 4)
    assert await collected(engine, engine.prompt(9, 12), {"max_tokens": 20, "stop": []}) == plain


def hold_first_following_step(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> tuple[threading.Event, threading.Event]:
    """Set when the first step follows a batch; and what that step then waits for."""
    went_on, release = threading.Event(), threading.Event()

    def hold(number: int) -> None:
        if number == 1:
            went_on.set()
            release.wait(10)

    before_evaluations(engine, monkeypatch, hold)
    return went_on, release


async def test_whoever_comes_meanwhile_is_in_the_next_batch(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # Q9
    went_on, came = hold_first_following_step(engine, monkeypatch)
    first = len(engine.events)
    work = asyncio.create_task(collected(engine, engine.prompt(9, 13), {"max_tokens": 60, "stop": []}))
    await asyncio.to_thread(went_on.wait, 10)
    other = asyncio.create_task(collected(engine, engine.prompt(9, 14), {"max_tokens": 1, "stop": []}))
    while not engine.part(TickState).changed.is_set():  # noqa: ASYNC110 - it has no listener
        await asyncio.sleep(0)
    came.set()
    await asyncio.gather(work, other)
    assert [(batch.contexts, batch.steps) for batch in batches(engine, first)][:2] == [(1, 2), (2, 1)]


async def test_what_comes_after_a_text_that_ended_leaves_the_pool_where_it_is(engine: Running) -> None:
    runner = engine.core.services.runner
    before = await runner.call(lambda: addresses(runner.model.pool.arrays()))
    with Context(engine.model) as root:
        root.append(engine.prompt(20, 23))
        for stop in await root.fork().generate(GREEDY, max_tokens=12, stop=[], auto_flush=False).collect_tokens():
            with root.fork() as fork:  # a page is copied first
                await fork.generate(GREEDY, max_tokens=30, stop=[stop], auto_flush=False).collect_tokens()
            assert not await runner.call(lambda: runner.model.began_early)
    assert await runner.call(lambda: addresses(runner.model.pool.arrays())) == before


async def test_without_pages_to_spare_it_goes_step_by_step() -> None:  # P4
    with running(total_pages=3) as started:
        options = {"max_tokens": 10, "stop": []}
        both = await asyncio.gather(*(collected(started, started.prompt(9, seed), options) for seed in (15, 22)))
        assert [len(tokens) for tokens in both] == [10, 10]
        steps = {batch.steps for batch in batches(started) if batch.contexts == 2}
    assert steps <= {1}  # none where the first was quicker than the second came


async def test_after_steps_that_were_looked_at_a_text_goes_on_at_once(engine: Running) -> None:
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 17))
        generator = context.generate(GREEDY, max_tokens=30, stop=[], auto_flush=False)
        for _ in range(6):
            await (await anext(generator)).execute()
        first = len(engine.events)
        assert len(await generator.collect_tokens()) == 24
    assert max(batch.steps for batch in batches(engine, first)) > 1


async def test_texts_that_move_one_matcher_harm_nobody_else(engine: Running) -> None:  # G13
    constraint = GrammarConstraint.from_grammar(Grammar.from_regex(r"[a-z]{3,30}[0-9]"), engine.model)
    both = [
        collected(engine, engine.prompt(9, seed), {"max_tokens": 40, "stop": [], "constrain": constraint})
        for seed in (18, 19)
    ]
    other = collected(engine, engine.prompt(9, 20), {"max_tokens": 30, "stop": []})
    *_, alone = await asyncio.gather(*both, other, return_exceptions=True)
    assert alone == await collected(engine, engine.prompt(9, 20), {"max_tokens": 30, "stop": []})


async def test_a_text_that_is_cancelled_while_it_goes_on_ends_with_the_step_under_way(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # E5
    went_on, cancelled = hold_first_following_step(engine, monkeypatch)
    with Context(engine.model) as context:
        context.append(engine.prompt(9, 21))
        generator = context.generate(GREEDY, max_tokens=30, stop=[], auto_flush=False)
        work = asyncio.create_task(generator.collect_tokens())
        await asyncio.to_thread(went_on.wait, 10)
        work.cancel()
        while not any(item.abandoned for item in engine.part(TickState).passes.values()):  # noqa: ASYNC110
            await asyncio.sleep(0)
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await work
        context.append([45])
        await context.flush()
        assert context.seq_len == 9 + 1 + 1


@pytest.mark.parametrize("tokens", [-1, -3, 1.5])
async def test_a_continuation_is_of_none_or_more_tokens(engine: Running, tokens: Any) -> None:
    with Context(engine.model) as context:
        call = calls.Forward(
            context.id, tokens=[50], slots=[calls.Slot(0, GREEDY)], continuation=calls.Continuation(tokens)
        )
        with pytest.raises(InvalidArgumentError, match="tokens"):
            await engine.host.submit(call)

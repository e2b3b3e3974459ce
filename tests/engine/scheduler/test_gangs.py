"""Gangs wait, run and leave the pool as one: with too few pages all of them finish, and draw the same tokens."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Logits, Sampler, rule
from inferlet.rules import OtherRow, Row, RuleUse, Value
from pie_mlx.calls import Forward, OtherContext, Slot
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.errors import ContextBusyError, OutOfPagesError, TokenBudgetError
from pie_mlx.events import ContextSuspended, TickCompleted
from tests.engine.running import Running, finished, in_context, running

pytestmark = pytest.mark.usefixtures("random_model")

PAGES = 13
"""A gang of three contexts, each as long as they get here, fits and no more."""


@rule
def _own(row: Row) -> Value:
    return row.logits


@rule
def _two(row: Row, second: OtherRow) -> Value:
    return row.logits + 0.5 * second.logits


@rule
def _three(row: Row, second: OtherRow, third: OtherRow) -> Value:
    return row.logits + 0.5 * second.logits - 0.2 * third.logits


USES: list[RuleUse] = [_own(), _two(), _three()]


class Work(NamedTuple):
    """A program: the prompts of its contexts, how many tokens it writes, and whether it asks for each."""

    prompts: tuple[int, ...]
    tokens: int
    step_by_step: bool
    seed: int


WORKS = st.lists(
    st.builds(
        Work,
        st.lists(st.integers(2, 44), min_size=1, max_size=3).map(tuple),
        st.integers(1, 14),
        st.booleans(),
        st.integers(0, 5),
    ),
    min_size=2,
    max_size=6,
)


async def write(engine: Running, work: Work) -> list[int]:
    contexts = [Context(engine.model) for _ in work.prompts]
    for place, (context, prompt) in enumerate(zip(contexts, work.prompts, strict=True)):
        context.append(engine.prompt(prompt, 7 * work.seed + place))
    *others, first = contexts
    sampler = Sampler.multinomial(1.0, seed=work.seed).ruled(USES[len(others)])
    made = first.generate(sampler, others=others, max_tokens=work.tokens, stop=[], auto_flush=False)
    if not work.step_by_step:
        return await made.collect_tokens()
    return [token async for step in made for token in (await step.execute()).tokens]


@pytest.fixture(scope="module")
def roomy() -> Iterator[Running]:
    with running() as engine:
        yield engine


@settings(max_examples=4, deadline=None)
@given(works=WORKS, policy=st.sampled_from(["market", "fcfs", "priority"]))
def test_gangs_and_others_in_too_few_pages_all_finish(roomy: Running, works: list[Work], policy: str) -> None:
    expected = [finished(in_context(roomy, write(roomy, work))) for work in works]

    async def all_at_once(engine: Running) -> list[list[int]]:
        async def program(work: Work) -> list[int]:
            with engine.process():
                return await write(engine, work)

        return await asyncio.gather(*map(program, works))

    with running(total_pages=PAGES, policy=policy) as small:
        assert finished(all_at_once(small)) == expected
        assert not small.part(TickState).gangs


PROMPTS = (70, 21)
"""Two contexts of several pages, one of them much longer."""


async def joined_by_hand(engine: Running, tokens: int) -> list[int]:
    """What `_two` draws, from probes of both contexts."""
    contexts, drawn = [Context(engine.model) for _ in PROMPTS], list[int]()
    given = [engine.prompt(length, seed) for seed, length in enumerate(PROMPTS)]
    for _ in range(tokens):
        rows: list[npt.NDArray[np.float64]] = []
        for context, own in zip(contexts, given, strict=True):
            step = context.forward().input(own)
            probe = step.probe(len(own) - 1, Logits())
            rows.append(np.frombuffer((await step.execute()).logits(probe) or b"", np.float32).astype(np.float64))
        drawn.append(int(np.argmax(rows[0] + 0.5 * rows[1])))
        given = [drawn[-1:]] * 2
    return drawn


async def joined_by_a_rule(engine: Running, tokens: int, *, most: int, suspends: bool = False) -> list[int]:
    contexts, drawn = [Context(engine.model) for _ in PROMPTS], list[int]()
    for seed, (context, length) in enumerate(zip(contexts, PROMPTS, strict=True)):
        context.append(engine.prompt(length, seed))
    first, second = contexts
    sampler = Sampler.argmax().ruled(_two())
    made = first.generate(sampler, others=[second], max_tokens=tokens, stop=[], auto_flush=False)
    async for step in made:
        drawn += (await step.up_to(most).execute()).tokens
        if suspends:
            contexts[len(drawn) % 2].suspend()
    return drawn


async def compare_all_ways(engine: Running) -> None:
    expected = await joined_by_hand(engine, 8)
    assert await joined_by_a_rule(engine, 8, most=1) == expected
    assert await joined_by_a_rule(engine, 8, most=20) == expected
    assert await joined_by_a_rule(engine, 8, most=2, suspends=True) == expected


async def test_every_way_of_a_gang_draws_what_probes_of_its_contexts_give(engine: Running) -> None:
    await compare_all_ways(engine)


@pytest.mark.parametrize("architecture", ["qwen3_next", "gpt_oss"])
async def test_recurrent_layers_and_windows_are_no_obstacle(
    architecture: str, tiny_model_directory: Callable[[str], Path]
) -> None:
    with running(model=str(tiny_model_directory(architecture))) as engine:
        await compare_all_ways(engine)


async def test_all_contexts_of_a_gang_are_suspended_together_for_another_program() -> None:
    with running(total_pages=PAGES) as small:

        async def program(seed: int) -> list[int]:
            with small.process():
                return await write(small, Work((40, 40), 24, False, seed))

        await asyncio.gather(*map(program, range(4)))
        suspended = [event for event in small.events if isinstance(event, ContextSuspended)]
        assert suspended
        assert not small.part(TickState).gangs


async def test_a_batch_has_no_more_contexts_than_it_may_with_gangs() -> None:  # Q8
    with running(max_batch_contexts=4) as narrow:
        await asyncio.gather(*(write(narrow, Work((5, 5, 5), 6, True, seed)) for seed in range(3)))
        widths = {event.contexts for event in narrow.events if isinstance(event, TickCompleted)}
        assert 3 <= max(widths) <= 4


async def test_two_gangs_of_the_same_contexts_take_turns(roomy: Running) -> None:
    first, second = Context(roomy.model), Context(roomy.model)
    slots = [Slot(0, Sampler.argmax().ruled(_two()))]
    passes = [
        Forward(one.id, [50], slots=slots, others=[OtherContext(other.id, [50])])
        for one, other in [(first, second), (second, first)] * 3
    ]
    replies = await asyncio.gather(*map(roomy.host.submit, passes))
    assert sorted(reply.counters.working_tokens for reply in replies) == [1, 2, 3, 4, 5, 6]
    assert all(reply.counters == reply.others[0] for reply in replies)


async def test_another_context_of_a_pass_is_busy_until_it_is_over(roomy: Running) -> None:
    first, second = (Context(roomy.model).append([50, 51]) for _ in range(2))
    made = first.generate(Sampler.argmax().ruled(_two()), others=[second], max_tokens=40, stop=[], auto_flush=False)
    text = asyncio.create_task(made.collect_tokens())
    busy = False
    while not busy and not text.done():
        await asyncio.sleep(0)
        try:
            second.suspend()
        except ContextBusyError:
            busy = True
    assert busy
    assert len(await text) == 40


async def test_a_gang_that_can_never_fit_gets_an_error() -> None:
    with running(total_pages=4) as small:
        with pytest.raises(OutOfPagesError):
            await write(small, Work((30, 30, 30), 4, False, 0))
        assert await write(small, Work((30,), 4, False, 0))


@pytest.mark.parametrize("budget", [20, 19])
async def test_every_context_pays_for_its_tokens(roomy: Running, budget: int) -> None:
    with roomy.process(token_budget=budget):  # two prompts of five tokens, and six steps of both
        text = write(roomy, Work((5, 5), 6, False, 0))
        if budget == 20:
            assert len(await text) == 6
        else:
            with pytest.raises(TokenBudgetError):
                await text


async def test_all_contexts_bid_what_the_first_one_bids(roomy: Running) -> None:
    first, second = (Context(roomy.model).append([50, 51]) for _ in range(2))
    second.set_bid(0.25)
    made = first.generate(Sampler.argmax().ruled(_two()), others=[second], max_tokens=4, stop=[], auto_flush=False)
    first.set_bid(2.0)
    await (await anext(made)).execute()
    live = roomy.part(TickState).contexts
    assert live[first.id].bid == live[second.id].bid == 2.0

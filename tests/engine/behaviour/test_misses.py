"""Why a prompt was computed again: one reason for each of its causes."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from inferlet import Adapter, Context
from pie_mlx.calls import Miss, Reuse
from pie_mlx.engine.inspection import process_statuses
from pie_mlx.events import PassCompleted
from tests.engine.running import Running, engine_alone, running, small_prompt


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Running]:
    """An engine that has cached nothing of other tests."""
    with engine_alone() as started:
        yield started


async def reuse_of(engine: Running, tokens: Sequence[int]) -> Reuse:
    """How a prompt of its own context was reused."""
    with Context(engine.model) as context:
        await context.append(tokens).flush()
        return context.reuse


def miss_in(reuse: Reuse) -> Miss:
    assert reuse.miss is not None
    return reuse.miss


async def test_a_prompt_that_was_never_seen_is_new(engine: Running) -> None:
    reuse = await reuse_of(engine, [450, *engine.prompt(40, seed=71)])
    assert (reuse.from_memory, reuse.computed, miss_in(reuse)) == (0, 41, Miss("new", 0))


async def test_a_text_that_goes_on_after_a_cached_one_is_new_there(engine: Running) -> None:
    prompt = engine.prompt(80, seed=72)
    await reuse_of(engine, prompt[:32])
    reuse = await reuse_of(engine, prompt)
    assert (reuse.from_memory, reuse.computed, miss_in(reuse)) == (32, 48, Miss("new", 32))


async def test_all_of_a_prompt_but_an_unfilled_page_misses_nothing(engine: Running) -> None:
    prompt = engine.prompt(40, seed=73)
    await reuse_of(engine, prompt)
    assert await reuse_of(engine, prompt) == Reuse(from_memory=32, computed=8)


async def test_the_first_token_that_differs_is_told_with_both_texts(engine: Running) -> None:
    before = engine.encode(
        "Rule one: be kind. Rule two: be brief. Rule three: be honest. Rule four: be calm and clear."
    )
    kind, brief = (
        engine.encode(" Tools: weather, then mail, then maps and news."),
        engine.encode(" Tools: mail, then weather, then maps and news."),
    )
    await reuse_of(engine, [*before, *kind])
    miss = miss_in(await reuse_of(engine, [*before, *brief]))
    place = len(before) + next(at for at, (one, other) in enumerate(zip(kind, brief, strict=False)) if one != other)
    assert (miss.reason, miss.position) == ("differs", place)
    told = engine.model.tokenizer().decode(brief[place - len(before) :])
    assert told.startswith(miss.text)
    assert miss.cached_text
    assert str(miss) == f"token {place}: this prompt reads {miss.text!r}, the cached one {miss.cached_text!r}"


async def test_a_text_of_another_user_is_compared_with_none(engine: Running) -> None:
    prompt = engine.prompt(48, seed=75)
    with engine.process("somebody else"):
        await reuse_of(engine, prompt)
    assert miss_in(await reuse_of(engine, [*prompt[:20], 499, *prompt[21:]])) == Miss("new", 16)


async def test_tokens_computed_at_other_positions_are_another_text(engine: Running) -> None:
    prompt = engine.prompt(32, seed=76)
    with Context(engine.model) as context:
        await context.append(prompt[:16]).flush()
        await context.forward().input_at(prompt[16:], range(20, 36)).execute()
    text = engine.model.tokenizer().decode(prompt[16:24])
    assert miss_in(await reuse_of(engine, prompt)) == Miss("positions", 16, text, text)


async def test_tokens_computed_under_a_mask_are_another_text(engine: Running) -> None:
    prompt = engine.prompt(32, seed=77)
    with Context(engine.model) as context:
        await context.append(prompt[:16]).flush()
        await context.forward().input(prompt[16:]).attention_mask([[4, 28]] * 16).execute()
    assert miss_in(await reuse_of(engine, prompt)).reason == "mask"


async def test_tokens_computed_with_an_adapter_are_another_text(engine: Running) -> None:
    prompt = engine.prompt(48, seed=78)
    adapter = Adapter.create(engine.model, "tested for misses")
    with Context(engine.model) as context:
        await context.append(prompt[:16]).flush()
        await context.forward().input(prompt[16:]).adapter(adapter).execute()
    miss = miss_in(await reuse_of(engine, prompt))
    assert (miss.reason, miss.position, str(miss)) == ("adapter", 16, "token 16: cached with another adapter")
    adapter.destroy()


async def test_a_prompt_of_which_all_was_computed_with_an_adapter_is_told_so(engine: Running) -> None:
    prompt = engine.prompt(32, seed=80)
    adapter = Adapter.create(engine.model, "tested for whole prompts")
    with Context(engine.model) as context:
        await context.forward().input(prompt).adapter(adapter).execute()
    await reuse_of(engine, engine.prompt(32, seed=81))
    miss = miss_in(await reuse_of(engine, prompt))
    assert (miss.reason, miss.position, str(miss)) == ("adapter", 0, "token 0: cached with another adapter")
    adapter.destroy()


async def test_pages_without_what_recurrent_layers_remember_after_them_are_told(
    tiny_model_directory: Callable[[str], Path],
) -> None:
    with running(model=str(tiny_model_directory("lfm2")), total_pages=64) as hybrid:
        prompt = small_prompt(200)
        await reuse_of(hybrid, prompt)
        await hybrid.core.consult(lambda services: services.store.pool.kept_states.clear())
        reuse = await reuse_of(hybrid, prompt)
        assert (reuse.from_memory, reuse.replayed) == (0, 192)
        assert miss_in(reuse) == Miss("state", 0)


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    with engine_alone(total_pages=8) as running:
        yield running


async def test_a_page_that_was_evicted_tells_when_and_for_whom(small: Running) -> None:
    prompt, others = small.prompt(64, seed=1), small.prompt(128, seed=2)
    with small.process("ada"):
        await reuse_of(small, prompt)
    with small.process("ada") as other:
        await reuse_of(small, others)
        miss = miss_in(await reuse_of(small, prompt))
        assert (miss.reason, miss.position) == ("evicted", 0)
        assert miss.evicted_for == f"test ({other.process_id[:8]})"
        assert miss.evicted_at > 1.7e9


async def test_a_user_does_not_learn_who_else_needed_the_pages(small: Running) -> None:
    prompt = small.prompt(64, seed=3)
    with small.process("ada"):
        await reuse_of(small, prompt)
    with small.process("somebody else"):
        await reuse_of(small, small.prompt(128, seed=4))
    with small.process("ada"):
        miss = miss_in(await reuse_of(small, prompt))
    assert (miss.reason, miss.evicted_for) == ("evicted", "")
    assert str(miss).endswith(" for another program")


async def test_decode_steps_tell_nothing_and_the_event_of_a_prompt_does(engine: Running) -> None:
    with Context(engine.model) as context:
        context.append([451, *engine.prompt(40, seed=79)])
        await engine.greedy(context, 24)
        assert (context.reuse.computed, context.reuse.miss) == (41, Miss("new", 0))
    status = (await engine.core.consult(process_statuses))[engine.host.process_id]
    assert (status.reuse.computed, status.reuse.miss) == (41, Miss("new", 0))
    told = [event.miss for event in engine.events if isinstance(event, PassCompleted) and event.context == context.id]
    assert [text for text in told if text] == ["token 0: nothing was computed after it before"]

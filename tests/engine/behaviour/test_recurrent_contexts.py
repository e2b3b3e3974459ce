"""Models with recurrent layers: contexts are forked, truncated, suspended, saved and opened as on any other model."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from inferlet import Context, Logits
from pie_mlx.calls import ContextState, ForkContext
from pie_mlx.engine.handlers.contexts import fork
from pie_mlx.engine.paging.page_bytes import HostContent
from pie_mlx.engine.paging.spill import Spill, SpillCosts, SpillFile
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.services import Services
from pie_mlx.errors import ContextReleasedError
from pie_mlx.events import ContextRestored, PassCompleted, SpillChanged, TickCompleted
from tests.engine.running import Running, running

ARCHITECTURES = [
    "qwen3_next",
    "qwen3_5",
    "qwen3_5_moe",
    "lfm2",
    "lfm2_moe",
    "nemotron_h",
    "granitemoehybrid",
    "falcon_h1",
    "jamba",
    "mamba2",
    "recurrent_gemma",
    "rwkv7",
    "kimi_linear",
    "olmo_hybrid",
]
LENGTH = 100
"""Of a prompt: six pages and four tokens."""

Found = npt.NDArray[np.float32]


def prompt(seed: int, tokens: int = LENGTH) -> list[int]:
    return [5 + (seed * 37 + place * 11 + place * place % 7) % 200 for place in range(tokens)]


async def logits(context: Context, tokens: list[int]) -> Found:
    """After the first of `tokens`, where a state of other tokens shows most, and after the last."""
    forward = context.forward().input(tokens)
    probes = [forward.probe(place, Logits()) for place in (0, len(tokens) - 1)]
    output = await forward.execute()
    return np.stack([np.frombuffer(output.logits(probe) or b"", np.float32) for probe in probes])


async def filled(engine: Running, tokens: list[int]) -> Context:
    context = Context(engine.model)
    await context.append(tokens).flush()
    return context


def agree(found: Found, expected: Found) -> None:
    assert np.max(np.abs(found - expected)) < 1e-4 * np.max(np.abs(expected))
    assert (found.argmax(1) == expected.argmax(1)).all()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
async def test_whatever_is_done_to_a_context_its_next_tokens_are_those_of_an_untouched_one(
    architecture: str, tiny_model_directory: Callable[[str], Path]
) -> None:
    with running(model=str(tiny_model_directory(architecture)), prefill_chunk_tokens=64) as engine:
        begun, rest = prompt(1), prompt(2, 20)
        expected = await logits(await filled(engine, begun), rest)
        agree(await logits(await filled(engine, begun), rest), expected)  # reuse

        parent = await filled(engine, begun)
        child = parent.fork()
        await logits(parent, prompt(3, 9))
        agree(await logits(child, rest), expected)

        for beyond in (1, 3, 9):  # within a page, and as far as the last committed one lets it
            context = await filled(engine, begun)
            await logits(context, prompt(4, beyond))
            context.truncate(beyond)
            agree(await logits(context, rest), expected)

        suspended = await filled(engine, begun)
        suspended.suspend()
        agree(await logits(suspended, rest), expected)

        saved = await filled(engine, begun)
        saved.save("begun")
        await logits(saved, prompt(5, 30))
        for opened in (Context.open(engine.model, "begun"), Context.take(engine.model, "begun")):
            assert opened is not None
            agree(await logits(opened, rest), expected)
        engine.check_books()


async def displace(engine: Running) -> None:
    """Others take all pages, and what is kept of states is dropped."""
    engine.store.pool.kept_states.clear()
    with Context(engine.model) as other:
        other.inner().reserve_working_pages(engine.store.pool.available() - engine.store.states.pages_each)
        await other.append(prompt(9, 5)).flush()


@pytest.mark.parametrize("displaced", [False, True])
async def test_a_replay_that_has_to_make_way_goes_on_where_it_was(
    displaced: bool, tiny_model_directory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:  # R1, R4
    directory = tiny_model_directory("qwen3_next")
    with running(model=str(directory), prefill_chunk_tokens=64, total_pages=40) as engine:
        expected = await logits(await filled(engine, prompt(1)), prompt(2, 20))
        engine.store.pool.kept_states.clear()
        context = await filled(engine, prompt(1))
        context.suspend()
        engine.store.pool.kept_states.clear()
        if displaced:
            await displace(engine)
        restorer, chunks = engine.part(Restorer), list[int]()
        after_chunk = restorer.after_chunk

        def make_way(item: ForwardTask) -> None:
            after_chunk(item)
            chunks.append(item.cursor)
            if len(chunks) == 1:
                restorer.suspend(item.context)

        monkeypatch.setattr(restorer, "after_chunk", make_way)
        before = len(engine.events)
        agree(await logits(context, prompt(2, 20)), expected)
        ticks = [event.tokens for event in engine.events[before:] if isinstance(event, TickCompleted)]
        assert ticks == [64, 36, 20]


async def test_a_fork_while_its_source_is_being_restored_remembers_nothing_yet(
    tiny_model_directory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:  # P14, P16
    directory = tiny_model_directory("qwen3_next")
    with running(model=str(directory), prefill_chunk_tokens=64, total_pages=40) as engine:
        context = await filled(engine, prompt(1))
        context.suspend()
        engine.store.pool.kept_states.clear()
        restorer, made = engine.part(Restorer), Future[ContextState]()
        after_chunk = restorer.after_chunk

        def begin(services: Services) -> None:
            process = services.processes[engine.host.process_id]

            def fork_between_chunks(item: ForwardTask) -> None:
                monkeypatch.setattr(restorer, "after_chunk", after_chunk)
                after_chunk(item)
                forking = asyncio.ensure_future(fork(services, process, ForkContext(context.id)))
                forking.add_done_callback(lambda done: made.set_result(done.result()))

            monkeypatch.setattr(restorer, "after_chunk", fork_between_chunks)
            assert restorer.begin(process.context(context.id))
            services.queue.wake()

        await engine.core.consult(begin)
        child = await asyncio.wrap_future(made)
        engine.check_books()
        assert not engine.store.contexts[child.context].resident


async def content(engine: Running, pages: list[int]) -> list[bytes]:
    read: Future[HostContent] = Future()

    def begin(services: Services) -> None:
        reading = services.runner.move_pages(lambda pool: pool.read_pages(pages))
        reading.add_done_callback(lambda done: read.set_result(done.result()))

    await engine.core.consult(begin)
    return [array.tobytes() for pair in await asyncio.wrap_future(read) for array in pair]


@pytest.mark.parametrize("architecture", ["qwen3_next", "recurrent_gemma"])
async def test_states_that_were_dropped_are_computed_again(
    architecture: str, tiny_model_directory: Callable[[str], Path]
) -> None:  # R4
    with running(model=str(tiny_model_directory(architecture)), prefill_chunk_tokens=64, total_pages=40) as engine:
        begun, rest = prompt(1), prompt(2, 20)
        expected = await logits(await filled(engine, begun), rest)
        context = await filled(engine, begun)
        await logits(context, prompt(4, 3))
        held = engine.store.contexts[context.id]
        pages = held.block_table[: held.committed]
        before = await content(engine, pages)
        engine.store.pool.kept_states.clear()
        context.truncate(2)
        context.truncate(1)
        agree(await logits(context, rest), expected)
        assert await content(engine, pages) == before, "what is there is not written again"

        for lose in (displace, None):
            suspended = await filled(engine, begun)
            suspended.suspend()
            engine.store.pool.kept_states.clear()
            if lose is not None:
                await lose(engine)
            agree(await logits(suspended, rest), expected)
            suspended.release()

        (await filled(engine, begun)).save("begun")
        await displace(engine)
        opened = Context.open(engine.model, "begun")
        assert opened is not None
        agree(await logits(opened, rest), expected)
        forgotten = await filled(engine, begun)
        engine.store.pool.kept_states.clear()
        forgotten.truncate(1)
        child = forgotten.fork()
        agree((await logits(child, [begun[-1], *rest]))[1:], expected[1:])


@pytest.fixture
def spilling(
    tmp_path: Path, tiny_model_directory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Running]:
    """An engine whose disk is always faster than its model."""
    free = SpillCosts(write_bytes_per_second=1e15, read_bytes_per_second=1e15)
    monkeypatch.setattr("pie_mlx.engine.paging.spill.spill.measure_costs", lambda disk: free)
    with running(
        model=str(tiny_model_directory("qwen3_next")), total_pages=24, spill_directory=str(tmp_path)
    ) as engine:
        yield engine


@pytest.mark.parametrize("damaged", [False, True])
async def test_a_suspended_state_comes_back_from_the_disk_unless_it_is_damaged(
    damaged: bool, spilling: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # R3, R4
    begun, rest = prompt(1), prompt(2, 20)
    expected = await logits(await filled(spilling, begun), rest)
    context = await filled(spilling, begun)
    context.suspend()
    await displace(spilling)
    if damaged:
        read = SpillFile.read_record
        monkeypatch.setattr(
            SpillFile, "read_record", lambda file, slots, size: bytes(byte ^ 1 for byte in read(file, slots, size))
        )
    agree(await logits(context, rest), expected)
    restored = [event for event in spilling.events if isinstance(event, ContextRestored)][-1]
    assert restored.read_pages > 0
    assert bool(restored.replayed_tokens) is damaged
    passes = [event for event in spilling.events if isinstance(event, PassCompleted)]
    assert passes[-1].replayed_tokens == restored.replayed_tokens
    told = [event.state for event in spilling.events if isinstance(event, SpillChanged)]
    assert ("damaged" in told) is damaged
    context.release()
    await displace(spilling)
    assert spilling.part(Spill).stored_pages == 0


@pytest.mark.parametrize(("asks", "replayed"), [(True, 0), (False, 4)])
async def test_a_truncation_to_a_checkpoint_computes_nothing_again(
    asks: bool, replayed: int, tiny_model_directory: Callable[[str], Path]
) -> None:  # P16
    with running(model=str(tiny_model_directory("qwen3_next"))) as engine:
        context = await filled(engine, prompt(1))
        if asks:
            context.checkpoint()
        await logits(context, prompt(4, 3))
        context.truncate(3)
        before = len(engine.events)
        await logits(context, prompt(2, 20))
        ticks = [event for event in engine.events[before:] if isinstance(event, TickCompleted)]
        assert sum(tick.tokens for tick in ticks) == 20 + replayed
        assert [event.replayed_tokens for event in engine.events[before:] if isinstance(event, PassCompleted)] == [
            replayed
        ]
        assert not any(isinstance(event, ContextRestored) for event in engine.events)
        context.release()
        with pytest.raises(ContextReleasedError):
            context.checkpoint()

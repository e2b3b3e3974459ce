"""Adapters as programs use them."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inferlet import Adapter, Context, Logits, Sampler
from pie_mlx.backends import current_backend
from pie_mlx.engine.inspection import adapter_statuses
from pie_mlx.engine.model.adapters import AdapterContent
from pie_mlx.errors import AdapterError, AdapterExistsError, AdapterNotFoundError, InvalidArgumentError
from pie_mlx.events import AdapterChanged, AdapterDestroyed, PassCompleted
from tests.engine.adapters.folders import random_pairs, write_mlx_lm, write_peft
from tests.engine.running import Running, running

Folder = Callable[[int], Path]
NEW_TOKENS = 8


def loaded(engine: Running, folder: Path, name: str = "style") -> Adapter:
    adapter = Adapter.create(engine.model, name)
    adapter.load(folder)
    return adapter


async def written(
    engine: Running, adapter: Adapter | None, seed: int = 1, prompt: int = 30, tokens: int = NEW_TOKENS
) -> list[int]:
    with Context(engine.model) as context:
        context.append(engine.prompt(prompt, seed))
        generator = context.generate(Sampler.argmax(), max_tokens=tokens, stop=[], auto_flush=False, adapter=adapter)
        return await generator.collect_tokens()


async def logits(context: Context, adapter: Adapter | None, token: int = 50) -> bytes:
    forward = context.forward().input([token]).adapter(adapter)
    handle = forward.probe(0, Logits())
    answer = (await forward.execute()).logits(handle)
    assert answer is not None
    return answer


def close(one: bytes, other: bytes) -> bool:
    return np.allclose(np.frombuffer(one, np.float32), np.frombuffer(other, np.float32), atol=1e-3)


def attached(engine: Running) -> list[int]:
    """Tokens attached by each pass so far."""
    return [event.attached_tokens for event in engine.events if isinstance(event, PassCompleted)]


def versions(engine: Running) -> set[tuple[int, int]]:
    return set(engine.core.services.runner.model.adapters.versions)


async def test_eight_adapters_in_one_batch_write_what_each_writes_alone(engine: Running, folder: Folder) -> None:  # T39
    adapters = [None, *(loaded(engine, folder(number), f"a{number}") for number in range(8))]
    alone = [await written(engine, adapter) for adapter in adapters]
    assert len({tuple(tokens) for tokens in alone}) > 4
    assert await asyncio.gather(*(written(engine, adapter) for adapter in adapters)) == alone


async def test_an_adapter_on_one_pass_does_not_show_in_the_next(engine: Running, folder: Folder) -> None:  # T39, F10
    adapter = loaded(engine, folder(1))
    with Context(engine.model) as plain, Context(engine.model) as mixed:
        await plain.append([7, 8]).flush()
        await mixed.append([7, 8]).flush()
        with_it = await logits(mixed, adapter)
        mixed.truncate(1)
        expected = await logits(plain, None)
        assert not close(with_it, expected)
        assert close(await logits(mixed, None), expected)


async def test_what_was_pending_before_a_pass_by_hand_is_computed_without(
    engine: Running, folder: Folder
) -> None:  # F1
    adapter = loaded(engine, folder(1))
    with Context(engine.model) as drained, Context(engine.model) as flushed:
        await flushed.append([7, 8, 9]).flush()
        assert close(await logits(drained.append([7, 8, 9]), adapter), await logits(flushed, adapter))


@pytest.mark.parametrize("format", ["peft", "rslora", "mlx-lm"])
async def test_the_same_matrices_do_the_same_in_every_format(  # A2, A3, T39
    engine: Running, tmp_path: Path, format: str
) -> None:
    pairs = random_pairs(3, rank=4)
    expected = await written(engine, loaded(engine, write_mlx_lm(tmp_path / "a", pairs, scale=2.0), "a"))
    match format:
        case "peft":
            other = write_peft(tmp_path / "b", pairs, alpha=8.0)
        case "rslora":
            other = write_peft(tmp_path / "b", pairs, alpha=4.0, use_rslora=True)
        case _:
            adapter = Adapter.open(engine.model, "a")
            assert adapter is not None
            adapter.save(tmp_path / "b")
            other = tmp_path / "b"
    assert await written(engine, loaded(engine, other, "b")) == expected


async def test_a_new_adapter_changes_nothing(engine: Running) -> None:  # A1
    adapter = Adapter.create(engine.model, "empty")
    assert await written(engine, adapter) == await written(engine, None)


async def test_an_adapter_without_weights_is_not_saved(engine: Running, tmp_path: Path) -> None:  # A1
    adapter = Adapter.create(engine.model, "empty")
    with pytest.raises(AdapterError, match="'empty': it has no weights to save"):
        adapter.save(tmp_path / "a")


async def test_names_are_taken_until_destroyed(engine: Running, folder: Folder) -> None:  # A1
    adapter = loaded(engine, folder(1))
    with pytest.raises(AdapterExistsError, match="style"):
        Adapter.create(engine.model, "style")
    with pytest.raises(AdapterExistsError, match="style"):
        adapter.fork("style")
    adapter.destroy()
    assert Adapter.open(engine.model, "style") is None
    Adapter.create(engine.model, "style")


@pytest.mark.parametrize("name", ["", "x" * 257])
async def test_names_have_a_length(engine: Running, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="characters long"):
        Adapter.create(engine.model, name)


async def test_a_fork_is_independent(engine: Running, folder: Folder) -> None:  # A1
    first = loaded(engine, folder(1))
    second = first.fork("other")
    before = await written(engine, first)
    assert await written(engine, second) == before
    second.load(folder(2))
    assert await written(engine, first) == before
    assert await written(engine, second) != before
    first.destroy()
    assert await written(engine, second) != before


async def test_adapters_outlive_their_program_and_belong_to_its_user(engine: Running, folder: Folder) -> None:  # A1
    with engine.process("ada"):
        expected = await written(engine, loaded(engine, folder(1)))
    with engine.process("ada"):
        again = Adapter.open(engine.model, "style")
        assert again is not None
        state = engine.core.services.adapters.find("ada", again.id).state()
        assert await written(engine, again) == expected
    with engine.process("bob"):
        assert Adapter.open(engine.model, "style") is None
        with pytest.raises(AdapterNotFoundError):
            await written(engine, Adapter(engine.model, state))
        Adapter.create(engine.model, "style")


async def test_use_after_destroy_is_an_error(engine: Running, folder: Folder) -> None:  # A1
    adapter = loaded(engine, folder(1))
    other = Adapter.open(engine.model, "style")
    assert other is not None
    adapter.destroy()
    for use in (other.destroy, lambda: other.fork("x"), lambda: other.load(folder(1))):
        with pytest.raises(AdapterNotFoundError):
            use()
    with pytest.raises(AdapterNotFoundError):
        await written(engine, other)
    assert len(await written(engine, None)) == NEW_TOKENS


async def test_leaving_with_gives_up_the_handle_only(engine: Running, folder: Folder) -> None:  # A1
    with loaded(engine, folder(1)) as adapter:
        expected = await written(engine, adapter)
    with pytest.raises(AdapterNotFoundError, match="closed"):
        await written(engine, adapter)
    again = Adapter.open(engine.model, "style")
    assert again is not None
    assert await written(engine, again) == expected


async def test_loading_and_unloading_disturbs_nobody(engine: Running, folder: Folder) -> None:
    busy = loaded(engine, folder(1), "busy")
    expected = [await written(engine, adapter, tokens=24) for adapter in (busy, None)]
    streams = [asyncio.create_task(written(engine, adapter, tokens=24)) for adapter in (busy, None)]
    for number in range(2, 8):
        other = loaded(engine, folder(number), "other")
        await written(engine, other, tokens=2)
        other.destroy()
    assert await asyncio.gather(*streams) == expected


async def test_passes_in_flight_finish_with_the_weights_they_began_with(engine: Running, folder: Folder) -> None:  # A1
    adapter = loaded(engine, folder(1))
    context, alone = Context(engine.model), Context(engine.model)
    expected = await logits(alone, adapter)
    running_pass = asyncio.create_task(logits(context, adapter))
    await asyncio.sleep(0)
    adapter.destroy()
    assert close(await running_pass, expected)


@pytest.mark.parametrize("change", ["destroy", "load"])
async def test_passes_that_follow_by_themselves_have_the_adapter_as_it_is_then(
    engine: Running, folder: Folder, change: str
) -> None:  # A1
    adapter = loaded(engine, folder(1))
    context = Context(engine.model).append(engine.prompt(30, 1))
    generator = context.generate(Sampler.argmax(), max_tokens=300, stop=[], auto_flush=False, adapter=adapter)
    step = await anext(generator)
    before = len(attached(engine))
    running_passes = asyncio.create_task(step.up_to(300).execute())
    while len(attached(engine)) == before:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    if change == "load":
        adapter.load(folder(2))
        await running_passes
        tokens = engine.store.contexts[context.id].transcript().tokens
        assert {token.adapter_version for token in tokens} == {1, 2}
        return
    adapter.destroy()
    drawn = (await running_passes).tokens
    assert 0 < len(drawn) < 300
    with pytest.raises(AdapterNotFoundError):
        await generator.collect_tokens()
    assert context.seq_len + len(context.buffer()) == 30 + len(drawn)
    assert len(await engine.greedy(context, 2)) == 2


async def test_pages_are_shared_by_what_computed_them(engine: Running, folder: Folder) -> None:  # T9, K1, A4
    one, other = loaded(engine, folder(1), "one"), loaded(engine, folder(2), "other")
    for adapter, expected in ((one, 0), (one, 32), (other, 0), (None, 0), (None, 32), (other, 32)):
        await written(engine, adapter, seed=77, prompt=40, tokens=1)
        assert attached(engine)[-1] == expected
    one.load(folder(3))
    await written(engine, one, seed=77, prompt=40, tokens=1)
    assert attached(engine)[-1] == 0


async def test_a_page_of_pending_and_own_tokens_is_found_again(engine: Running, folder: Folder) -> None:  # K5
    adapter = loaded(engine, folder(1))
    contexts = [Context(engine.model) for _ in range(3)]
    for context, used in zip(contexts, (adapter, adapter, None), strict=True):
        forward = context.append(engine.prompt(10)).forward().input(engine.prompt(30, 1)).adapter(used)
        forward.sample([29], Sampler.argmax())
        await forward.execute()
    assert attached(engine)[-3:] == [0, 32, 0]


@pytest.mark.parametrize("change", ["nothing", "load", "destroy"])
async def test_lost_pages_are_computed_again_with_their_adapter(folder: Folder, change: str) -> None:  # R5, A4
    with running(total_pages=12) as small:
        adapter = loaded(small, folder(1))
        forked = adapter.fork("kept")
        expected = await written(small, forked, prompt=40, tokens=16)
        context = Context(small.model)
        context.append(small.prompt(40, 1))
        first = await _go_on(context, adapter, 8)
        context.suspend()
        with Context(small.model) as other:
            other.inner().reserve_working_pages(12)
        match change:
            case "load":
                adapter.load(folder(2))
            case "destroy":
                adapter.destroy()
            case _:
                pass
        assert first + await _go_on(context, forked, 8) == expected


async def test_a_snapshot_keeps_the_weights_it_was_made_with(folder: Folder) -> None:  # N1, N6, R5
    with running(total_pages=12) as small:
        adapter = loaded(small, folder(1))
        with Context(small.model) as context:
            context.append(small.prompt(40, 1))
            expected = await _go_on(context.fork(), adapter, 4)
            await _go_on(context, adapter, 1)
            context.save("mine")
        adapter.destroy()
        with Context(small.model) as other:
            other.inner().reserve_working_pages(12)
        opened = Context.open(small.model, "mine")
        assert opened is not None
        again = loaded(small, folder(1), "again")
        assert expected[:1] + await _go_on(opened, again, 3) == expected
        opened.release()
        Context.delete(small.model, "mine")
        again.load(folder(2))
        assert len(versions(small)) == 1


async def test_versions_nobody_needs_are_dropped(engine: Running, folder: Folder) -> None:  # R5, A4
    adapter = loaded(engine, folder(1))
    with Context(engine.model) as context:
        await _go_on(context.append([7]), adapter, 2)
        for number in (2, 3, 4):
            adapter.load(folder(number))
        assert versions(engine) == {(adapter.id, 1), (adapter.id, 4)}
    adapter.load(folder(5))
    assert versions(engine) == {(adapter.id, 5)}
    adapter.destroy()
    assert versions(engine) == set()


async def test_a_creation_that_fails_leaves_the_name_free(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # A1, E3
    bank = engine.core.services.runner.model.adapters
    monkeypatch.setattr(bank, "put", lambda version, content: 1 / 0)
    with pytest.raises(Exception, match="zero"):
        Adapter.create(engine.model, "late")
    monkeypatch.undo()
    assert Adapter.open(engine.model, "late") is None
    Adapter.create(engine.model, "late")


async def test_a_change_that_is_cancelled_leaves_nothing_behind(engine: Running) -> None:  # A1, E5
    async def cancelled() -> None:
        began, may_end = threading.Event(), threading.Event()
        adapters = engine.core.services.adapters
        adapter = await adapters.create("tester", "half changed")

        def make(content: AdapterContent) -> AdapterContent:
            began.set()
            may_end.wait()
            return content

        change = asyncio.create_task(adapters.change(adapter, make))
        await asyncio.to_thread(began.wait)
        change.cancel()
        await asyncio.gather(change, return_exceptions=True)
        may_end.set()
        await adapters.destroy(adapter)

    before = versions(engine)
    asyncio.run_coroutine_threadsafe(cancelled(), engine.core.loop).result()
    assert versions(engine) == before


async def test_running_ahead_keeps_the_adapter(folder: Folder) -> None:  # G14, Q10
    results = []
    for ahead in (False, True):
        with running(runs_ahead=ahead) as engine:
            adapters = [loaded(engine, folder(1), "a"), None]
            results.append(await asyncio.gather(*(written(engine, one, tokens=16) for one in adapters)))
    assert results[0] == results[1]


async def test_chunks_have_the_adapter_of_the_whole(engine: Running, folder: Folder) -> None:  # Q10
    expected = await written(engine, loaded(engine, folder(1)), prompt=100)
    with running(prefill_chunk_tokens=16) as chunked:
        assert await written(chunked, loaded(chunked, folder(1)), prompt=100) == expected


async def test_drafts_are_verified_with_the_adapter(engine: Running, folder: Folder) -> None:  # V2
    adapter, written_by = loaded(engine, folder(1)), []
    for speculates in (False, True):
        with Context(engine.model) as context:
            generator = context.append(engine.prompt(12) * 3).generate(
                Sampler.argmax(),
                max_tokens=24,
                stop=[],
                auto_flush=False,
                adapter=adapter,
                system_speculation=speculates,
            )
            written_by.append(await generator.collect_tokens())
    assert written_by[0] == written_by[1]


async def test_there_is_a_limit(folder: Folder) -> None:
    with running(max_adapters=2) as engine:
        Adapter.create(engine.model, "a")
        second = Adapter.create(engine.model, "b")
        for make in (lambda: Adapter.create(engine.model, "c"), lambda: second.fork("c")):
            with pytest.raises(AdapterError, match="the most allowed"):
                make()
        second.destroy()
        Adapter.create(engine.model, "c")


async def test_changes_are_events_with_the_memory_they_take(engine: Running, folder: Folder) -> None:
    adapter = loaded(engine, folder(1))
    adapter.destroy()
    changed, gone = [one for one in engine.events if isinstance(one, AdapterChanged | AdapterDestroyed)][-2:]
    rank, elements = 3, sum(width + out for width, out in _SIZES) * 5
    assert isinstance(changed, AdapterChanged)
    assert (changed.username, changed.name, changed.version) == ("tester", "style", 1)
    assert changed.size_bytes == adapter.size_bytes == elements * rank * 4
    assert gone == AdapterDestroyed(changed.adapter, "tester", "style")


async def test_what_adapters_take_is_told(engine: Running, folder: Folder) -> None:
    adapter = loaded(engine, folder(1))
    (told,) = await engine.core.consult(adapter_statuses)
    assert (told.username, told.name, told.version, told.evolves) == ("tester", "style", 1, False)
    assert told.size_bytes == adapter.size_bytes
    with Context(engine.model) as context:
        await _go_on(context.append([7]), adapter, 1)
        adapter.load(folder(5))
        assert engine.core.services.adapters.size_bytes == 2 * adapter.size_bytes


_SIZES = [(192, 192), (192, 64), (192, 64), (192, 192), (192, 512), (192, 512), (512, 192)]


async def _go_on(context: Context, adapter: Adapter | None, tokens: int) -> list[int]:
    generator = context.generate(Sampler.argmax(), max_tokens=tokens, stop=[], auto_flush=False, adapter=adapter)
    return await generator.collect_tokens()


async def test_a_user_with_many_adapters_keeps_no_other_from_making_one(folder: Folder) -> None:
    with running(max_adapters=2) as engine:
        for name in ("a", "b"):
            Adapter.create(engine.model, name)
        with engine.process("another"):
            loaded(engine, folder(1), "a")


async def test_a_user_fills_no_more_than_half_of_the_memory_that_others_leave(
    engine: Running, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = folder(1)
    (file,) = weights.glob("*.safetensors")
    held = loaded(engine, weights, "first").size_bytes
    left = 2 * file.stat().st_size + held // 2
    monkeypatch.setattr("pie_mlx.engine.model.adapters.bank.mx.get_active_memory", lambda: 0)
    monkeypatch.setattr(current_backend(), "memory_bytes", lambda: left)
    with pytest.raises(AdapterError, match="a user may take half"):
        loaded(engine, weights, "second")
    with engine.process("another"):
        loaded(engine, weights)


async def test_forks_that_share_their_weights_are_counted_once(engine: Running, folder: Folder) -> None:
    adapter = loaded(engine, folder(1))
    adapter.fork("a copy")
    assert engine.core.services.adapters.bytes_of("tester") == adapter.size_bytes
    adapter.destroy()
    assert engine.core.services.adapters.bytes_of("tester") == adapter.size_bytes

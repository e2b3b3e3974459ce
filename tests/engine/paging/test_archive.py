"""Snapshots that outlive the engine (N7)."""

import asyncio
import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

import pytest

import pie_mlx
from inferlet import Adapter, Context, Sampler
from pie_mlx.calls import SaveSnapshot
from pie_mlx.engine.kv import Transcript
from pie_mlx.engine.kv.snapshot_limits import SnapshotLimits
from pie_mlx.engine.paging.archive import SnapshotNotes, signature_of
from pie_mlx.errors import (
    EngineStoppedError,
    InvalidArgumentError,
    SnapshotError,
    SnapshotIncompatibleError,
    SnapshotNotFoundError,
)
from tests.engine.running import Running, running

pytestmark = pytest.mark.usefixtures("random_model")

EMBEDDED = Path(pie_mlx.__file__).parent / "engine" / "model" / "embedded" / "pie-tiny"
Start = Callable[..., AbstractContextManager[Running]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts an engine whose snapshots are where those of the one before were."""
    return partial(running, snapshot_directory=str(tmp_path / "snapshots"), total_pages=64)


@pytest.fixture
def files(tmp_path: Path) -> Callable[[], list[Path]]:
    return lambda: list((tmp_path / "snapshots").glob("*"))


@pytest.fixture
def engine(start: Start) -> Iterator[Running]:
    with start() as engine:
        yield engine


async def filled(engine: Running, tokens: int = 37, seed: int = 1) -> Context:
    context = Context(engine.model)
    context.append(engine.prompt(tokens, seed))
    await context.flush()
    return context


def found(context: Context | None) -> Context:
    assert context is not None
    return context


@pytest.mark.parametrize("later", [{}, {"page_size": 32}, {"page_size": 8}], ids=["same", "larger", "smaller"])
async def test_a_conversation_goes_on_in_the_next_engine(start: Start, later: dict[str, int]) -> None:  # N7
    with start() as engine:
        context = await filled(engine, 30)
        context.append(engine.prompt(7, 2))
        context.save("talk", persist=True)
        expected = await engine.greedy(context, 8)
    with start(**later) as engine:
        opened = found(Context.open(engine.model, "talk"))
        assert opened.seq_len == 30
        assert opened.buffer() == engine.prompt(7, 2)
        assert await engine.greedy(opened, 8) == expected


async def test_a_seeded_draw_goes_on_in_the_next_engine(start: Start) -> None:  # N7, L6
    sampler = Sampler.multinomial(1.0, seed=5)

    async def draw(context: Context, tokens: int) -> list[int]:
        context.append([50])
        return await context.generate(sampler, max_tokens=tokens, stop=[], auto_flush=False).collect_tokens()

    with start() as engine:
        context = await filled(engine)
        await draw(context, 6)
        context.save("drawn", persist=True)
        expected = await draw(context, 8)
    with start() as engine:
        assert await draw(found(Context.open(engine.model, "drawn")), 8) == expected


async def test_an_attention_mask_is_kept(start: Start) -> None:  # N7
    async def next_token(context: Context) -> list[int]:
        return await context.generate(Sampler.argmax(), max_tokens=4, stop=[]).collect_tokens()

    with start() as engine:
        context = Context(engine.model)
        forward = context.forward().input(engine.prompt(20, 3))
        forward.attention_mask([[0, index + 1] if index < 10 else [5, index - 4] for index in range(20)])
        await forward.execute()
        context.append(engine.prompt(1, 4))
        context.save("masked", persist=True)
        expected = await next_token(context)
    with start() as engine:
        assert await next_token(found(Context.open(engine.model, "masked"))) == expected


async def test_what_is_off_pool_is_kept_as_well(start: Start) -> None:  # N2, N7
    with start() as engine:
        context = await filled(engine)
        context.append([50]).suspend()
        context.save("talk", persist=True)
        expected = await engine.greedy(context, 8)
    with start() as engine:
        assert await engine.greedy(found(Context.open(engine.model, "talk")), 8) == expected


async def test_without_persist_nothing_is_written(engine: Running, files: Callable[[], list[Path]]) -> None:  # N7
    context = await filled(engine)
    context.save("talk")
    context.snapshot()
    assert files() == []


async def test_the_configuration_decides_for_programs_that_do_not(
    start: Start, files: Callable[[], list[Path]]
) -> None:  # N7
    with start(persist_snapshots=True) as engine:
        context = await filled(engine)
        context.save("kept")
        context.save("not kept", persist=False)
        context.snapshot()
        assert len(files()) == 1
    with start() as engine:
        assert Context.open(engine.model, "kept") is not None
        assert Context.open(engine.model, "not kept") is None


async def test_a_later_save_replaces_what_is_on_disk(start: Start) -> None:  # N2
    with start() as engine:
        (await filled(engine, 20)).save("talk", persist=True)
        (await filled(engine, 30)).save("talk", persist=True)
    with start() as engine:
        assert found(Context.open(engine.model, "talk")).seq_len == 30
        (await filled(engine, 10)).save("talk")
        assert found(Context.open(engine.model, "talk")).seq_len == 10
    with start() as engine:
        assert Context.open(engine.model, "talk") is None


async def test_what_is_taken_or_deleted_is_gone_for_all_engines(start: Start) -> None:  # N4
    with start() as engine:
        for name in ("taken", "deleted", "deleted later"):
            (await filled(engine)).save(name, persist=True)
        assert Context.take(engine.model, "taken") is not None
        Context.delete(engine.model, "deleted")
        assert Context.open(engine.model, "deleted") is None
    with start() as engine:
        assert Context.take(engine.model, "taken") is None
        with pytest.raises(SnapshotNotFoundError):
            Context.delete(engine.model, "deleted")
        Context.delete(engine.model, "deleted later")
        assert Context.open(engine.model, "deleted later") is None


async def test_of_two_engines_one_takes_it(start: Start) -> None:  # N4
    with start() as engine:
        (await filled(engine)).save("talk", persist=True)
    with start() as first:
        assert Context.open(first.model, "talk") is not None
        with start() as second:
            assert Context.take(second.model, "talk") is not None
            assert Context.take(second.model, "talk") is None


async def test_what_another_engine_takes_while_it_is_read_is_not_taken_twice(
    start: Start, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:  # N4
    with start() as engine:
        (await filled(engine)).save("talk", persist=True)
    with start() as engine:
        archive = engine.core.services.archive
        read = archive.read

        async def outrun(user: str, name: str) -> tuple[Transcript, SnapshotNotes] | None:
            found = await read(user, name)
            files()[0].unlink()
            return found

        monkeypatch.setattr(archive, "read", outrun)
        assert Context.take(engine.model, "talk") is None
        monkeypatch.undo()
        assert Context.open(engine.model, "talk") is None


async def test_what_is_saved_while_an_old_one_is_read_stays(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    # N2
    with start() as engine:
        (await filled(engine, 20)).save("talk", persist=True)
    with start() as engine:
        archive, context = engine.core.services.archive, await filled(engine, 30)
        read, reading, saving = archive.read, threading.Event(), threading.Thread(target=context.save, args=["talk"])

        async def slowly(user: str, name: str) -> tuple[Transcript, SnapshotNotes] | None:
            found = await read(user, name)
            reading.set()
            while not any(isinstance(call, SaveSnapshot) for call in calls_of(engine)):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
            for _ in range(3):  # what the save may do now is done: the disk answers one after the other
                await asyncio.sleep(0)
                await read("nobody", "nothing")
            return found

        monkeypatch.setattr(archive, "read", slowly)
        opening = asyncio.create_task(asyncio.to_thread(Context.open, engine.model, "talk"))
        await asyncio.to_thread(reading.wait)
        saving.start()
        assert found(await opening).seq_len == 20
        await asyncio.to_thread(saving.join)
        assert found(Context.open(engine.model, "talk")).seq_len == 30


def calls_of(engine: Running) -> list[object]:
    """What the program has asked and was not answered yet."""
    return list(engine.core.services.processes[engine.host.process_id].calls.values())


async def test_a_program_that_ends_while_it_saves_leaves_the_same_on_disk_and_in_memory(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:  # N2, E5
    writing, may_write, fsync = threading.Event(), threading.Event(), os.fsync

    def slow(descriptor: int) -> None:
        writing.set()
        may_write.wait()
        fsync(descriptor)

    with start() as engine:
        (await filled(engine, 20)).save("talk", persist=True)
        with engine.process() as host:
            context = await filled(engine, 30)
            process = engine.core.services.processes[host.process_id]
            monkeypatch.setattr(os, "fsync", slow)
            saving = asyncio.create_task(asyncio.to_thread(save_or_end, context))
            await asyncio.to_thread(writing.wait)
            closing = asyncio.create_task(engine.core.close_process(host.process_id))
            while not process.closed:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
            await engine.core.page_usage()
            may_write.set()
            await asyncio.gather(saving, closing)
        length = found(Context.open(engine.model, "talk")).seq_len
    with start() as engine:
        assert found(Context.open(engine.model, "talk")).seq_len == length


def save_or_end(context: Context) -> None:
    with suppress(EngineStoppedError):
        context.save("talk", persist=True)


async def test_it_can_be_opened_often(start: Start) -> None:  # N4
    with start() as engine:
        (await filled(engine)).save("talk", persist=True)
    with start() as engine:
        contexts = [found(Context.open(engine.model, "talk")) for _ in range(3)]
        first, *others = [await engine.greedy(context.append([50]), 6) for context in contexts]
        assert all(text == first for text in others)


async def test_who_keeps_too_much_opens_it_from_the_disk_each_time(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:  # N4
    with start() as engine:
        (await filled(engine)).save("a", persist=True)
    with start() as engine:
        monkeypatch.setattr(engine.store.snapshots, "limits", SnapshotLimits(user_snapshots=1))
        Context(engine.model).save("b")
        for _ in range(2):
            assert found(Context.open(engine.model, "a")).seq_len == 37
            assert engine.store.snapshots.find("tester", "a") is None
        found(Context.take(engine.model, "a"))
        assert Context.open(engine.model, "a") is None


async def test_what_there_is_no_room_for_is_not_on_disk_either(
    engine: Running, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:  # E3, N2
    monkeypatch.setattr(engine.store.snapshots, "limits", SnapshotLimits(user_snapshots=0))
    with pytest.raises(SnapshotError, match="a user may keep 0"):
        (await filled(engine)).save("a", persist=True)
    assert files() == []


async def test_users_do_not_see_each_others_files(start: Start) -> None:  # N5
    with start() as engine:
        (await filled(engine)).save("talk", persist=True)
    with start() as engine, engine.process("somebody else"):
        assert Context.open(engine.model, "talk") is None


async def test_nobody_else_may_read_the_files(engine: Running, tmp_path: Path) -> None:
    (await filled(engine)).save("talk", persist=True)
    (file,) = (tmp_path / "snapshots").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_another_model_is_told(start: Start) -> None:  # N7
    with start(model="pie-tiny") as engine:
        (await filled(engine)).save("talk", persist=True)
    with start(dummy=True, name="other") as engine:
        with pytest.raises(SnapshotIncompatibleError, match="with the model pie-tiny"):
            Context.open(engine.model, "talk")
        (await filled(engine, 5)).save("talk", persist=True)
    with start(dummy=True, name="other") as engine:
        assert found(Context.open(engine.model, "talk")).seq_len == 5
    with start(model="pie-tiny") as engine:
        assert found(Context.open(engine.model, "talk")).seq_len == 37


async def test_another_tokenizer_is_told(start: Start, tmp_path: Path) -> None:  # N7
    with start(model="pie-tiny") as engine:
        (await filled(engine)).save("talk", persist=True)
    other = shutil.copytree(EMBEDDED, tmp_path / "model")
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["!"], vocabulary["?"] = vocabulary["?"], vocabulary["!"]
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    with (
        start(model=str(other), name="pie-tiny") as engine,
        pytest.raises(SnapshotIncompatibleError, match="another model or tokenizer named pie-tiny"),
    ):
        Context.open(engine.model, "talk")


async def test_a_directory_is_the_same_model_however_its_path_is_written(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # N7
    path = shutil.copytree(EMBEDDED, tmp_path / "model")
    with start(model=str(path), name=str(path)) as engine:
        (await filled(engine)).save("talk", persist=True)
    monkeypatch.chdir(tmp_path)
    with start(model="./model", name="./model") as engine:
        assert found(Context.open(engine.model, "talk")).seq_len == 37


async def test_a_damaged_file_is_told_down_to_one_bit(start: Start, files: Callable[[], list[Path]]) -> None:
    with start() as engine:
        (await filled(engine)).save("talk", persist=True)
    (file,) = files()
    whole = file.read_bytes()
    changed = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in range(0, len(whole), 23)]
    with start() as engine:
        for content in (b"", b"\x81", b"no snapshot", *changed):
            file.write_bytes(content)
            with pytest.raises(SnapshotIncompatibleError, match="damaged"):
                Context.open(engine.model, "talk")
        Context.delete(engine.model, "talk")
        assert Context.open(engine.model, "talk") is None


async def test_what_an_adapter_computed_is_refused(engine: Running) -> None:  # N7
    adapter = Adapter.create(engine.model, "style")
    context = Context(engine.model)
    await context.forward().input(engine.prompt(20, 6)).adapter(adapter).execute()
    with pytest.raises(SnapshotIncompatibleError, match="adapter"):
        context.save("talk", persist=True)
    assert Context.open(engine.model, "talk") is None


async def test_a_save_that_the_disk_refuses_keeps_the_old_one(
    engine: Running, tmp_path: Path, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:  # N2
    (await filled(engine, 20)).save("talk", persist=True)
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(SnapshotError, match="No space left"):
        (await filled(engine, 30)).save("talk", persist=True)
    assert found(Context.open(engine.model, "talk")).seq_len == 20
    assert len(files()) == 1


def refuse(descriptor: int) -> None:
    raise OSError(28, "No space left on device", f"file {descriptor}")


async def test_an_engine_without_a_directory_says_so() -> None:
    with running(total_pages=64) as engine:
        context = await filled(engine)
        with pytest.raises(InvalidArgumentError, match="no directory"):
            context.save("talk", persist=True)


def test_weights_do_not_matter_sizes_and_tokenizers_do() -> None:  # N7
    config = {"model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100}
    assert signature_of(config, "{}") == signature_of({**config, "transformers_version": "5"}, "{}")
    others = [signature_of({**config, "hidden_size": 128}, "{}"), signature_of(config, "[]")]
    assert signature_of(config, "{}") not in others

"""KV that a killed engine has left on disk, as it lies there and as disks and people leave it: tokens stay the same.

Of a model with attention only, a hybrid, and one with quantised pages.
"""

import asyncio
import itertools
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from inferlet import Context
from pie_mlx.engine.paging.disk import page_files
from pie_mlx.engine.paging.disk.batch_file import SUFFIX, Header, read_header
from pie_mlx.engine.settings import DiskCacheSettings
from tests.engine.behaviour.test_disk_cache import emptied, files, loaded, saved
from tests.engine.running import Running, engine_alone, finished, in_context, running, small_prompt

TOKENS, FIRST_TURN, PAGES, PAGES_OF_A_FILE = 200, 96, 12, 4
KINDS = {"attention": ("pie-tiny", "auto"), "hybrid": ("lfm2", "auto"), "quantised": ("pie-tiny", "int8")}

KILLED = """
import os, signal, sys
from contextlib import ExitStack
from pie_mlx.engine.paging.disk import batch_writer, directory
from tests.engine.behaviour.test_disk_cache import saved
from tests.engine.behaviour.test_killed_engines import PAGES_OF_A_FILE, settings_of, talk
from tests.engine.running import engine_alone, finished, in_context

def half(descriptor, data):
    os.write(descriptor, memoryview(data)[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)

batch_writer.RECORDS = PAGES_OF_A_FILE
with ExitStack() as running:
    for kind, model in zip(sys.argv[2::2], sys.argv[3::2]):
        engine = running.enter_context(engine_alone(**settings_of(kind, model, sys.argv[1])))
        finished(in_context(engine, talk(engine)))
        finished(saved(engine))
        finished(in_context(engine, talk(engine, seed=2)))
    directory._write_all = half
    finished(saved(engine))
"""


def settings_of(kind: str, model: str, root: Path | str) -> dict[str, object]:
    return {
        "model": model,
        "kv_dtype": KINDS[kind][1],
        "total_pages": 64,
        "disk_cache": DiskCacheSettings(str(Path(root) / kind)),
    }


async def talk(engine: Running, seed: int = 1, count: int = 8) -> list[int]:
    """The greedy text after two turns in a context of its own. A state is kept after each."""
    prompt = small_prompt(TOKENS, seed)
    with Context(engine.model) as context:
        await context.append(prompt[:FIRST_TURN]).flush()
        return await engine.greedy(context.append(prompt[FIRST_TURN:]), count)


@pytest.fixture(scope="module")
def models(tiny_model_directory: Callable[[str], Path]) -> dict[str, str]:
    return {kind: name if name == "pie-tiny" else str(tiny_model_directory(name)) for kind, (name, _) in KINDS.items()}


@pytest.fixture(scope="module")
def killed(models: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What engines have left that were killed in the middle of a write."""
    root = tmp_path_factory.mktemp("killed")
    words = [sys.executable, "-c", KILLED, str(root), *itertools.chain.from_iterable(models.items())]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return root


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def expected(kind: str, models: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """The text without a break."""
    with engine_alone(**settings_of(kind, models[kind], "") | {"disk_cache": None}) as engine:
        return finished(in_context(engine, talk(engine)))


@pytest.fixture
def root(killed: Path, kind: str, tmp_path: Path) -> Path:
    """A copy of what is left of a model."""
    return Path(shutil.copytree(killed / kind, tmp_path / kind))


@pytest.fixture
def start(kind: str, models: dict[str, str], root: Path) -> Callable[[], AbstractContextManager[Running]]:
    return partial(running, **settings_of(kind, models[kind], root.parent))


Start = Callable[[], AbstractContextManager[Running]]


async def test_what_was_written_is_read_and_what_was_half_written_goes(
    start: Start, root: Path, expected: list[int], kind: str
) -> None:
    unfinished = [file for file in files(root) if file.suffix != SUFFIX]
    assert bool(unfinished) == (kind == list(KINDS)[-1])
    with start() as engine:
        assert not [file for file in files(root) if file.suffix != SUFFIX]
        assert await talk(engine) == expected
        assert loaded(engine) == PAGES


async def test_with_half_of_the_files_deleted_the_rest_is_read(start: Start, root: Path, expected: list[int]) -> None:
    kept = [file for file in files(root) if file.suffix == SUFFIX]
    assert len(kept) >= PAGES // PAGES_OF_A_FILE
    for file in kept[len(kept) // 2 :]:
        file.unlink()
    with start() as engine:
        assert await talk(engine) == expected
        assert 0 < loaded(engine) < PAGES


def places_of(header: Header, start: int) -> Iterator[int]:
    """Bytes of a file: some of the header, and one of each record, which begin at `start`: of its length, its tokens,
    and the middle and end of its content."""
    yield from (0, 5, *range(8, start, start // 4))
    for part, at in enumerate(header.records.values()):
        yield (at.offset, at.offset + 4, at.offset + at.size // 2, at.end - 1)[part % 4]


@pytest.fixture
def always_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A miss looks at the directory, however long ago the last one did."""
    monkeypatch.setattr(page_files, "LOOK_SECONDS", 0.0)


@pytest.mark.usefixtures("always_looks")
async def test_a_flipped_bit_anywhere_changes_no_token(start: Start, root: Path, expected: list[int]) -> None:
    whole = {file.name: file.read_bytes() for file in files(root) if file.suffix == SUFFIX}
    (folder,) = {file.parent for file in files(root)}
    _, second, *_ = whole  # the first begins with the page on which the context ended
    header = read_header(folder / second)
    assert header is not None
    start_of_records = min(at.offset for at in header.records.values())
    places = places_of(header, start_of_records)
    with start() as engine:
        for number, place in enumerate([None, *places, None]):
            await only_on_disk(engine, folder, {f"{number:03}{name}": text for name, text in whole.items()})
            if place is not None:
                flip(folder / f"{number:03}{second}", place)
            await look(engine)
            before = loaded(engine)
            assert await talk(engine, count=2) == expected[:2]
            if place is None or place >= start_of_records:
                assert (loaded(engine) - before == PAGES) == (place is None)


def flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1 << place % 8
    file.write_bytes(content)


async def only_on_disk(engine: Running, folder: Path, content: dict[str, bytes]) -> None:
    """Nothing is in memory, and these files are in the folder."""
    await saved(engine)  # else they would be written by and by
    await emptied(engine)
    for file in files(folder.parent):
        file.unlink()
    await look(engine)
    for name, text in content.items():
        (folder / name).write_bytes(text)


async def look(engine: Running) -> None:
    """Have the engine see what is in the folder."""
    disk = engine.core.services.disk
    assert disk is not None
    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(disk.look(), engine.core.loop))

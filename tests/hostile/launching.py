"""Hostile programs launched by a client that stays connected."""

import contextlib
from pathlib import Path

from pie_mlx.client import connect
from pie_mlx.events import ProcessFailed, ProcessMessage
from pie_mlx.runtime.store.packing import pack_module
from tests.hostile.conftest import LANGUAGES

PROGRAMS = Path(__file__).parent / "programs"
MANIFEST = '[package]\nname = "{name}"\nversion = "1.0.0"\n'


class Stranger:
    """A user of the engine who uploads what he likes."""

    def __init__(self, client, language):
        self._client, self._language = client, language
        self._uploaded = set()

    async def launch(self, name, /, **input):
        """A process of the program `programs/<language>/<name>`."""
        path = PROGRAMS / self._language / f"{name}.{LANGUAGES[self._language]}"
        return await self.launch_file(path, **input)

    async def launch_file(self, path, /, **input):
        manifest = MANIFEST.format(name=path.stem.replace("_", "-"))
        if path not in self._uploaded:
            data = path.read_bytes()
            payload = data if path.suffix == ".py" else pack_module(data, manifest, f"main{path.suffix}")
            await self._client.install(payload, manifest, keep=False)
            self._uploaded.add(path)
        return await self._client.launch(f"{path.stem.replace('_', '-')}@1.0.0", input)


@contextlib.asynccontextmanager
async def stranger(target, language, name="mallory"):
    async with await connect(target.url, username=name) as client:
        yield Stranger(client, language)


async def ending(process):
    """The last event of a process."""
    async for event, _ in process.events():
        last = event
    return last


async def failure(process):
    """Type and text of the error that ended a process; fails if it returned."""
    last = await ending(process)
    assert isinstance(last, ProcessFailed), last
    return last.error_type, last.message


async def message(process):
    """The first message of a process."""
    async for event, _ in process.events():
        if isinstance(event, ProcessMessage):
            return event.text
    raise AssertionError("no message")

"""A server on a thread of its own, as clients in other processes find it."""

import asyncio
import threading
from functools import partial
from pathlib import Path

from pie_mlx.runtime.engine import Engine
from pie_mlx.server import Server, ServerSettings

MANIFEST = '[package]\nname = "{name}"\nversion = "{version}"\n'


def dummy_engine(on_event, resolve, **options):
    given = {"dummy": True, "total_pages": 256, "seed": 1, "name": "dummy", **options}
    return Engine(on_event=on_event, resolve=resolve, **given)


class RunningServer:
    """Started by `start`, ended by `stop`; everything of it lives on its own loop."""

    def __init__(
        self,
        home,
        settings=None,
        *,
        keys=None,
        limits=None,
        announces=True,
        source="",
        others=None,
        engine=dummy_engine,
        model="dummy",
        **engine_options,
    ):
        self.home = Path(home)
        self.settings = settings or ServerSettings(port=0)
        make = partial(Server, self.settings, partial(engine, **engine_options), home=self.home, model=model)
        self._make = partial(make, keys=keys, limits=limits, announces=announces, source=source, others=others)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self.failure = None

    def start(self):
        self._thread.start()
        self._ready.wait()
        if self.failure is not None:
            raise self.failure
        return self

    def stop(self):
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()

    def call(self, coroutine):
        """Runs something on the server's loop and waits for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    @property
    def url(self):
        return self.server.url

    @property
    def http(self):
        return self.url.replace("ws://", "http://")

    async def _main(self):
        self.loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with self._make() as self.server:
                self._ready.set()
                await self._ended.wait()
        except BaseException as error:
            self.failure = error
            self._ready.set()


def write_program(folder, name, source, version="0.1.0", more=""):
    """A file and its manifest, as clients upload them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.py").write_text(source)
    (folder / "Pie.toml").write_text(MANIFEST.format(name=name, version=version) + more)
    return folder / "main.py", folder / "Pie.toml"

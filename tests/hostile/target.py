"""The engine under attack, and a watch on how it bears it."""

import contextlib
import os
import threading
import time
import urllib.error
import urllib.request

import psutil

from tests.serving import Serving

HEALTH_SECONDS = 0.5
"""How long /health may take under any attack."""
_PROBE_INTERVAL_SECONDS = 0.02


class Health:
    """Asks /health all the time on a thread of its own."""

    def __init__(self, http, process_id):
        self._url = f"{http}/health"
        self._process = psutil.Process(process_id)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.worst_seconds = 0.0
        self.failures = []
        self.resident_bytes = self._process.memory_info().rss
        self.peak_resident_bytes = self.resident_bytes

    @property
    def growth_bytes(self):
        """How far the engine's memory rose above what it had at the start."""
        return self.peak_resident_bytes - self.resident_bytes

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._over.set()
        self._thread.join()

    def _watch(self):
        while not self._over.wait(_PROBE_INTERVAL_SECONDS):
            begun = time.monotonic()
            try:
                with urllib.request.urlopen(self._url, timeout=30) as answer:
                    answer.read()
            except (urllib.error.URLError, OSError) as error:
                self.failures.append(repr(error))
            self.worst_seconds = max(self.worst_seconds, time.monotonic() - begun)
            self.peak_resident_bytes = max(self.peak_resident_bytes, self._process.memory_info().rss)


class Target(Serving):
    """A running `pie serve` with a required sandbox."""

    def __init__(self, home, *flags, config="", model=("--dummy",)):
        home.mkdir(mode=0o700, exist_ok=True)
        file = home / "hostile.toml"
        file.write_text(config or '[runtime]\nsandbox = "required"\n')
        super().__init__(home, "--port", "0", "--config", file, *flags, model=model)
        self.info = self.ready()
        self.url = self.info["url"]
        self.http = self.url.replace("ws://", "http://").partition("/v1")[0]

    @contextlib.contextmanager
    def stays_healthy(self, growth_bytes=None):
        """Checks that /health answers quickly during all of the block, and that the engine's memory grows no further
        than `growth_bytes`."""
        with Health(self.http, self.child.pid) as health:
            yield health
        assert health.failures == []
        assert health.worst_seconds <= HEALTH_SECONDS
        if growth_bytes is not None:
            assert health.growth_bytes <= growth_bytes

    def clean_up(self):
        """Ends it, and checks that nothing that was sent to it was an error of its own."""
        said, messages = b"", self.child.stderr.fileno()
        os.set_blocking(messages, False)
        with contextlib.suppress(BlockingIOError):
            said = os.read(messages, 1 << 20)
        super().clean_up()
        assert b"Exception in callback" not in said, said.decode()

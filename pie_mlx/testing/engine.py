"""An engine on a thread of its own, for tests that are plain functions."""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from pie_mlx.engine.model.networks.scripted_network import ScriptedNetwork
from pie_mlx.engine.services import Services
from pie_mlx.events import ProcessEvent, ProcessOutput
from pie_mlx.runtime.engine import Engine, Launchable
from pie_mlx.runtime.execution.outcome import Failed
from pie_mlx.runtime.recording.file import read_recording
from pie_mlx.runtime.recording.recorder import Recorder
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.testing.result import Result, result_of
from pie_mlx.testing.scripts import Answers, Script, as_function

T = TypeVar("T")


class TestEngine:
    """Runs programs one at a time, each to its end; paths in workers, functions in this interpreter.

    `settings` are those of `Engine`. With `scripted` the model says what the script of each run says.
    """

    __test__ = False

    def __init__(self, *, scripted: bool = False, **settings: Any) -> None:
        self._scripted = scripted
        if scripted:
            settings["script"] = as_function(())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pie-test-engine", daemon=True)
        workers = WorkerSettings(same_hashes=True, warm_workers=1)
        given: dict[str, Any] = {"isolation": "process", "workers": workers, "total_pages": 512, "seed": 1, **settings}
        self.engine = Engine(**given)

    def __enter__(self) -> Self:
        self._thread.start()
        self.wait_for(self.engine.__aenter__())
        return self

    def __exit__(self, *raised: object) -> None:
        self.wait_for(self.engine.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def run(
        self,
        program: Launchable,
        input: Any = None,
        *,
        messages: Sequence[str | bytes] = (),
        script: Script | None = None,
        record: Path | None = None,
        check: bool = True,
        **options: Any,
    ) -> Result:
        """Run a program to its end; `messages` are what its client sends. `record` keeps its recording.

        `options` are those of `Engine.launch`. Raises what ended the program, unless `check` is False, and what the
        script raised.
        """
        noted = _Noted(as_function(script if script is not None else ()))
        if self._scripted:
            self.wait_for(self.engine.consult(partial(_follow, noted)))
        with tempfile.TemporaryDirectory() as folder:
            path = record or Path(folder) / "run.pie"
            result = self.wait_for(self._run(program, input, messages, path, options))
        if noted.failure is not None:
            raise noted.failure
        if check and result.error is not None:
            raise result.error
        return result

    async def _run(
        self, program: Launchable, input: Any, messages: Sequence[str | bytes], path: Path, options: dict[str, Any]
    ) -> Result:
        events: list[ProcessEvent] = []
        recorder = Recorder(path, "scripted" if self._scripted else "model", warn=print)
        try:
            process = await self.engine.launch(
                program, input, on_event=events.append, capture_output=True, recorder=recorder, **options
            )
            for message in messages:
                process.send_file(message) if isinstance(message, bytes) else process.send(message)
            process.close_session()
            outcome = await process.outcome()
        finally:
            recorder.close()
        output = "".join(event.text for event in events if isinstance(event, ProcessOutput))
        error = outcome.error if isinstance(outcome, Failed) else None
        value = None if isinstance(outcome, Failed) else outcome.decoded()
        return result_of(read_recording(path), value, output, events, error=error)


class _Noted:
    """A script whose failure is kept: the program gets it as that of a batch."""

    def __init__(self, script: Callable[[str], Answers]) -> None:
        self.failure: Exception | None = None
        self._script = script

    def __call__(self, prompt: str) -> Answers:
        try:
            return self._script(prompt)
        except Exception as error:
            self.failure = error
            raise


def _follow(script: Callable[[str], Answers], services: Services) -> None:
    """While nothing runs: the model's thread reads the script."""
    network = services.runner.model.network
    if isinstance(network, ScriptedNetwork):
        network.reader.use(script)

"""Calls of the right form with values nobody expects, answered by an engine as if a worker had sent them."""

import asyncio
import threading

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferlet import Context, Model, runtime
from inferlet._calls.host import current_host
from pie_mlx import Engine, calls
from pie_mlx.errors import PieError
from pie_mlx.runtime.worker.frames.messages import AnyCall, CallFrame, pack_answer
from tests.fuzz.targets import worker_frame
from tests.fuzz.values import almost, texts

KINDS = AnyCall.__args__
WAITING = (calls.AwaitBroadcast, calls.AwaitChild, calls.AwaitIncoming, calls.AwaitMessage, calls.Push)
"""Calls that may wait for others for as long as they like."""
PATIENCE_SECONDS = 20.0
"""A call that waits for nobody and takes so long has got stuck."""


class Running:
    """An engine on a loop of its own."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._engine = Engine(dummy=True, total_pages=64, seed=1, name="dummy")
        self._wait(self._engine.__aenter__())

    def run(self, main):
        return self._wait(self._engine.run(main))

    def stop(self):
        self._wait(self._engine.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@pytest.fixture(scope="module")
def engine():
    running = Running()
    yield running
    running.stop()


def requests():
    """Calls as a worker's frames carry them."""
    sent = st.one_of(*map(almost, KINDS)) | st.fixed_dictionaries({"call": texts})
    return sent.map(lambda call: msgspec.msgpack.encode(["request", 1, call]))


@given(st.lists(requests(), max_size=5))
def test_a_call_is_answered_or_refused(engine, sent):
    messages = [frame.message for data in sent for frame in worker_frame(data) if isinstance(frame, CallFrame)]

    async def main(input):
        with Context(Model.load(runtime.models()[0])) as context:
            context.append(range(20))
            await context.flush()
            for message in messages:
                await answered(message)

    engine.run(main)


async def answered(message):
    """Fails for an answer that no frame carries, for an error that is not of ours, and for none at all."""
    waits = isinstance(message, WAITING)
    try:
        async with asyncio.timeout(0.01 if waits else PATIENCE_SECONDS):
            pack_answer(1, await current_host().submit(message))
    except PieError as refused:
        if type(refused) is PieError:
            pytest.fail(f"{message}: {refused}")
    except TimeoutError:
        if not waits:
            pytest.fail(f"{message}: no answer")

"""A worker has as many threads as it may, and is ended when it has more."""

import os
import threading

import pytest

from pie_mlx.runtime.worker.limits import THREADS_LIMIT
from pie_mlx.runtime.worker.watch.threads import thread_count
from tests.runtime.worker.conftest import bounded_engine, ended_by, launch

MANY = """
import asyncio, threading
from inferlet import runtime
async def main(input):
    threading.stack_size(32768)
    over = threading.Event()
    for _ in range(input["count"]):
        threading.Thread(target=over.wait, daemon=True).start()
    if input["waits"]:
        await asyncio.Event().wait()
    over.set()
    return "well"
"""


def test_threads_of_a_process_are_counted():
    over = threading.Event()
    before = thread_count(os.getpid())
    threads = [threading.Thread(target=over.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert thread_count(os.getpid()) == before + 3
    over.set()
    for thread in threads:
        thread.join()


def test_a_process_that_is_gone_has_none():
    assert thread_count(2**22 + 1) == 0


@pytest.mark.parametrize("sandbox", ["off", "best-effort"])
async def test_threads_without_end_end_the_program(program, sandbox):
    async with bounded_engine(sandbox=sandbox) as engine:
        launched = await launch(engine, program(MANY), {"count": THREADS_LIMIT, "waits": True})
        await ended_by(launched, f"Thread limit of {THREADS_LIMIT} exceeded")
        assert await engine.run(program(MANY), {"count": THREADS_LIMIT - 1, "waits": False}) == "well"

"""How much code one decode step passes through: somebody has to read it, and the device waits for it."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pie_mlx
from pie_mlx.engine.services import Services
from pie_mlx.metal.arrays import on_cpu
from pie_mlx.sdk import Context, Sampler
from tests.engine.running import Running, running

pytestmark = [
    pytest.mark.usefixtures("one_step_at_a_time"),
    pytest.mark.skipif(not on_cpu(), reason="counted on a CPU: a GPU's step passes through other files"),
]

PACKAGE = str(Path(pie_mlx.__file__).parent)
STEPS = 16
MOST_FILES, MOST_CALLS = 100, 1300
"""What a step passes through now. Lower them with the step; nothing raises them."""


class Trace:
    """Every call into the package, by file; of all threads that it is attached to."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.files.append(frame.f_code.co_filename)

    def attach(self, services: Services) -> None:
        """To the threads of the engine and of the device. The program's own is the test's."""
        sys.setprofile(self)
        services.runner.call(lambda: sys.setprofile(self))


def detach(services: Services) -> None:
    sys.setprofile(None)
    services.runner.call(lambda: sys.setprofile(None))


@pytest.fixture
def engine() -> Iterator[Running]:
    """One whose pages lie side by side: it served nothing before."""
    with running() as started:
        yield started


async def test_a_decode_step_passes_through_no_more_files_and_calls(engine: Running) -> None:
    gc.collect()  # what other tests left would be released, and counted, in between
    trace = Trace()
    with Context(engine.model) as context:
        context.append(engine.prompt(9))
        generator = context.generate(Sampler.argmax(), max_tokens=STEPS + 4, stop=[], auto_flush=False)
        for _ in range(4):
            await (await anext(generator)).execute()
        await engine.core.consult(trace.attach)
        sys.setprofile(trace)
        for _ in range(STEPS):
            await (await anext(generator)).execute()
        sys.setprofile(None)
        await engine.core.consult(detach)
    calls, files = len(trace.files) / STEPS, sorted({Path(file).relative_to(PACKAGE) for file in trace.files})
    assert calls <= MOST_CALLS
    assert len(files) <= MOST_FILES, files

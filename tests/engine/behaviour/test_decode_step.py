"""How much code one decode step passes through: an engineer has to read it, and the device waits for it."""

import gc
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pie_mlx
from pie_mlx.backends import current_backend
from pie_mlx.backends.cpu import CpuBackend
from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.engine.services import Services
from pie_mlx.sdk import Context, Sampler
from tests.docs.pages import ROOT
from tests.engine.running import Running, finished, in_context, running

pytestmark = pytest.mark.skipif(
    not isinstance(current_backend(), CpuBackend), reason="counted on a CPU: a GPU's step passes through other files"
)

PACKAGE = str(Path(pie_mlx.__file__).parent)
CPU_ROOM = str(Path(PACKAGE, "backends", "cpu"))
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
STEPS = 16
MOST_FILES, MOST_CALLS = 55, 600
"""What a step passes through now, whatever the device: without the room of the CPU, and without comprehensions, which
are no calls from Python 3.12 on. Lower them with the step; nothing raises them."""


class Trace:
    """Every call into the package, by file; of all threads that it is attached to."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE) and frame.f_code.co_name not in COMPREHENSIONS:
            self.files.append(file)

    def attach(self, services: Services) -> None:
        """To the threads of the engine and of the device. The program's own is the test's."""
        sys.setprofile(self)
        services.runner.call(lambda: sys.setprofile(self))


def detach(services: Services) -> None:
    sys.setprofile(None)
    services.runner.call(lambda: sys.setprofile(None))


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Some steps of an engine that served nothing before: its pages lie side by side."""
    gc.collect()  # what other tests left would be released, and counted, in between
    found = Trace()
    with pytest.MonkeyPatch.context() as patch, running() as engine:
        patch.setattr(continuation, "LONGEST_SECONDS", 0.0)  # one step at a time
        finished(in_context(engine, traced(engine, found)))
    return found


async def traced(engine: Running, trace: Trace) -> None:
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


def test_a_decode_step_passes_through_no_more_files_and_calls(trace: Trace) -> None:
    files = [file for file in trace.files if not file.startswith(CPU_ROOM)]
    assert len(files) / STEPS <= MOST_CALLS
    assert len(set(files)) <= MOST_FILES, sorted(set(files))


def test_the_map_names_every_file_of_a_step(trace: Trace) -> None:
    section = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## One decode step")[2]
    section = section.partition("### ")[0]
    files = {Path(file).relative_to(PACKAGE).as_posix() for file in trace.files}
    assert {file for file in files if not file.startswith("backends/")} - set(named(section)) == set()
    assert [path for path in named(section) if not any((root / path).is_file() for root in (Path(PACKAGE), ROOT))] == []


def named(text: str) -> Iterator[str]:
    """The files of a text, of which `folder/{a,b}.py` names two."""
    for folder, names, name in re.findall(r"`([a-z_/]+/)(?:\{([a-z_,]+)\}|([a-z_]+))\.py`", text):
        yield from (f"{folder}{each}.py" for each in (names or name).split(","))

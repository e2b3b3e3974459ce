import sys

import pytest
import pytest_asyncio

from pie_mlx.runtime.sandbox.probe import probe_sandbox
from tests.runtime.worker.conftest import bounded_engine, program  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def walls():
    """What this system's sandbox stops."""
    return probe_sandbox()


@pytest.fixture
def complete_walls(walls):
    if not walls.holds:
        pytest.skip(f"this system stops only {walls.stopped}: {walls.reason}")
    return walls


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxed():
    """An engine whose programs are confined; the tests of a module share it."""
    async with bounded_engine(sandbox="best-effort") as running:
        yield running


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")

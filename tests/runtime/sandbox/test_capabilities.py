"""Programs have no capabilities, whoever runs the engine and whatever the sandbox."""

from pathlib import Path

import pytest

from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.sandbox.probe import probe_network
from tests.runtime.sandbox.conftest import on_linux
from tests.runtime.worker.conftest import bounded_engine, launched_until_ready

pytestmark = on_linux

WAITING = """
import asyncio, os
from inferlet import session
async def main(input):
    session.send(os.getpid())
    await asyncio.Event().wait()
"""
STARTING = """
import subprocess
async def main(input):
    return subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True).stdout
"""
KINDS = {
    "off": {"sandbox": "off"},
    "confined": {"sandbox": "best-effort"},
    "network": {"sandbox": "best-effort", "network": NetworkSettings()},
}
SETS = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}


def status(pid):
    """What /proc says of a process."""
    return Path(f"/proc/{pid}/status").read_text()


def held(text):
    """The sets of a process that are not empty, by its status."""
    sets = dict(line.split(":\t") for line in text.splitlines() if line.startswith("Cap"))
    assert sets.keys() == SETS
    return {name for name, bits in sets.items() if int(bits, 16)}


@pytest.fixture
def own():
    """Sets that a process without privileges cannot empty, as this one may be."""
    return set() if "CapPrm" in held(status("self")) else {"CapBnd"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_program_has_no_capabilities(program, kind, own):
    if kind == "network" and not probe_network().holds:
        pytest.skip("this system offers no network namespaces")
    async with bounded_engine(**KINDS[kind]) as engine:
        _, pid = await launched_until_ready(engine, program(WAITING))
        assert held(status(pid)) <= own


async def test_what_a_program_starts_gets_none_either(program, own):
    async with bounded_engine(sandbox="off") as engine:
        assert held(await engine.run(program(STARTING))) <= own

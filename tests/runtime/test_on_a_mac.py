"""What a Mac reaches and Linux does not: everything is imported, and programs run, where the platform is called darwin
and Python lacks what it lacks there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="a Mac need not pretend to be one"),
    pytest.mark.timeout(180),  # one story for all, on a machine that others use
]
ROOT = Path(__file__).parents[2]

PRETENDED = "import tests.darwin; tests.darwin.pretend()\n"
"""Children of this process pretend as well: `isolated_python` starts them with the same words."""
CHILDREN_TOO = """
from pie_mlx.runtime.sandbox import interpreter
interpreter._SAME_PACKAGES = "import sys; sys.path.insert(0, sys.argv[1]); " + PRETENDED + interpreter._SAME_PACKAGES
"""


PROGRAM = """
import sys, threading, urllib.request
from pathlib import Path
from inferlet import runtime
async def main(input):
    match input["deed"]:
        case "work":
            Path("/scratch/file").write_text(sys.platform)
            return [Path("/scratch/file").read_text(), urllib.request.getproxies().get("no", "")]
        case "memory":
            kept = bytearray(400 << 20)
            kept[:: 4096] = b"x" * len(kept[:: 4096])
        case "threads":
            over = threading.Event()
            threading.stack_size(32768)
            for _ in range(400):
                threading.Thread(target=over.wait, daemon=True).start()
        case "hidden files":
            kept = []
            for number in range(8):
                kept.append(open("/scratch/hidden", "wb"))
                Path("/scratch/hidden").unlink()
                kept[-1].write(bytes(4 << 20))
                kept[-1].flush()
    while True:
        pass
"""
STORY = """
import asyncio, importlib, json, os, pkgutil, struct, sys, tempfile
from pathlib import Path
import pie_mlx
from pie_mlx import Engine
from pie_mlx.client.discovery import peer_process
from pie_mlx.engine.paging.spill.disk import open_disk
from pie_mlx.errors import PieError
from pie_mlx.metal.record import system_build
from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.server.transport.peers import peer_user_id
from pie_mlx.system import memory_bytes
LINUX = ("pie_mlx.runtime.sandbox.linux", "pie_mlx.runtime.sandbox.seccomp", "pie_mlx.runtime.sandbox.landlock")
def imported():
    names = [one.name for one in pkgutil.walk_packages(pie_mlx.__path__, "pie_mlx.")]
    for name in names:
        if not name.startswith(LINUX) and not name.endswith("__main__"):
            importlib.import_module(name)
    return names
async def run(engine, file, deed):
    try:
        return await engine.run(file, {"deed": deed})
    except PieError as error:
        return f"{type(error).__name__}: {error}"
async def ends(file, *deeds, **settings):
    scratch = str(file.parent.resolve() / "scratch")
    bounds = {"scratch_max_bytes": 16 << 20, "max_memory_bytes": 128 << 20, "warm_workers": 1}
    workers = WorkerSettings(scratch_directory=scratch, **bounds, **settings)
    try:
        async with Engine(dummy=True, total_pages=64, isolation="process", workers=workers) as engine:
            server = engine._workers.server_process_id
            found = {deed: await run(engine, file, deed) for deed in deeds}
        return {**found, "is left": os.path.exists(f"/proc/{server}")}
    except PieError as error:
        return str(error)
class Peer:
    # A Unix socket of macOS whose other end is process 4711 of user 501.
    def getsockopt(self, level, option, size=0):
        answers = {(0, 1): struct.pack("=IIhxx16I", 0, 501, 1, *[20] * 16), (0, 2): 4711}
        return answers[level, option]
def system(folder):
    disk = open_disk(str(folder / "spill"))
    disk.write_at(b"page", 0)
    disk.flush()
    return {
        "build": system_build(), "memory": memory_bytes(), "spilled": disk.read_at(4, 0).decode(),
        "peer": [peer_user_id(Peer()), peer_process(Peer())],
    }
async def main():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(PROGRAM)
        print(json.dumps({
            "closed": await ends(file, "work", "memory", "threads", "hidden files"),
            "network": await ends(file, "work", network=NetworkSettings(("example.org",))),
            "required": await ends(file, "work", sandbox="required"),
            "imported": imported(),
            "system": system(Path(folder)),
        }))
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def told():
    """What the story tells."""
    code = f"PRETENDED = {PRETENDED!r}\n{PRETENDED}{CHILDREN_TOO}\nPROGRAM = {PROGRAM!r}\n{STORY}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_every_module_is_imported_without_what_only_linux_has(told):
    assert {"pie_mlx.mlx_env", "pie_mlx.runtime.process_memory", "pie_mlx.server.server"} <= set(told["imported"])


def test_programs_run_within_their_bounds_and_leave_nothing(told):
    assert told["closed"] == {
        "work": ["darwin", "*"],
        "memory": "ProcessError: Memory limit of 128 MiB exceeded",
        "threads": "ProcessError: Thread limit of 256 exceeded",
        "hidden files": "ProcessError: Scratch limit of 16 MiB exceeded",
        "is left": False,
    }


def test_programs_reach_their_proxy_by_a_port_of_the_machine(told):
    assert told["network"] == {"work": ["darwin", ""], "is left": False}


def test_a_seatbelt_that_builds_no_wall_is_not_taken_for_one(told):
    assert told["required"].startswith("sandbox: tried and not stopped: reading files, writing files")


def test_the_system_is_asked_as_macos_is_asked(told):
    assert told["system"] == {"build": "25C56", "memory": 64 << 30, "spilled": "page", "peer": [501, 4711]}

"""Programs that reach for what is not theirs, each in many ways."""

import ast
import contextlib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pie_mlx.events import ProcessFailed
from tests.hostile.conftest import LANGUAGES
from tests.hostile.launching import PROGRAMS, ending, failure, message, stranger
from tests.hostile.target import Target
from tests.runtime.sandbox.conftest import complete_walls, on_linux, walls  # noqa: F401 - fixtures

pytestmark = [pytest.mark.usefixtures("complete_walls"), pytest.mark.timeout(120)]
HERE = Path(__file__).parent
PIPE_BYTES = 64 << 10
"""What a pipe holds that is not read."""
SECRET = "a-secret-of-the-engine"
EVERY_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """An engine with a secret in its environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIE_SECRET_OF_A_TEST", SECRET)
        running = Target(tmp_path_factory.mktemp("hostile") / "home")
    yield running
    running.clean_up()


@pytest.fixture
def refused(target):
    """Checks that a program in this language succeeds in none of its ways, and that it has tried so many."""

    async def check(language, name, at_least, **input):
        async with stranger(target, language) as mallory:
            with target.stays_healthy():
                result = await (await mallory.launch(name, **input)).result()
        assert result["worked"] == []
        assert result["tried"] >= at_least[language]

    return check


@EVERY_LANGUAGE
async def test_private_files_cannot_be_read(refused, tmp_path, language):
    key = tmp_path / "id_ed25519"
    key.write_text("PRIVATE KEY")
    await refused(language, "read_files", {"python": 35, "javascript": 33}, path=str(key))
    assert key.read_text() == "PRIVATE KEY"


@EVERY_LANGUAGE
async def test_other_files_cannot_be_changed(refused, tmp_path, language):
    folder = tmp_path / "data"
    (folder / "empty").mkdir(parents=True)
    (folder / "kept").write_text("kept")
    before = unread(folder / "kept")
    await refused(language, "change_files", {"python": 30, "javascript": 33}, folder=str(folder))
    assert sorted(os.listdir(folder)) == ["empty", "kept"]
    assert (folder / "kept").read_text() == "kept"
    assert unread(folder / "kept") == before


def unread(path):
    """What the system says of a file, without when it was read."""
    found = path.stat()
    return (
        found.st_mode,
        found.st_uid,
        found.st_gid,
        found.st_nlink,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


@EVERY_LANGUAGE
async def test_no_network_is_reached(target, refused, language):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        await refused(
            language,
            "reach_network",
            {"python": 60, "javascript": 20},
            port=port,
            socket=str(target.home / "run" / "engine.sock"),
        )
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.fixture
def victim():
    """A process that waits."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as waiting:
        yield psutil.Process(waiting.pid)
        waiting.communicate(b"\n")


@EVERY_LANGUAGE
async def test_other_processes_are_left_alone(target, refused, victim, language):
    nice = victim.nice()
    await refused(language, "control_processes", {"python": 25, "javascript": 25}, pid=victim.pid)
    assert (victim.is_running(), victim.nice()) == (True, nice)
    assert target.child.poll() is None


@on_linux
async def test_the_walls_stay_up(refused):
    await refused("python", "leave_walls", {"python": 15})


@EVERY_LANGUAGE
async def test_secrets_of_the_engine_are_not_there(target, refused, language):
    await refused(language, "read_engine", {"python": 12, "javascript": 12}, home=str(target.home), secret=SECRET)


@EVERY_LANGUAGE
async def test_what_a_user_keeps_is_out_of_reach_of_others(target, language):
    async with stranger(target, language, "ada") as ada, stranger(target, language) as mallory:
        keeper = await ada.launch_file(HERE / "keep_things.py")
        assert await message(keeper) == "kept"
        result = await (await mallory.launch("take_from_others", process=keeper.id)).result()
        assert (result["worked"], result["tried"] >= 8) == ([], True)
        await keeper.send("look")
        assert await keeper.result() == {"snapshot": True, "adapter": True, "message": "kept", "heard": None}


FORGED = [
    "no msgpack", "nothing", "endless", "half", "deep", "a map", "unknown frame", "order", "answer", "stop",
    "unknown call", "wrong type", "negative number", "bad text", "format",
]  # fmt: skip
"""What ends a program as broken."""


@EVERY_LANGUAGE
async def test_forged_frames_end_their_own_process_only(target, language):
    async with stranger(target, language) as mallory, stranger(target, language, "ada") as ada:
        bystander = await ada.launch_file(HERE / "keep_things.py")
        assert await message(bystander) == "kept"
        with target.stays_healthy():
            for forged in FORGED:
                last = await ending(await mallory.launch("forge_frames", forged=forged))
                assert isinstance(last, ProcessFailed), forged
                assert last.error_type in ("ProtocolError", "ProcessError"), (forged, last)
        await bystander.send("look")
        assert (await bystander.result())["snapshot"]


@EVERY_LANGUAGE
async def test_frames_that_only_say_odd_things_are_taken_as_said(target, language):
    async with stranger(target, language) as mallory:
        assert await (await mallory.launch("forge_frames", forged="end with more")).result() == "x"
        assert await failure(await mallory.launch("forge_frames", forged="error of a stranger")) == (
            "NoSuchError",
            "x" * 100,
        )


@EVERY_LANGUAGE
async def test_contexts_of_others_cannot_be_named(target, language):
    async with stranger(target, language) as mallory, stranger(target, language, "ada") as ada:
        bystander = await ada.launch_file(HERE / "keep_things.py")
        assert await message(bystander) == "kept"
        result = await (await mallory.launch("forge_frames", forged="contexts of others")).result()
        assert result["worked"] == []
        await bystander.terminate()


WAYS = {}
"""How a program of each language falls apart, and what its client is told of it."""
WAYS["python"] = {
    "segmentation fault": "killed by SIGSEGV",
    "fault in a thread": "killed by SIGSEGV",
    "abort": "killed by SIGABRT",
    "exit": "exited with status 3",
    "sys.exit": "4",
    "exit with text": "",
    "interrupt": "",
    "generator exit": "",
    "cancelled": "",
    "stack": "recursion",
    "C stack": "",
    "kill": "killed by SIGKILL",
    "alarm": "killed by SIGALRM",
    "odd error": "",
    "finalizer": "exited with status 5",
    "no descriptors": "",
}
WAYS["javascript"] = {
    "abort": "killed by SIGABRT",
    "exit": "exited with status 3",
    "process.exit": "4",
    "kill": "killed by SIGKILL",
    "stack": "Maximum call stack size exceeded",
    "nothing": "thrown: undefined",
    "text": "\x1b[2J\ufffd",
    "odd error": "",
    "error without text": "",
    "rejection": "null",
    "later error": "later",
    "error in an exit": "5",
    "no descriptors": "",
    "no prototype": "",
    "own trace": "traced",
}


def wait_for_descriptors(process, at_most):
    while process.num_fds() > at_most:  # what the last worker had is closed a moment after its end is told
        pass


@EVERY_LANGUAGE
async def test_whatever_breaks_in_a_program_is_told_and_breaks_nothing_else(target, language):
    engine = psutil.Process(target.child.pid)
    async with stranger(target, language) as mallory:
        with target.stays_healthy():
            for way, told in WAYS[language].items():
                last = await ending(await mallory.launch("fall_apart", way=way))
                assert isinstance(last, ProcessFailed), way
                assert told in last.message, (way, last)
        descriptors = engine.num_fds()
        for way in WAYS[language]:
            await ending(await mallory.launch("fall_apart", way=way))
        wait_for_descriptors(engine, descriptors + 2)


@EVERY_LANGUAGE
async def test_an_engine_whose_standard_error_is_not_read_goes_on(target, language):
    async with stranger(target, language) as mallory:
        with target.stays_healthy():
            assert await (await mallory.launch("fill_errors", lines=2 * PIPE_BYTES // 1000)).result() == "printed"
            assert await (await mallory.launch("fill_errors", lines=1)).result() == "printed"


@EVERY_LANGUAGE
async def test_what_will_not_end_is_ended(target, language):
    async with stranger(target, language) as mallory:
        process = await mallory.launch("refuse_to_end")
        worker = psutil.Process(int(await message(process)))
        with target.stays_healthy():
            await process.terminate()
            await failure(process)
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.wait(10)


@EVERY_LANGUAGE
def test_every_program_says_what_it_tries_to_break_and_is_run_by_a_test(language):
    tests = "".join(path.read_text() for path in HERE.glob("test_*.py"))
    programs = list((PROGRAMS / language).glob(f"*.{LANGUAGES[language]}"))
    assert programs
    for path in programs:
        assert re.fullmatch(r"[A-Z].*\.", claim(path)), path
        assert re.search(rf"\b{path.stem}\b", tests), path


def claim(path):
    """The first sentence of what a program says about itself."""
    text = path.read_text()
    described = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else text
    return (described or "").partition("\n\n")[0].replace("\n", " ").lstrip("/*# ")

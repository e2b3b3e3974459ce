"""Programs that attempt what is forbidden see it refused."""

import os
import socket

import pytest

from pie_mlx.runtime.sandbox import Confinement, Policy, confine
from pie_mlx.runtime.sandbox.linux import confine_linux
from tests.runtime.sandbox.conftest import on_linux
from tests.runtime.worker.conftest import bounded_engine

pytestmark = [pytest.mark.usefixtures("complete_walls"), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture
def attempt(sandboxed, program):
    """Runs an expression in a sandboxed program: its value, or the name of the error it raises."""

    async def run(expression, **input):
        path = program(f"""
            import asyncio, ctypes, os, pathlib, shutil, socket, subprocess, sys, threading
            async def main(input):
                try:
                    return repr({expression})
                except Exception as error:
                    return type(error).__name__
            """)
        return await sandboxed.run(path, input)

    return run


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory with a key in it."""
    key = tmp_path / "home" / ".ssh" / "id_ed25519"
    key.parent.mkdir(parents=True)
    key.write_text("PRIVATE KEY")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


async def test_keys_cannot_be_read(attempt, home):
    assert await attempt("open(input['path']).read()", path=str(home / ".ssh" / "id_ed25519")) == "PermissionError"


async def test_home_is_another_directory(attempt, home):
    assert str(home) not in await attempt("os.path.expanduser('~')")


async def test_directories_cannot_be_listed(attempt, home):
    assert await attempt("os.listdir(input['path'])", path=str(home)) == "PermissionError"


async def test_the_programs_neighbours_cannot_be_read(attempt, tmp_path):
    (tmp_path / "neighbour.txt").write_text("x")
    assert await attempt("open(input['path']).read()", path=str(tmp_path / "neighbour.txt")) == "PermissionError"


async def test_a_symbolic_link_leads_nowhere(attempt, home):
    expression = "(os.symlink(input['path'], 'link'), open('link').read())"
    assert await attempt(expression, path=str(home / ".ssh" / "id_ed25519")) == "PermissionError"


async def test_a_hard_link_cannot_be_made(attempt, home):
    expression = "(os.link(input['path'], 'link'), open('link').read())"
    assert await attempt(expression, path=str(home / ".ssh" / "id_ed25519")) in ("PermissionError", "OSError")


@pytest.mark.parametrize(
    "expression",
    [
        "open(input['path'], 'w')",
        "os.mkdir(input['path'] + '/made')",
        "os.remove(input['path'] + '/kept')",
        "os.rename(input['path'] + '/kept', input['path'] + '/moved')",
        "os.rename(input['path'] + '/kept', 'taken')",
        "os.chmod(input['path'] + '/kept', 0o777)",
        "os.utime(input['path'] + '/kept', (0, 0))",
        "os.truncate(input['path'] + '/kept', 0)",
    ],
)
async def test_other_files_cannot_be_changed(attempt, tmp_path, expression):
    directory = tmp_path / "data"
    directory.mkdir()
    (directory / "kept").write_text("kept")
    before = (directory / "kept").stat()
    assert await attempt(expression, path=str(directory)) in ("PermissionError", "IsADirectoryError", "OSError")
    assert os.listdir(directory) == ["kept"]
    assert (directory / "kept").read_text() == "kept"
    assert (directory / "kept").stat().st_mode == before.st_mode


async def test_the_program_cannot_change_itself(attempt):
    assert await attempt("open(__file__, 'a')") == "PermissionError"


async def test_the_interpreter_cannot_be_changed(attempt):
    assert await attempt("open(os.__file__, 'a')") == "PermissionError"
    assert await attempt("os.fchmod(os.open(os.__file__, os.O_RDONLY), 0)") == "PermissionError"


@on_linux  # Seatbelt refuses what a socket does
@pytest.mark.parametrize("kind", ["AF_INET, socket.SOCK_STREAM", "AF_INET, socket.SOCK_DGRAM", "AF_INET6", "AF_UNIX"])
async def test_no_socket_leads_out(attempt, kind):
    assert await attempt(f"socket.socket(socket.{kind})") == "PermissionError"


async def test_a_local_server_cannot_be_reached(attempt):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert await attempt(f"socket.create_connection(('127.0.0.1', {port}))") == "PermissionError"


@pytest.mark.parametrize(
    "expression",
    [
        "os.fork()",
        "subprocess.run(['true'])",
        "os.execv(sys.executable, ['x'])",
        "os.posix_spawn(sys.executable, ['x'], {})",
    ],
)
async def test_no_process_is_started(attempt, expression):
    assert await attempt(expression) == "PermissionError"


async def test_other_processes_get_no_signals(attempt):
    assert await attempt("os.kill(input['pid'], 0)", pid=os.getpid()) == "PermissionError"
    assert await attempt("os.kill(os.getppid(), 9)") == "PermissionError"
    assert await attempt("os.kill(os.getpid(), 0)") == "None"


@on_linux
async def test_other_processes_cannot_be_looked_at(attempt):
    assert await attempt("open(f\"/proc/{input['pid']}/environ\").read()", pid=os.getpid()) == "PermissionError"
    trace = "ctypes.CDLL(None, use_errno=True).ptrace(16, input['pid'], 0, 0) or ctypes.get_errno()"
    assert await attempt(trace, pid=os.getpid()) == "-1"


async def test_threads_and_loops_still_work(attempt):
    assert await attempt("await asyncio.to_thread(lambda: 7)") == "7"
    assert await attempt("await asyncio.to_thread(lambda: asyncio.run(asyncio.sleep(0, 8)))") == "8"


async def test_libraries_can_be_imported_late(attempt):
    assert await attempt("__import__('decimal').Decimal(1) + __import__('ctypes.util').util and 1") != "ImportError"
    assert await attempt("__import__('ssl').OPENSSL_VERSION and 1") == "1"


async def test_a_programs_own_directory_can_be_read(sandboxed, tmp_path):
    directory = tmp_path / "app"
    directory.mkdir()
    (directory / "main.py").write_text(
        "import pathlib, helper\nasync def main(input):\n"
        "    return helper.VALUE + pathlib.Path(__file__).with_name('data.txt').read_text()\n"
    )
    (directory / "helper.py").write_text("VALUE = 'own '\n")
    (directory / "data.txt").write_text("data")
    assert await sandboxed.run(directory) == "own data"


async def test_without_the_sandbox_files_are_open(program, home):
    path = program("async def main(input):\n    return open(input['path']).read()\n")
    async with bounded_engine(sandbox="off") as engine:
        assert await engine.run(path, {"path": str(home / ".ssh" / "id_ed25519")}) == "PRIVATE KEY"


async def test_a_missing_wall_is_told(monkeypatch):
    def refuse(policy):
        raise OSError(38, "Landlock: Function not implemented")

    monkeypatch.setattr("pie_mlx.runtime.sandbox.linux.restrict_files", refuse)
    monkeypatch.setattr("pie_mlx.runtime.sandbox.linux.install_filter", lambda **kinds: None)
    missing = Confinement(confine_linux(Policy(())))
    assert missing.text == "files are open (Landlock: Function not implemented)"


async def test_an_unknown_system_has_no_walls(monkeypatch):
    monkeypatch.setattr("sys.platform", "plan9")
    assert set(confine(Policy(())).missing) == {"files", "network", "processes"}

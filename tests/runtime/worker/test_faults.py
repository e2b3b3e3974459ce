"""Programs that misbehave end with a typed error, and cost no other program anything but time."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.errors import LaunchError, ModelError, ProcessCancelledError, ProtocolError
from pie_mlx.events import ProcessOutput
from pie_mlx.runtime.execution.outcome import Failed
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.runtime.worker.workspaces import TemporaryRoot
from tests.instances import instances
from tests.runtime.worker.conftest import bounded_engine, ended_by, is_alive, launch, launched_until_ready

pytestmark = pytest.mark.asyncio(loop_scope="module")

BYSTANDER = """
    from inferlet import Context, Model, Sampler, runtime, session
    async def main(input):
        session.send("ready")
        await session.receive()
        with Context(Model.load(runtime.models()[0])) as context:
            context.append(range(20))
            return len(await context.generate(Sampler.argmax(), max_tokens=8, auto_flush=False).collect_tokens())
    """


@pytest_asyncio.fixture(loop_scope="module")
async def bystander(engine, program):
    """Another program beside the one that misbehaves; it must end well."""
    other = await launch(engine, program(BYSTANDER, "bystander.py"))
    yield other
    other.process.send("go on")
    assert await other.process.result() == 8


async def test_a_launch_spec_that_no_frame_can_hold_is_a_launch_error(program, monkeypatch):
    monkeypatch.setenv("ODD", "\udcff")
    async with bounded_engine(environment=("ODD",)) as engine:
        with pytest.raises(LaunchError, match=r"launch spec: .* surrogates"):
            await engine.run(program("async def main(input): ...\n"))


async def test_a_fault_while_a_launch_spec_is_made_is_a_launch_error(engine, program, monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.worker.pool.LaunchSpec", lambda *fields, **more: 1 / 0)
    with pytest.raises(LaunchError, match="ZeroDivisionError"):
        await engine.run(program("async def main(input): ...\n"))


@pytest.fixture
def roots():
    """The temporary directories of engines."""
    with instances(TemporaryRoot) as made:
        yield made


@contextlib.contextmanager
def open_files_left(count):
    """Let this process open so many more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/dev/fd"))) + 32, hard))
    taken = []
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(count):
            os.close(taken.pop())
        yield
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("count", [1, 3, 5])
async def test_a_launch_without_files_to_open_is_an_error_and_leaves_nothing_behind(roots, program, count):
    path = program("async def main(input):\n    return 'well'\n")
    async with bounded_engine(warm_workers=0) as engine:
        fds = set(os.listdir("/dev/fd"))
        with open_files_left(count), pytest.raises(LaunchError, match="Too many open files") as caught:
            await engine.run(path)
        assert "ulimit" in caught.value.hint
        await _until(lambda: not list(roots[-1].path.iterdir()))
        assert set(os.listdir("/dev/fd")) <= fds
        assert await engine.run(path) == "well"


async def test_a_killed_worker_is_an_error_with_its_last_words(engine, program, bystander):
    path = program("""
        import asyncio, os, sys
        from inferlet import Context, Model, runtime, session
        async def main(input):
            context = Context(Model.load(runtime.models()[0]))
            context.append(range(40))
            await context.flush()
            print("last words", file=sys.stderr)
            session.send(str(os.getpid()))
            await asyncio.Event().wait()
        """)
    launched, pid = await launched_until_ready(engine, path)
    os.kill(int(pid), signal.SIGKILL)
    error = await ended_by(launched, "killed by SIGKILL")
    assert error.stderr == "last words"
    assert (await engine.page_usage()).used == 0


async def test_a_crash_tells_where_it_happened(engine, program, bystander):
    path = program("import ctypes\nasync def main(input):\n    ctypes.string_at(0)\n")
    error = await ended_by(await launch(engine, path), "killed by SIGSEGV")
    assert "Segmentation fault" in error.stderr


@pytest.mark.parametrize("status", [0, 3, 69, 70, 71])
async def test_leaving_by_the_back_door_is_an_error_with_the_status(engine, program, bystander, status):
    path = program(f"import os\nasync def main(input):\n    os._exit({status})\n")
    await ended_by(await launch(engine, path), f"exited with status {status} before its program ended")


async def test_a_system_that_starts_no_more_processes_is_a_launch_error(program, monkeypatch):
    refuse = "import os\ndef refuse(): raise OSError(11, 'no more')\nos.fork = refuse\n"
    boot = "from pie_mlx.runtime.worker.forked.zygote import main; main()"
    monkeypatch.setattr("pie_mlx.runtime.worker.fork_server.BOOT", refuse + boot)
    async with bounded_engine(warm_workers=0) as engine:
        with pytest.raises(LaunchError, match="cannot start another process"):
            await engine.run(program("async def main(input): ...\n"))


async def test_memory_without_end_is_refused(program):
    path = program("""
        async def main(input):
            kept = []
            while True:
                kept.append(bytearray(8 << 20))
        """)
    async with bounded_engine(max_memory_bytes=128 << 20) as engine:
        await ended_by(await launch(engine, path), "Memory limit of 128 MiB exceeded")


async def test_memory_shared_with_children_counts(program):
    path = program("""
        import asyncio, mmap
        async def main(input):
            kept = []
            while True:
                kept.append(mmap.mmap(-1, 8 << 20))
                kept[-1].write(bytes(8 << 20))
                await asyncio.sleep(0.002)
        """)
    async with bounded_engine(max_memory_bytes=128 << 20) as engine:
        await ended_by(await launch(engine, path), "Memory limit of 128 MiB exceeded")


async def test_processor_time_ends(program):
    path = program("""
        import signal
        async def main(input):
            signal.signal(signal.SIGXCPU, signal.SIG_IGN)
            while True:
                pass
        """)
    async with bounded_engine(max_cpu_seconds=1) as engine:
        await ended_by(await launch(engine, path), "CPU limit of 1 s exceeded")


async def test_open_files_are_counted(program):
    path = program("""
        async def main(input):
            kept = []
            try:
                while True:
                    kept.append(open("/dev/null"))
            except OSError as error:
                return error.strerror
        """)
    async with bounded_engine(max_open_files=64) as engine:
        assert await engine.run(path) == "Too many open files"


async def test_a_blocked_loop_is_ended_by_the_watchdog(program):
    path = program("""
        async def main(input):
            while True:
                pass
        """)
    async with bounded_engine(watchdog_seconds=0.3) as engine:
        await ended_by(await launch(engine, path), "Watchdog: neither called nor yielded for 0.3 s")


async def test_a_program_that_waits_is_left_alone(program):
    path = program("""
        import asyncio
        async def main(input):
            await asyncio.sleep(1.5)
            return "well"
        """)
    async with bounded_engine(watchdog_seconds=1.0) as engine:
        assert await engine.run(path) == "well"


async def test_a_program_that_blocks_in_a_call_is_left_alone(program):
    path = program("""
        from inferlet.sync import session
        import asyncio
        async def main(input):
            await asyncio.to_thread(session.receive)
            return "well"
        """)
    async with bounded_engine(watchdog_seconds=1.0) as engine:
        launched = await launch(engine, path)
        await asyncio.sleep(1.5)
        launched.process.send("go on")
        assert await launched.process.result() == "well"


@pytest.mark.parametrize("body", ["[None for _ in iter(int, 1)]", "time.sleep(60)"])
async def test_what_ignores_cancellation_is_killed(engine, program, bystander, monkeypatch, body):
    monkeypatch.setattr("pie_mlx.runtime.execution.process.CANCEL_GRACE_SECONDS", 0.1)
    path = program(f"""
        import os, time
        from inferlet import session
        async def main(input):
            session.send(str(os.getpid()))
            {body}
        """)
    launched, pid = await launched_until_ready(engine, path)
    launched.process.cancel("enough")
    error = await launched.failure()
    assert (type(error), str(error)) == (ProcessCancelledError, "enough")
    await _gone(int(pid))


async def test_catching_everything_and_carrying_on_does_not_help(engine, program, bystander, monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.execution.process.CANCEL_GRACE_SECONDS", 0.2)
    path = program("""
        import asyncio, os
        from inferlet import session
        async def main(input):
            session.send(str(os.getpid()))
            while True:
                try:
                    await asyncio.sleep(0.01)
                except BaseException:
                    pass
        """)
    launched, pid = await launched_until_ready(engine, path)
    launched.process.cancel("enough")
    assert str(await launched.failure()) == "enough"
    await _gone(int(pid))


async def test_a_worker_that_does_not_exit_after_its_program_is_killed(engine, program, monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.worker.executor.EXIT_SECONDS", 0.1)
    path = program("""
        import asyncio, os
        async def straggler():
            while True:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    pass
        async def main(input):
            asyncio.create_task(straggler())
            await asyncio.sleep(0)
            return os.getpid()
        """)
    await _gone(await engine.run(path))


async def test_what_a_program_started_dies_with_it(engine, program, bystander):
    path = program("""
        import asyncio, os, subprocess, sys
        from inferlet import session
        async def main(input):
            plain = subprocess.Popen(["sleep", "600"])
            escaped = subprocess.Popen(["sleep", "600"], start_new_session=True)
            orphan = subprocess.check_output(["sh", "-c", "setsid sleep 600 >/dev/null & echo $!"], text=True)
            return [plain.pid, escaped.pid, int(orphan)]
        """)
    for pid in await engine.run(path):
        await _gone(pid)


async def test_forking_without_end_is_ended(engine, program, bystander):
    path = program("""
        import os, time
        async def main(input):
            for _ in range(200):
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
            time.sleep(60)
        """)
    await ended_by(await launch(engine, path), "Process limit of 64 exceeded")


async def test_a_forked_child_cannot_speak_for_the_program(engine, program):
    path = program("""
        import os
        async def main(input):
            pid = os.fork()
            if pid == 0:
                print("from the child", flush=True)
                os._exit(0)
            os.waitpid(pid, 0)
            return "well"
        """)
    launched = await launch(engine, path)
    assert await launched.process.result() == "well"
    assert launched.text("stdout") == "from the child\n"


async def test_flooding_output_waits_for_its_reader(engine, pools, program, bystander):
    path = program("""
        from inferlet import session
        async def main(input):
            for _ in range(300):
                print("x" * 65535)
            return "well"
        """)
    held = []

    def observe(event):
        """Keep the launcher from seeing more until the worker is made to wait."""
        if isinstance(event, ProcessOutput) and not held:
            (executor,) = [e for e in pools[0].running() if e.spec.source.main_file == str(path)]
            deadline = time.monotonic() + 5
            while not executor.link.held and time.monotonic() < deadline:
                time.sleep(0.001)
            held.append(executor.link.held)

    launched = await launch(engine, path, also=observe)
    assert await launched.process.result() == "well"
    assert held == [True]
    assert len(launched.text("stdout")) == 300 * 65536


async def test_messages_to_topics_nobody_reads_end_in_an_error(engine, program, bystander):
    path = program("""
        from inferlet import messaging
        def main(input):
            for number in range(5000):
                messaging.broadcast("nobody", "x" * 1000)
                try:
                    messaging.push(f"nobody-{number}", "x")
                except Exception as error:
                    return [type(error).__name__, number]
        """)
    assert await engine.run(path, username="talker") == ["MessageOverflowError", 4096]


async def test_a_program_that_fills_a_topic_nobody_reads_waits_and_can_be_ended(engine, program, bystander):
    path = program("""
        from inferlet import messaging, session
        def main(input):
            for number in range(70):
                messaging.push("nobody", "x" * 1_000_000)
                session.send(str(number + 1))
        """)
    full = asyncio.get_running_loop().create_future()
    launched = await launch(
        engine, path, on_message=lambda text: text == "67" and full.set_result(None), username="lone"
    )
    await full
    launched.process.cancel()
    assert isinstance(await launched.failure(), ProcessCancelledError)


async def test_a_program_that_never_reads_its_answers_ends(engine, program, bystander):
    path = program(
        """
        import os, socket, stat, struct
        from pie_mlx.calls import DescribeRuntime
        from pie_mlx.runtime.worker.frames.messages import CallFrame, pack
        def is_link(fd):
            try:
                peer = socket.socket(fileno=os.dup(fd)).getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            except OSError:
                return False
            return struct.unpack("3i", peer)[0] == ENGINE
        async def main(input):
            link = next(filter(is_link, range(3, 64)))
            os.set_blocking(link, True)
            number = 10_000
            while True:
                number += 1
                os.write(link, pack(CallFrame(number, DescribeRuntime())))
        """.replace("ENGINE", str(os.getpid()))
    )
    launched = await launch(engine, path)
    await asyncio.sleep(0.3)
    launched.process.cancel("enough")
    assert str(await launched.failure()) == "enough"


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xff\xff\xff",
        b"\x01\x00\x00\x00\xc1",
        b"\x05\x00\x00\x00\x92\xa3foo",
    ],
)
async def test_a_malformed_frame_ends_the_worker(engine, program, bystander, frame):
    path = program(f"""
        import os, time
        async def main(input):
            for fd in range(3, 20):
                try:
                    os.write(fd, {frame!r})
                except OSError:
                    pass
            time.sleep(60)
        """)
    error = await (await launch(engine, path)).failure()
    assert type(error) is ProtocolError


async def test_an_unknown_call_ends_the_worker(engine, program):
    path = program("""
        import os, struct, time
        import msgspec
        async def main(input):
            payload = msgspec.msgpack.encode(("request", 1, {"call": "launch_missiles"}))
            for fd in range(3, 20):
                try:
                    os.write(fd, struct.pack("<I", len(payload)) + payload)
                except OSError:
                    pass
            time.sleep(60)
        """)
    error = await (await launch(engine, path)).failure()
    assert type(error) is ProtocolError
    assert "launch_missiles" in str(error)


async def test_the_fork_server_may_die(engine, pools, program):
    path = program(
        "import asyncio\nasync def main(input):\n    await asyncio.sleep(input['seconds'])\n    return 'well'\n"
    )
    launched = await launch(engine, path, {"seconds": 600})
    os.kill(pools[0].server_process_id, signal.SIGKILL)
    assert isinstance(await launched.process.outcome(), Failed)
    assert await engine.run(path, {"seconds": 0}) == "well"


async def test_a_fork_server_that_does_not_start_is_a_launch_error(pools, program, monkeypatch, capfd):
    monkeypatch.setattr("pie_mlx.runtime.worker.fork_server.BOOT", "raise SystemExit('no such luck')")
    async with bounded_engine() as engine:
        await _until(lambda: pools[-1].is_lost)
        with pytest.raises(LaunchError, match="fork server"):
            await engine.run(program("async def main(input): ...\n"))
    assert "no such luck" in capfd.readouterr().err


async def test_an_engine_that_does_not_start_leaves_nothing_behind(tmp_path):
    fds = set(os.listdir("/dev/fd"))
    workers = WorkerSettings(sandbox="off", warm_workers=1)
    with pytest.raises(ModelError):
        async with Engine(str(tmp_path / "no-model"), isolation="process", workers=workers):
            raise NotImplementedError
    assert set(os.listdir("/dev/fd")) <= fds


async def test_stopping_the_engine_leaves_nothing_behind(pools, program):
    path = program("""
        import asyncio, os
        from inferlet import session
        async def main(input):
            session.send(str(os.getpid()))
            await asyncio.Event().wait()
        """)
    fds = set(os.listdir("/dev/fd"))
    async with bounded_engine(warm_workers=3) as engine:
        launched, pid = await launched_until_ready(engine, path)
        server = pools[-1].server_process_id
    assert str(await launched.failure()) == "Engine stopped"
    assert not is_alive(int(pid))
    assert not is_alive(server)
    assert set(os.listdir("/dev/fd")) <= fds


async def test_an_idle_worker_may_die(pools, program):
    path = program("async def main(input):\n    return 'well'\n")
    async with bounded_engine(warm_workers=1) as engine:
        pool = pools[-1]
        await _until(pool.idle_process_ids)
        dead = pool.idle_process_ids()[0]
        os.kill(dead, signal.SIGKILL)
        await _until(lambda: dead not in pool.idle_process_ids())
        assert await engine.run(path) == "well"


async def test_a_killed_engine_takes_its_workers_along(program, tmp_path):
    path = program("""
        import asyncio, os, subprocess
        from inferlet import session
        async def main(input):
            child = subprocess.Popen(["sleep", "600"])
            session.send([os.getpid(), os.getppid(), child.pid])
            await asyncio.Event().wait()
        """)
    script = program(
        """
        import asyncio, sys
        from tests.runtime.worker.conftest import bounded_engine
        async def main():
            async with bounded_engine() as engine:
                await engine.run(sys.argv[1], on_message=lambda pids: print(*pids, flush=True))
        asyncio.run(main())
        """,
        "engine.py",
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, script, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:  # noqa: ASYNC220
        pids = [int(word) for word in (await asyncio.to_thread(running.stdout.readline)).split()]
        running.kill()
    assert len(pids) == 3
    for pid in pids:
        await _gone(pid)


async def _gone(pid):
    await _until(lambda: not is_alive(pid))


async def _until(holds):
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - other processes set no events
            await asyncio.sleep(0.005)

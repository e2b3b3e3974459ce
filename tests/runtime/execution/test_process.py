"""Processes without an engine: these programs make no calls."""

import asyncio
import gc
import sys
import threading
import weakref
from functools import partial

import pytest

from inferlet import runtime, set_return
from pie_mlx.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    LaunchError,
    ProcessCancelledError,
    SessionClosedError,
)
from pie_mlx.events import ProcessFailed, ProcessOutput, ProcessReturned
from pie_mlx.runtime.execution.executor import ProgramThread
from pie_mlx.runtime.execution.local_session import LocalSession
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.execution.process_events import ProcessEventQueue
from tests.untimed import untimed


class NoEngine:
    """A host nobody calls."""

    def call(self, message):
        raise NotImplementedError

    async def submit(self, message):
        raise NotImplementedError

    def post(self, message):
        raise NotImplementedError


class Launched:
    """A process, what it gave out, and whether it was released."""

    def __init__(self, body, *, capture=True, observe=None, talks=False):
        self.events = []
        self.released = False
        self.event_queue = ProcessEventQueue(
            asyncio.get_running_loop(), observe or (lambda event, data: self.events.append(event))
        )
        self.session = LocalSession(self.event_queue)
        self.process = Process("p", self.session, self.event_queue)
        body = partial(body, self.session) if talks else body
        write = self.event_queue.write if capture else None
        self.process.start(partial(self._executor, body, write), self._release)

    def _executor(self, body, write, report):
        executor = ProgramThread(body, NoEngine(), "program", write, report)
        self.executor = weakref.ref(executor)
        return executor

    async def _release(self):
        self.released = True

    def text(self, stream):
        return "".join(e.text for e in self.events if isinstance(e, ProcessOutput) and e.stream == stream)


async def test_the_return_value_comes_back_and_is_the_last_event():
    async def main():
        print("working")
        return {"n": 1}

    launched = Launched(main)
    assert await launched.process.result() == {"n": 1}
    assert untimed(launched.events) == [
        ProcessOutput("p", "stdout", "working\n"),
        ProcessReturned("p", '{"n": 1}', "json"),
    ]
    assert launched.released


async def test_a_program_may_set_what_it_returns():
    async def main():
        runtime.set_return("early")
        set_return({"n": 1})
        assert runtime.get_return_value() == {"n": 1}

    launched = Launched(main)
    assert await launched.process.result() == {"n": 1}
    assert untimed(launched.events) == [ProcessReturned("p", '{"n": 1}', "json")]


async def test_what_main_returns_counts_more_than_what_was_set():
    async def main():
        set_return("set")
        return "returned"

    assert await Launched(main).process.result() == "returned"


async def test_a_program_that_exits_returns_what_was_set():
    async def main():
        set_return("set")
        sys.exit(0)

    assert await Launched(main).process.result() == "set"


async def test_programs_do_not_see_what_others_set():
    async def main():
        set_return("mine")

    async def other():
        return runtime.get_return_value()

    assert [await Launched(body).process.result() for body in (main, other)] == ["mine", None]


async def test_an_exception_comes_back_with_its_traceback_on_standard_error():
    async def main():
        raise ValueError("bad luck")

    launched = Launched(main)
    with pytest.raises(ValueError, match="bad luck"):
        await launched.process.result()
    assert untimed(launched.events[-1]) == ProcessFailed("p", "ValueError", "bad luck")
    traceback = launched.text("stderr")
    assert 'raise ValueError("bad luck")' in traceback
    assert "program_run.py" not in traceback
    assert launched.released


async def test_a_typed_error_shows_the_programs_lines_only():
    async def main():
        from pie_mlx.calls import Sampler

        Sampler(temperature=-1.0)

    launched = Launched(main)
    with pytest.raises(InvalidArgumentError):
        await launched.process.result()
    assert "Sampler(temperature=-1.0)" in launched.text("stderr")
    assert "pie_mlx/calls" not in launched.text("stderr")


async def test_what_led_to_an_error_shows_no_lines_of_ours_either():
    async def main():
        from inferlet import parse_args

        try:
            parse_args(["--n", "many"]).value_from_str("n", int)
        except InvalidArgumentError as error:
            raise ValueError("no number") from error

    launched = Launched(main)
    with pytest.raises(ValueError, match="no number"):
        await launched.process.result()
    traceback = launched.text("stderr")
    assert "direct cause" in traceback
    assert 'value_from_str("n", int)' in traceback
    assert "inferlet/" not in traceback


async def test_a_launch_error_has_no_traceback():
    async def main():
        raise LaunchError("no main")

    launched = Launched(main)
    with pytest.raises(LaunchError):
        await launched.process.result()
    assert untimed(launched.events) == [ProcessFailed("p", "LaunchError", "no main")]


async def test_a_value_json_cannot_hold_is_a_failure():
    async def main():
        return object()

    with pytest.raises(InvalidTypeError):
        await Launched(main).process.result()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
async def test_a_program_cannot_end_its_launcher(error):
    async def main():
        raise error

    launched = Launched(main)
    assert (await launched.process.outcome()).error_type == type(error).__name__


async def test_a_program_runs_on_a_thread_of_its_own():
    threads = []

    async def main():
        threads.append(threading.current_thread())

    await Launched(main).process.result()
    assert threads[0] is not threading.current_thread()


async def test_a_program_that_blocks_holds_up_nobody_else():
    release = threading.Event()

    async def main():
        release.wait()

    launched = Launched(main)
    await asyncio.sleep(0)
    release.set()
    await launched.process.result()


async def test_cancelling_lets_a_program_clean_up():
    started = threading.Event()
    cleaned = []

    async def main():
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    launched = Launched(main)
    await asyncio.to_thread(started.wait)
    launched.process.cancel()
    with pytest.raises(ProcessCancelledError, match="cancelled"):
        await launched.process.result()
    assert cleaned == [True]
    assert launched.released


async def test_cancelling_before_the_first_line_is_no_different():
    async def main():
        await asyncio.Event().wait()

    launched = Launched(main)
    launched.process.cancel("no longer wanted")
    with pytest.raises(ProcessCancelledError, match="no longer wanted"):
        await launched.process.result()


async def test_a_cancelled_program_fails_whatever_it_returns():
    started = threading.Event()

    async def main():
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "stubborn"

    launched = Launched(main)
    await asyncio.to_thread(started.wait)
    launched.process.cancel()
    assert (await launched.process.outcome()).error_type == "ProcessCancelledError"


async def test_a_program_that_ignores_cancellation_is_given_up(monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.execution.process.CANCEL_GRACE_SECONDS", 0.0)
    started, release = threading.Event(), threading.Event()

    async def main():
        started.set()
        release.wait()

    launched = Launched(main)
    await asyncio.to_thread(started.wait)
    launched.process.cancel()
    assert (await launched.process.outcome()).error_type == "ProcessCancelledError"
    assert launched.released
    release.set()


async def test_an_ended_program_keeps_its_result_but_not_what_it_ran_in():
    threads = []

    async def main():
        threads.append(threading.current_thread())
        return "done"

    launched = Launched(main)
    await launched.process.result()
    await asyncio.to_thread(threads[0].join)
    gc.collect()
    assert launched.executor() is None
    assert await launched.process.result() == "done"


async def test_tasks_left_behind_are_cancelled():
    ended = threading.Event()

    async def straggler():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def main():
        main.task = asyncio.create_task(straggler())
        await asyncio.sleep(0)

    await Launched(main).process.result()
    await asyncio.to_thread(ended.wait)


async def test_without_capture_output_goes_to_the_interpreters_streams(capsys):
    async def main():
        print("plain")
        print("error", file=sys.stderr)

    launched = Launched(main, capture=False)
    await launched.process.result()
    assert capsys.readouterr() == ("plain\n", "error\n")
    assert untimed(launched.events) == [ProcessReturned("p", "", "none")]


async def test_an_observer_that_prints_is_not_taken_for_the_program(capsys):
    async def main():
        print("program")

    await Launched(main, observe=lambda event, data: print(type(event).__name__)).process.result()
    assert capsys.readouterr().out == "ProcessOutput\nProcessReturned\n"


async def test_an_observer_that_raises_fails_the_launch():
    def observe(event, data):
        raise OSError("disk full")

    async def main():
        print("x")
        await asyncio.Event().wait()

    with pytest.raises(OSError, match="disk full"):
        await Launched(main, observe=observe).process.result()


async def test_an_observer_that_cannot_take_the_end_fails_the_launch():
    def observe(event, data):
        raise OSError("disk full")

    async def main():
        return "lost"

    with pytest.raises(OSError, match="disk full"):
        await Launched(main, observe=observe).process.result()


async def test_messages_reach_a_program_in_order():
    received = []

    async def main(session):
        for _ in range(2):
            await session.wait("message")
            received.append(session.take_message())
        await session.wait("file")
        received.append(session.take_file())

    launched = Launched(main, talks=True)
    launched.process.send("a")
    launched.process.send("b")
    launched.process.send_file(b"c")
    await launched.process.result()
    assert received == ["a", "b", b"c"]


async def test_a_closed_session_answers_who_waits():
    async def main(session):
        await session.wait("message")

    launched = Launched(main, talks=True)
    launched.process.close_session()
    with pytest.raises(SessionClosedError):
        await launched.process.result()

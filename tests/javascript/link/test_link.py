"""The worker's end of the link, beside an engine's end that a test holds."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from pie_mlx.runtime.worker.frames.messages import LENGTH
from tests.javascript.node import start_node

ATTACH = """
const { attach, call, callNow, post } = await javascript('link/host.mjs');
const toError = (code, kind, message, hint, details) => Object.assign(new Error(message), { code, hint, details });
const link = attach(Number(process.argv[1]), toError);
link.rest();
"""


class Engine:
    """The engine's end: frames in and out, as plain values."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        end.settimeout(30)

    def send(self, *frame: object) -> None:
        data = msgspec.msgpack.encode(frame)
        self.end.sendall(LENGTH.pack(len(data)) + data)

    def frame(self) -> Any:
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size))
        return msgspec.msgpack.decode(self._exactly(length))

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            received = self.end.recv(count - len(data))
            assert received, "the worker has closed its end"
            data += received
        return bytes(data)


@contextmanager
def worker(code: str) -> Iterator[tuple[Engine, "subprocess.Popen[bytes]"]]:
    ours, theirs = socket.socketpair()
    with ours, theirs, start_node(ATTACH + code, str(theirs.fileno()), pass_fds=(theirs.fileno(),)) as node:
        theirs.close()
        yield Engine(ours), node


def test_a_promise_is_kept_by_its_answer_whatever_the_order() -> None:
    with worker(
        "const both = [call('one', { n: 1 }), call('two')]; post('seen', { both: await Promise.all(both) });"
    ) as (
        engine,
        _,
    ):
        assert engine.frame() == ["request", 1, {"call": "one", "n": 1}]
        assert engine.frame() == ["request", 2, {"call": "two"}]
        engine.send("answer", 2, "second")
        engine.send("answer", 1, "first")
        assert engine.frame() == ["request", 0, {"call": "seen", "both": ["first", "second"]}]


def test_a_blocking_call_passes_on_the_answers_of_others() -> None:
    code = "const promise = call('slow'); const now = callNow('fast'); post('seen', { now, promise: await promise });"
    with worker(code) as (engine, _):
        assert [engine.frame()[2]["call"], engine.frame()[2]["call"]] == ["slow", "fast"]
        engine.send("answer", 1, "late")
        engine.send("answer", 2, "at once")
        assert engine.frame()[2] == {"call": "seen", "now": "at once", "promise": "late"}


@pytest.mark.parametrize("made", ["callNow('refused')", "await call('refused')"])
def test_a_refused_call_throws_the_engines_error(made: str) -> None:
    seen = "{ code: e.code, message: e.message, hint: e.hint, details: e.details }"
    with worker(f"try {{ {made} }} catch (e) {{ post('seen', {seen}) }}") as (engine, _):
        engine.frame()
        engine.send("error_answer", 1, ["out_of_pages", "OutOfPagesError", "too many", "fewer", {"needed": 3}])
        expected = {"code": "out_of_pages", "message": "too many", "hint": "fewer", "details": {"needed": 3}}
        assert engine.frame()[2] == {"call": "seen", **expected}


def test_a_worker_that_waits_or_blocks_answers_pings() -> None:
    with worker("await call('waits'); callNow('blocks');") as (engine, node):
        for number in (1, 2):
            engine.frame()
            engine.send("ping")
            assert engine.frame() == ["pong"]
            engine.send("answer", number, None)
        assert node.wait() == 0


def test_an_aborted_call_is_withdrawn() -> None:
    code = """
    const abort = new AbortController();
    const waiting = call('waits', {}, abort.signal);
    abort.abort(new Error('enough'));
    try { await waiting } catch (error) { post('seen', { message: error.message }) }
    """
    with worker(code) as (engine, _):
        assert engine.frame()[0] == "request"
        assert engine.frame() == ["cancel_call", 1]
        engine.send("answer", 1, "too late")
        assert engine.frame()[2] == {"call": "seen", "message": "enough"}


def test_output_of_any_length_arrives_in_order_with_calls() -> None:
    with worker("link.write('stdout', 'ü'.repeat(1_000_000)); post('after');") as (engine, _):
        text = ""
        while (frame := engine.frame())[0] == "output":
            text += frame[2]
        assert text == "ü" * 1_000_000
        assert frame == ["request", 0, {"call": "after"}]


def test_a_sender_that_the_engine_does_not_read_still_reads_its_answers() -> None:
    code = """
    const answer = call('long');
    link.write('stdout', 'x'.repeat(8_000_000));
    post('seen', { n: (await answer).length });
    """
    with worker(code) as (engine, _):
        engine.frame()
        engine.send("answer", 1, "y" * 8_000_000)  # neither side could go on if the worker did not read
        while (frame := engine.frame())[0] == "output":
            pass
        assert frame[2] == {"call": "seen", "n": 8_000_000}


def test_a_worker_ends_with_its_engine() -> None:
    with worker("await call('waits');") as (engine, node):
        engine.frame()
        engine.end.close()
        assert node.wait() == 69


def test_a_worker_without_waiting_calls_ends() -> None:
    with worker("await call('last');") as (engine, node):
        engine.frame()
        engine.send("answer", 1, None)
        assert node.wait() == 0

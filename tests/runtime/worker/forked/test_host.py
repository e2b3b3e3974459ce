"""The worker's end of the link, with the engine played by the test."""

import asyncio
import socket
import threading

import pytest

from pie_mlx import calls
from pie_mlx.errors import ContextReleasedError, ProtocolError
from pie_mlx.runtime.worker.forked.host import WorkerHost
from pie_mlx.runtime.worker.frames.messages import (
    NO_ANSWER,
    CallFrame,
    CancelCall,
    ErrorAnswer,
    Output,
    Ping,
    Pong,
    Stop,
    WireError,
    pack,
    pack_answer,
)
from pie_mlx.runtime.worker.frames.reader import LongFrame, WorkerFrames

INFO = calls.RuntimeInfo(models=["m"], version="1", instance_id="i", username="u")


class StruckSocket:
    """Calls `while_sending` when a frame is half sent, `before_reading` when something is there to be read; once."""

    def __init__(self, socket):
        self._socket = socket
        self.while_sending = self.before_reading = None

    def send(self, data):
        if self.while_sending is None:
            return self._socket.send(data)
        count, strike, self.while_sending = self._socket.send(data[:5]), self.while_sending, None
        strike()
        return count

    def recv_into(self, *arguments):
        strike, self.before_reading = self.before_reading, None
        if strike is not None:
            strike()
        return self._socket.recv_into(*arguments)

    def __getattr__(self, name):
        return getattr(self._socket, name)


class Other:
    """The engine's end, blocking."""

    def __init__(self):
        self.socket, self.theirs = socket.socketpair()
        self.socket.settimeout(10)
        self.link = StruckSocket(self.theirs)
        self.host = WorkerHost(self.link)
        self._frames = WorkerFrames()

    def next_frame(self):
        while (frame := self._frames.next_frame()) is None:
            self._frames.feed(self.socket.recv(65536))
        return frame.decode() if isinstance(frame, LongFrame) else frame

    def say(self, *data):
        self.socket.sendall(b"".join(data))

    def close(self):
        self.socket.close()
        self.theirs.close()


@pytest.fixture
def other():
    other = Other()
    yield other
    other.close()


def in_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()

    def result():
        thread.join(10)
        return results[0]

    return result


def test_a_blocking_call_is_answered(other):
    result = in_thread(lambda: other.host.call(calls.DescribeRuntime()))
    request = other.next_frame()
    assert request.message == calls.DescribeRuntime()
    other.say(pack_answer(request.number, INFO))
    assert result() == INFO


def test_an_answer_read_by_another_thread_wakes_its_caller(other):
    first = in_thread(lambda: other.host.call(calls.DescribeRuntime()))
    first_request = other.next_frame()
    second = in_thread(lambda: other.host.call(calls.ReceiveMessage()))
    second_request = other.next_frame()
    other.say(pack_answer(second_request.number, "hi"))  # whoever reads it, the second caller must not wait for more
    assert second() == "hi"
    other.say(pack_answer(first_request.number, INFO))
    assert first() == INFO


def test_a_ping_is_answered_while_a_call_blocks(other):
    result = in_thread(lambda: other.host.call(calls.DescribeRuntime()))
    request = other.next_frame()
    other.say(pack(Ping()))
    assert other.next_frame() == Pong()
    other.say(pack_answer(request.number, INFO))
    result()


def test_a_posted_call_goes_before_the_next_and_asks_for_no_answer(other):
    other.host.post(calls.ReleaseMatcher(1))
    assert other.next_frame() == CallFrame(NO_ANSWER, calls.ReleaseMatcher(1))


async def test_a_refusal_is_raised(other):
    waiting = asyncio.create_task(other.host.submit(calls.ForkContext(1)))
    await asyncio.sleep(0)
    request = other.next_frame()
    other.say(pack(ErrorAnswer(request.number, WireError("context_released", "ContextReleasedError", "gone"))))
    with pytest.raises(ContextReleasedError, match="gone"):
        await waiting


async def test_answers_find_their_calls_in_any_order(other):
    waiting = [asyncio.create_task(other.host.submit(calls.ReceiveMessage())) for _ in range(3)]
    await asyncio.sleep(0)
    numbers = [other.next_frame().number for _ in waiting]
    other.say(*(pack_answer(number, str(number)) for number in reversed(numbers)))
    assert await asyncio.gather(*waiting) == [str(number) for number in numbers]


async def test_a_cancelled_call_is_taken_back_and_its_answer_ignored(other):
    waiting = asyncio.create_task(other.host.submit(calls.ReceiveMessage()))
    await asyncio.sleep(0)
    number = other.next_frame().number
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert other.next_frame() == CancelCall(number)  # E5
    again = asyncio.create_task(other.host.submit(calls.ReceiveMessage()))
    await asyncio.sleep(0)
    other.say(pack_answer(number, "late"), pack_answer(other.next_frame().number, "mine"))
    assert await again == "mine"


async def test_a_stop_reaches_the_program_whoever_reads_it(other):
    reasons = []
    other.host.listen(reasons.append)
    waiting = asyncio.create_task(other.host.submit(calls.ReceiveMessage()))
    await asyncio.sleep(0)
    other.say(pack(Stop("enough")), pack_answer(other.next_frame().number, "x"))
    await waiting
    assert reasons == ["enough"]


def test_output_goes_before_the_call_that_follows_it(other):
    other.host.write("stdout", "a")
    sent = in_thread(lambda: other.host.call(calls.SendMessage("b")))
    assert other.next_frame() == Output("stdout", "a")
    request = other.next_frame()
    assert isinstance(request, CallFrame)
    other.say(pack_answer(request.number, None))
    assert sent() is None


def test_long_output_is_sent_in_pieces(other):
    written = in_thread(lambda: other.host.write("stdout", "\u20ac" * 200_000))
    pieces = []
    while sum(map(len, pieces)) < 200_000:
        pieces.append(other.next_frame().text)
    assert all(len(piece.encode()) <= 256 << 10 for piece in pieces)
    written()


def test_a_worker_that_cannot_send_reads(other):
    result = in_thread(lambda: other.host.call(calls.SendFile(bytes(8 << 20))))
    other.say(*(pack_answer(number, bytes(1 << 20)) for number in range(100, 104)), pack(Ping()))
    request = other.next_frame()
    assert request.message == calls.SendFile(bytes(8 << 20))
    assert other.next_frame() == Pong()
    other.say(pack_answer(request.number, None))
    assert result() is None


def test_what_a_finalizer_posts_while_a_frame_is_half_sent_goes_after_it(other):
    other.link.while_sending = lambda: other.host.post(calls.ReleaseMatcher(1))
    other.host.post(calls.ReleaseMatcher(2))
    assert [other.next_frame().message for _ in range(2)] == [calls.ReleaseMatcher(2), calls.ReleaseMatcher(1)]


def test_a_finalizer_does_not_wait_for_an_answer_while_a_frame_is_half_sent(other):
    def strike():
        with pytest.raises(ProtocolError, match="half sent"):
            other.host.call(calls.DescribeRuntime())

    other.link.while_sending = strike
    other.host.post(calls.ReleaseMatcher(1))
    assert other.next_frame() == CallFrame(NO_ANSWER, calls.ReleaseMatcher(1))


class Loop:
    """A loop that reads when the test wants."""

    def add_reader(self, socket, read):
        self.read = read


def test_what_strikes_before_a_call_reads_may_read_its_answer(other):
    loop = Loop()
    other.host.attend(loop)
    other.link.before_reading = loop.read
    result = in_thread(lambda: other.host.call(calls.DescribeRuntime()))
    other.say(pack_answer(other.next_frame().number, INFO))
    assert result() == INFO

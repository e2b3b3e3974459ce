import asyncio
import os
import pty
import signal
import termios

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from pie_mlx.cli.run.conversation import STOP, Conversation, unechoed
from pie_mlx.events import ProcessMessage

PASTED = "\x1b[200~first\nsecond\x1b[201~"


class Process:
    """Answers each text with one, then gives its person the turn; a `silent` one only when it is stopped."""

    def __init__(self, conversation, *, silent=False):
        self._conversation, self._silent = conversation, silent
        self.heard, self.closed = [], False
        self.begins = asyncio.Event()

    def give_turn(self):
        self._conversation.show(ProcessMessage("p", '{"turn": "yours"}', "json"))

    async def send(self, text):
        self.heard.append(text)
        self.begins.set()
        if not self._silent or text == STOP:
            self._conversation.show(ProcessMessage("p", f"answer to {text}\n"))
            self.give_turn()

    async def close_session(self):
        self.closed = True


@pytest.fixture
def terminal():
    with create_pipe_input() as keys:
        yield keys


def talking(terminal, **given):
    conversation = Conversation(terminal, DummyOutput())
    process = Process(conversation, **given)
    process.give_turn()
    return process, asyncio.create_task(conversation.forward_input(process))


async def test_a_text_is_sent_whenever_it_is_the_persons_turn(terminal, capsys):
    process, talk = talking(terminal)
    terminal.send_text("one\rtwo\r\x04")
    await talk
    assert (process.heard, process.closed) == (["one", "two"], True)
    assert capsys.readouterr().out == "answer to one\nanswer to two\n"


@pytest.mark.parametrize("typed", [PASTED, "first\x1b\rsecond"], ids=["pasted", "alt-enter"])
async def test_lines_may_stay_together(terminal, typed):
    process, talk = talking(terminal)
    terminal.send_text(f"{typed}\r\x04")
    await talk
    assert process.heard == ["first\nsecond"]


async def test_where_nothing_is_typed_it_is_asked_for_again(terminal):
    process, talk = talking(terminal)
    terminal.send_text("\r  \rone\r\x04")
    await talk
    assert (process.heard, process.closed) == (["one"], True)


async def test_ctrl_c_stops_an_answer(terminal):
    before = signal.getsignal(signal.SIGINT)
    process, talk = talking(terminal, silent=True)
    terminal.send_text("one\r")
    await process.begins.wait()
    os.kill(os.getpid(), signal.SIGINT)
    terminal.send_text("\x04")
    await talk
    assert process.heard == ["one", STOP]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture
def interruptions():
    """Ctrl-Cs that nobody takes for anything but what they are."""
    struck = []
    before = signal.signal(signal.SIGINT, lambda number, frame: struck.append(number))
    yield struck
    signal.signal(signal.SIGINT, before)


async def test_a_second_ctrl_c_ends_the_command(terminal, interruptions):
    process, talk = talking(terminal, silent=True)
    terminal.send_text("one\r")
    await process.begins.wait()
    os.kill(os.getpid(), signal.SIGINT)
    assert interruptions == []
    os.kill(os.getpid(), signal.SIGINT)
    assert interruptions == [signal.SIGINT]
    talk.cancel()


async def test_ctrl_c_takes_back_what_is_typed(terminal, interruptions):
    process, talk = talking(terminal)
    terminal.send_text("one\x03two\r\x04")
    await talk
    assert (process.heard, interruptions) == (["two"], [])


async def test_ctrl_c_twice_where_nothing_is_typed_ends_the_command(terminal, interruptions, capsys):
    _, talk = talking(terminal)
    terminal.send_text("\x03\x03")
    await talk
    assert interruptions == [signal.SIGINT]
    assert capsys.readouterr().out == "(Ctrl-D ends the conversation; so does Ctrl-C again)\n"


async def test_a_message_that_gives_no_turn_is_shown(terminal, capsys):
    conversation = Conversation(terminal, DummyOutput())
    conversation.show(ProcessMessage("p", "[1]", "json"))
    assert capsys.readouterr().out == "[1]\n"


@pytest.fixture
def terminal_pair():
    """The two ends of a terminal: what its user types and sees, and what programs read and write."""
    user, program = pty.openpty()
    yield user, program
    os.close(user)
    os.close(program)


def test_what_is_typed_during_an_answer_is_not_mixed_into_it_and_not_lost(terminal_pair):
    user, program = terminal_pair
    with unechoed(program):
        os.write(user, b"next\r")
        assert os.read(program, 100) == b"next\r"
        os.write(program, b"answer")
        assert os.read(user, 100) == b"answer"


def test_the_terminal_is_as_before_after_a_conversation(terminal_pair):
    _, program = terminal_pair
    before = termios.tcgetattr(program)
    with unechoed(program):
        assert termios.tcgetattr(program) != before
    assert termios.tcgetattr(program) == before

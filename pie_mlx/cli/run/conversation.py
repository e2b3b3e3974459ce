"""A terminal on which the user and a program take turns."""

import asyncio
import contextlib
import json
import os
import signal
import termios
from collections.abc import Generator
from types import FrameType

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output

from pie_mlx.cli.run.display import TextDisplay
from pie_mlx.cli.terminal.standard_input import MessageSink
from pie_mlx.events import ProcessEvent, ProcessMessage

YOUR_TURN = {"turn": "yours"}
_INPUT, _LOCAL = 0, 3
"""Flags among the attributes of a terminal."""
STOP = ""
"""The message that stops an answer: an empty text."""


class Conversation:
    """Prompts whenever the program says that it is the user's turn.

    Ctrl-C stops the answer, or clears the typed text; a second one ends the command, as everywhere.
    """

    def __init__(self, terminal: Input | None = None, screen: Output | None = None) -> None:
        self._display = TextDisplay(quiet=False)
        self._turn = asyncio.Event()
        self._prompt = PromptSession[str](
            "> ", multiline=True, prompt_continuation="  ", key_bindings=_keys(), input=terminal, output=screen
        )

    def show(self, event: ProcessEvent) -> None:
        """The next event, in order."""
        if isinstance(event, ProcessMessage) and event.format == "json" and json.loads(event.text) == YOUR_TURN:
            self._turn.set()
        else:
            self._display(event)

    async def forward_input(self, process: MessageSink) -> None:
        """Runs until Ctrl-D. What is typed during an answer waits for the next prompt."""
        with unechoed(self._prompt.input.fileno()):
            while (text := await self._ask()) is not None:
                await process.send(text)
                with _stopping(process):
                    await self._turn.wait()
        await process.close_session()

    async def _ask(self) -> str | None:
        await self._turn.wait()
        self._turn.clear()
        text = ""
        try:
            # The program takes an empty text for STOP, and waits for another one.
            while not text.strip():
                text = await self._prompt.prompt_async(handle_sigint=False)
        except EOFError:
            return None
        return text


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def give_up(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        elif event.is_repeat:
            event.app.exit(exception=EOFError)
            signal.raise_signal(signal.SIGINT)
        else:
            run_in_terminal(lambda: print("(Ctrl-D ends the conversation; so does Ctrl-C again)"))

    return keys


@contextlib.contextmanager
def unechoed(descriptor: int) -> Generator[None]:
    """A terminal that shows nothing of what is typed and gives it out key by key. Ctrl-C is a signal as before."""
    if not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    quiet = termios.tcgetattr(descriptor)
    quiet[_INPUT] &= ~termios.ICRNL
    quiet[_LOCAL] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


@contextlib.contextmanager
def _stopping(process: MessageSink) -> Generator[None]:
    """The first Ctrl-C stops the answer."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        asyncio.run_coroutine_threadsafe(process.send(STOP), loop)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

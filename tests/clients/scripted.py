"""An engine whose replies a script decides, so that a client's whole task can be played.

Everything is real but the model: it has no weights, reads long prompts, and draws only the script's tokens.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from inferlet import Context, brle, chat
from pie_mlx.engine.model.loading import load
from pie_mlx.runtime.engine import Engine
from pie_mlx.server import Server, ServerSettings

MODEL = "scripted"
POSITIONS, PAGES = 1 << 18, 1 << 15
"""Agents send tens of thousands of tokens."""
Script = Callable[[str], str]
"""The reply to a prompt, both as the model reads and writes them."""


class Forced:
    """A constraint that allows the tokens of a reply, from where the context is, and then the end."""

    def __init__(self, tokens: list[int], place: int) -> None:
        self._tokens, self._place = tokens, place

    def step(self, accepted: list[int]) -> list[int]:
        self._place += len(accepted)
        token = self._tokens[min(self._place, len(self._tokens) - 1)]
        return brle.spans((token, token + 1))


class Replies:
    """The reply of each context that generates. A program may go on with another generator in the middle of it."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._begun = WeakKeyDictionary[Context, tuple[int, list[int]]]()

    def constraint(self, context: Context) -> Forced:
        prompt = context.buffer()
        length = context.seq_len + len(prompt)
        if context not in self._begun:
            tokenizer = context.model.tokenizer()
            tokens = tokenizer.encode(self._script(tokenizer.decode(prompt)))
            self._begun[context] = length, [*tokens, chat.stop_tokens(context.model)[0]]
        begun, tokens = self._begun[context]
        return Forced(tokens, length - begun)


@contextmanager
def scripted_engine(home: Path, script: Script) -> Generator[str]:
    """The address of an engine whose programs generate what the script says, in this interpreter."""
    generate, replies = Context.generate, Replies(script)

    def scripted(self: Context, *given: Any, constrain: Any = None, **options: Any) -> Any:
        del constrain
        return generate(self, *given, constrain=replies.constraint(self), **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Context, "generate", scripted)
        patched.setattr(load, "maximum_positions", lambda config: POSITIONS)
        with served(home, partial(Engine, dummy=True, name=MODEL, total_pages=PAGES, seed=1), MODEL) as address:
            yield address


@contextmanager
def served(home: Path, engine: Callable[..., Engine], model: str) -> Generator[str]:
    """The address of an engine that runs in this interpreter."""
    running = _Served(home, engine, model)
    try:
        yield running.start()
    finally:
        running.stop()


class _Served:
    """A server on a thread of its own."""

    def __init__(self, home: Path, engine: Callable[..., Engine], model: str) -> None:
        self._home, self._engine, self._model = home, engine, model
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self._url = ""

    def start(self) -> str:
        self._thread.start()
        self._ready.wait()
        assert self._url, "the engine did not start"
        return self._url

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _main(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        make = partial(
            Server, ServerSettings(port=0), lambda on_event, resolve: self._engine(on_event=on_event, resolve=resolve)
        )
        try:
            async with make(home=self._home, model=self._model) as server:
                self._url = server.url.replace("ws://", "http://")
                self._ready.set()
                await self._over.wait()
        finally:
            self._ready.set()


def tool_call(name: str, arguments: dict[str, Any]) -> str:
    """A call as the model writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def offered_tools(prompt: str) -> set[str]:
    """The names of the tools that a prompt offers."""
    listed = prompt.partition("<tools>\n")[2].partition("\n</tools>")[0]
    return {json.loads(line)["function"]["name"] for line in listed.splitlines()}


def answers(prompt: str) -> int:
    """How many results of tools a prompt has."""
    return prompt.count("<|im_start|>user\n<tool_response>\n")


def ends_with_result(prompt: str) -> bool:
    """Whether the last turn is the result of a tool, as the template writes it or as smolagents does."""
    return prompt.rpartition("<|im_start|>user\n")[2].startswith(("<tool_response>", "Observation:"))

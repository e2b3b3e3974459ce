"""What depends on the model alone: any thread finds it, whatever the engine does meanwhile."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from inferlet import chat
from pie_mlx.calls import (
    Call,
    ChatState,
    Decode,
    DescribeRuntime,
    Encode,
    LoadModel,
    ParsedToolCall,
    ParseToolCall,
    RenderTurn,
    Turn,
)
from pie_mlx.engine.handlers import lookups
from pie_mlx.engine.text.tokens.tokenizer import LONG
from pie_mlx.errors import EngineStoppedError, ModelNotFoundError
from tests.engine.running import Running, engine_alone, finished


@pytest.fixture
def held(engine: Running) -> Iterator[Running]:
    """An engine whose loop does nothing until the test is over."""
    go_on = threading.Event()
    engine.core.loop.call_soon_threadsafe(go_on.wait)
    yield engine
    go_on.set()


def test_text_is_encoded_while_the_engine_is_busy(held: Running) -> None:
    tokenizer = held.model.tokenizer()
    assert tokenizer.decode(tokenizer.encode("Hello, world")) == "Hello, world"


def test_turns_are_rendered_while_the_engine_is_busy(held: Running) -> None:
    assert held.model.tokenizer().decode(chat.user(held.model, "Hi")).endswith("Hi<|im_end|>\n")


def test_other_calls_are_answered_while_a_long_text_is_encoded(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()

    def encoding(text: str, *, begins: bool = False) -> Iterator[None]:
        yield
        return [answered.wait(10)]

    async def program() -> list[int]:
        long = asyncio.create_task(engine.host.submit(Encode(name, "x" * (LONG + 1))))
        await asyncio.sleep(0)
        await engine.host.submit(DescribeRuntime())
        answered.set()
        return await long

    name = engine.model.name
    monkeypatch.setattr(engine.core.services.language.tokenizer, "encoding", encoding)
    assert finished(program()) == [True]


LONG_TURN = Turn("user", "x" * (LONG + 1))


@pytest.mark.parametrize(
    ("call", "is_long"),
    [
        (Encode("m", "x" * LONG), False),
        (Decode("m", [1] * (LONG + 1)), True),
        (RenderTurn("m", Turn("user", "x"), ChatState("seal")), False),
        (RenderTurn("m", LONG_TURN, ChatState("seal")), True),
        (RenderTurn("m", Turn("user", "x")), True),
        (RenderTurn("m", Turn("tool_result", "x"), ChatState("seal")), True),
        (RenderTurn("m", Turn("tools", schemas=["x" * LONG, "x"])), True),
        (RenderTurn("m", Turn("user", "x"), ChatState(held=[LONG_TURN])), True),
        (RenderTurn("m", Turn("user", "x"), ChatState(turns=[LONG_TURN])), True),
        (RenderTurn("m", Turn("assistant", calls=[ParsedToolCall("f", "x" * (LONG + 1))])), True),
        (ParseToolCall("m", "x" * (LONG + 1)), True),
        (ParseToolCall("m", "x", ["x" * LONG]), True),
        (LoadModel("m"), False),
    ],
)
def test_what_takes_milliseconds_is_long(call: Call[Any], is_long: bool) -> None:
    assert lookups[type(call)].is_long(call) == is_long


def test_many_threads_render_at_once(engine: Running) -> None:
    model = engine.model
    texts = [f"Turn {number}. " * number for number in range(40)]
    alone = [chat.user(model, text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: chat.user(model, text), texts)) == alone


def test_another_model_is_not_found(engine: Running) -> None:  # I2
    with pytest.raises(ModelNotFoundError):
        type(engine.model).load("another")


def test_a_process_that_has_ended_finds_nothing() -> None:
    with engine_alone(total_pages=16) as engine:
        with engine.process():
            tokenizer = engine.model.tokenizer()
        with pytest.raises(EngineStoppedError):
            tokenizer.encode("late")

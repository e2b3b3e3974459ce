"""What depends on the model alone: any thread finds it, whatever the engine does meanwhile."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pie_mlx.errors import EngineStoppedError, ModelNotFoundError
from pie_mlx.sdk import chat
from tests.engine.running import Running, engine_alone


@pytest.fixture
def held(engine: Running) -> Iterator[Running]:
    """An engine whose loop does nothing until the test is over."""
    go_on = threading.Event()
    engine.core._loop.call_soon_threadsafe(go_on.wait)
    yield engine
    go_on.set()


def test_text_is_encoded_while_the_engine_is_busy(held: Running) -> None:
    tokenizer = held.model.tokenizer()
    assert tokenizer.decode(tokenizer.encode("Hello, world")) == "Hello, world"


def test_turns_are_rendered_while_the_engine_is_busy(held: Running) -> None:
    assert held.model.tokenizer().decode(chat.user(held.model, "Hi")).endswith("Hi<|im_end|>\n")


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

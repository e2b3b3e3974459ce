"""The components that come as text do what their first lines say."""

import pytest
import wasmtime

from tests.examples.stage import EXAMPLES

PYTHON = """
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    model = Model.load(runtime.models()[0])
    tokens, texts = model.tokenizer().encode("Once upon a time"), []
    with Context(model) as context:
        for _ in range(24):
            step = context.forward()
            step.input(tokens)
            handle = step.sample([len(tokens) - 1], Sampler.argmax())
            tokens = [(await step.execute()).token(handle)]
            texts.append(model.tokenizer().decode(tokens))
    return texts
"""


@pytest.fixture
def compiled(tmp_path):
    """Compiles a component from its text, and answers its path."""

    def compiled(name):
        file = tmp_path / f"{name}.wasm"
        file.write_bytes(wasmtime.wat2wasm((EXAMPLES / "components" / f"{name}.wat").read_text(encoding="utf-8")))
        return file

    return compiled


def test_hello_sends_its_input_and_returns_a_text(play, compiled):
    played = play(compiled("hello"), {"prompt": "Hello"})
    assert (played.messages, played.result) == (['{"prompt": "Hello"}'], "Hello from a component.")


def test_greedy_draws_what_the_python_sdk_draws(play, compiled, tmp_path):
    (tmp_path / "main.py").write_text(PYTHON)
    assert play(compiled("greedy")).messages == play(tmp_path / "main.py").result

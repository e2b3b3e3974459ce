"""Typical mistakes, each with the message that its author gets; one engine runs them all."""

import gc
from pathlib import Path

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.failures import report_failed
from pie_mlx.runtime.execution.outcome import Failed

MODEL = "model = Model.load(runtime.models()[0])"
CONTEXT = f"{MODEL}\n    context = Context(model).user('hi')"
TWICE = "await step.execute()\n    await step.execute()"
STEPS = f"{CONTEXT}\n    generator = context.generate(Sampler.argmax(), max_tokens=3)"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mistakes")


MISTAKES = {
    "input['promt']": "KeyError: \"promt: input has: prompt, city, did you mean 'prompt'?\"",
    "input['x']": "KeyError: 'x: input has: prompt, city'",
    "Model.load('other')": "ModelNotFoundError: ",
    "Context('pie-tiny')": "InvalidTypeError: model: got str\n     try: pass what Model.load(name) returns",
    f"{MODEL}\n    Context(model).flush().foo": "write 'await Context(model).flush()'",
    f"{STEPS}\n    async for step in generator:\n        pass": "write 'output = await step.execute()' in the loop",
    f"{STEPS}\n    for step in generator:\n        pass": "write 'async for', in an 'async def'",
    f"{STEPS}\n    return generator.collect_text()[0]": "write 'await generator.collect_text()'",
    f"{STEPS}\n    return len(generator.collect_tokens())": "write 'await generator.collect_tokens()'",
    f"{STEPS}\n    step = await anext(generator)\n    {TWICE}": "executed already",
    f"{CONTEXT}\n    context.generate(Sampler.greedy())": "write 'argmax'",
    f"{CONTEXT}\n    context.generate(Sampler.argmax(), max_token=3)": "max_token",
    f"{CONTEXT}\n    context.generate('greedy')": "InvalidTypeError: ",
    f"{CONTEXT}\n    context.generate(Sampler.argmax(), max_tokens=-1)": "max_tokens: ",
    f"{CONTEXT}\n    context.user(3)": "InvalidTypeError: ",
    f"{CONTEXT}\n    context.release()\n    context.user('a')\n    await context.flush()": "ContextReleasedError: ",
    f"{CONTEXT}\n    context.usr('a')": "did you mean 'user'?",
    f"{CONTEXT}\n    context.append(['a'])": "InvalidTypeError: ",
    "runtime.launch('nobody.py')": "LaunchError: ",
    "runtime.launch('./', 'x', 3)": "launch",
    "messaging.push('', 'x')": "InvalidArgumentError: topic: 0 characters long",
    "messaging.subscribe(3)": "InvalidTypeError: ",
    "return {1, 2}.add": "return a str or what JSON can hold",
    "return runtime.launch": "return a str or what JSON can hold",
    "import inferlet.nothing": "'pie check'",
    "session.send(object())": "InvalidTypeError: ",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine():
    """Shared by all: starting one takes longer than a mistake."""
    async with Engine(dummy=True, total_pages=64, seed=1) as running:
        yield running


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("number", range(len(MISTAKES)))
async def test_a_mistake_gets_a_message_that_says_what_to_write(
    engine: Engine, directory: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    body, said = list(MISTAKES.items())[number]
    file = directory / f"mistake_{number}.py"
    names = "Context, Model, Sampler, messaging, runtime, session"
    file.write_text(f"from inferlet import {names}\n\n\nasync def main(input):\n    {body}\n")
    process = await engine.launch(file, {"prompt": "hi", "city": "Rome"}, capture_output=True)
    outcome = await process.outcome()
    assert isinstance(outcome, Failed)
    report_failed("program", outcome, Common(), file)
    assert said in capsys.readouterr().err
    del process, outcome
    gc.collect()  # what a mistake left unawaited warns here, and not in another test

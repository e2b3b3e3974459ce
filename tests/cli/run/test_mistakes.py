"""Typical mistakes, each with the message that its author gets; one engine runs them all."""

import gc
import re
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


# What stands in `main`: the error as its author reads it, and the hint.
MISTAKES = {
    "input['promt']": ("KeyError: \"promt: input has: prompt, city, did you mean 'prompt'?\"", ""),
    "input['x']": ("KeyError: 'x: input has: prompt, city'", ""),
    "Model.load('other')": ("ModelNotFoundError: model 'other': not loaded by this engine", "loaded models: dummy"),
    "Context('pie-tiny')": ("InvalidTypeError: model: got str", "pass what Model.load(name) returns"),
    f"{MODEL}\n    Context(model).flush().foo": (
        "AttributeError: 'coroutine' object has no attribute 'foo'",
        "'pie check' says: FILE:6: 'Context(model).flush()' is not awaited, and is used as if it were: "
        "write 'await Context(model).flush()', in an 'async def'",
    ),
    f"{STEPS}\n    async for step in generator:\n        pass": (
        "InvalidArgumentError: generate: the last step was never executed, so the next one is the same",
        "write 'output = await step.execute()' in the loop, or take text whole with collect_text()",
    ),
    f"{STEPS}\n    for step in generator:\n        pass": (
        "TypeError: 'Generator' object is not iterable",
        "'pie check' says: FILE:8: 'for' over a Generator, which waits between one and the next: "
        "write 'async for', in an 'async def'",
    ),
    f"{STEPS}\n    return generator.collect_text()[0]": (
        "TypeError: 'coroutine' object is not subscriptable",
        "'pie check' says: FILE:8: 'generator.collect_text()' is not awaited, and is used as if it were: "
        "write 'await generator.collect_text()', in an 'async def'",
    ),
    f"{STEPS}\n    return len(generator.collect_tokens())": (
        "TypeError: object of type 'coroutine' has no len()",
        "'pie check' says: FILE:8: 'generator.collect_tokens()' is not awaited, and is used as if it were: "
        "write 'await generator.collect_tokens()', in an 'async def'",
    ),
    f"{STEPS}\n    step = await anext(generator)\n    {TWICE}": (
        "StepConsumedError: step: it was executed already",
        "take the next one from the Generator",
    ),
    f"{CONTEXT}\n    context.generate(Sampler.greedy())": (
        "AttributeError: type object 'Sampler' has no attribute 'greedy'",
        "'pie check' says: FILE:7: 'Sampler.greedy': the class Sampler of the asynchronous API has no 'greedy': "
        "write 'argmax'",
    ),
    f"{CONTEXT}\n    context.generate(Sampler.argmax(), max_token=3)": (
        "TypeError: Context.generate() got an unexpected keyword argument 'max_token'",
        "'pie check' says: FILE:7: 'context.generate()': no parameter 'max_token', did you mean 'max_tokens'?",
    ),
    f"{CONTEXT}\n    context.generate('greedy')": (
        "InvalidTypeError: sampler: got str",
        "use Sampler.argmax() or another of it",
    ),
    f"{CONTEXT}\n    context.generate(Sampler.argmax(), max_tokens=-1)": (
        "InvalidArgumentError: max_tokens: -1 is negative",
        "pass 0 or more, or None for no limit",
    ),
    f"{CONTEXT}\n    context.user(3)": ("InvalidTypeError: user: got int", "pass a str"),
    f"{CONTEXT}\n    context.release()\n    context.user('a')\n    await context.flush()": (
        "ContextReleasedError: context N: it was released",
        "create, fork or open another context",
    ),
    f"{CONTEXT}\n    context.usr('a')": (
        "AttributeError: 'Context' object has no attribute 'usr'",
        "'pie check' says: FILE:7: 'context.usr': a Context of the asynchronous API has no 'usr', did you mean 'user'?",
    ),
    f"{CONTEXT}\n    context.append(['a'])": (
        "InvalidTypeError: tokens: 'str' object cannot be interpreted as an integer",
        "pass a list of ints",
    ),
    "runtime.launch('nobody.py')": ("LaunchError: FOLDER/nobody.py: no such file", "check the path"),
    "runtime.launch('./', 'x', 3)": (
        "TypeError: launch() takes from 1 to 2 positional arguments but 3 were given",
        "'pie check' says: FILE:5: 'runtime.launch()': too many positional arguments",
    ),
    "messaging.push('', 'x')": ("InvalidArgumentError: topic: 0 characters long", "use 1 to 256 characters"),
    "messaging.subscribe(3)": ("InvalidTypeError: topic: got int", "pass a str"),
    "return {1, 2}.add": (
        "InvalidTypeError: return value of type builtin_function_or_method: "
        "objects of type builtin_function_or_method are not JSON",
        "return a str or what JSON can hold",
    ),
    "return runtime.launch": (
        "InvalidTypeError: return value of type function: objects of type function are not JSON",
        "return a str or what JSON can hold",
    ),
    "import inferlet.nothing": (
        "ModuleNotFoundError: No module named 'inferlet.nothing'",
        "'pie check' of its path lists the imports that fail, and why",
    ),
    "session.send(object())": (
        "InvalidTypeError: session.send: Encoding objects of type object is unsupported",
        "use a str or values JSON can hold",
    ),
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
    body, (said, hint) = list(MISTAKES.items())[number]
    file = directory / f"mistake_{number}.py"
    names = "Context, Model, Sampler, messaging, runtime, session"
    file.write_text(f"from inferlet import {names}\n\n\nasync def main(input):\n    {body}\n")
    process = await engine.launch(file, {"prompt": "hi", "city": "Rome"}, capture_output=True)
    outcome = await process.outcome()
    assert isinstance(outcome, Failed)
    report_failed("program", outcome, Common(), file)
    expected = f"pie: program: {said}\n" + (f"     try: {hint}\n" if hint else "")
    shown = capsys.readouterr().err.replace(str(file), "FILE").replace(str(directory), "FOLDER")
    assert re.sub(r"context \d+", "context N", shown) == expected
    del process, outcome
    gc.collect()  # what a mistake left unawaited warns here, and not in another test

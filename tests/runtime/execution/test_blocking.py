"""Programs that block: a plain `def main(input)`, or a script, with the blocking SDK."""

import asyncio
import contextlib

import pytest
import pytest_asyncio

from inferlet import sync
from pie_mlx import Engine
from pie_mlx.errors import LaunchError, ProcessCancelledError
from pie_mlx.runtime.program.program import find_program, program_entry_kind

pytestmark = pytest.mark.asyncio(loop_scope="module")

GENERATING = """
from inferlet import Context, Model, Sampler, runtime, session

def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.user(input["prompt"])
        session.send("asked")
        return context.generate(Sampler.greedy(), max_tokens=4).tokens()
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["inline", "process"])
async def engine(request):
    async with Engine("pie-tiny", total_pages=128, isolation=request.param) as engine:
        yield engine


@pytest.fixture
def program(tmp_path):
    def write(source, **files):
        for name, text in {"main": source, **files}.items():
            (tmp_path / f"{name}.py").write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("source", "entry_kind"),
    [
        ("async def main(input): ...\n", "async"),
        ("def main(input): ...\n", "blocking"),
        ("if True:\n    def main(input): ...\n", "blocking"),
        ("from helper import main\n", "async"),
        ("try:\n    def main(input): ...\nexcept ValueError:\n    async def main(input): ...\n", "async"),
        ("from inferlet import session\nsession.send('hello')\n", "script"),
        ("import inferlet\nfor i in range(3):\n    inferlet.session.send(i)\n", "script"),
    ],
)
async def test_the_style_is_read_off_the_source(program, source, entry_kind):
    assert program_entry_kind(find_program(program(source))) == entry_kind


@pytest.mark.parametrize(
    "source",
    [
        "from inferlet import session\nasync def mian(input):\n    session.send('typo')\n",
        "import inferlet\nX = 1\n",
        "print('no engine is used')\n",
    ],
)
async def test_a_forgotten_or_misspelled_main_is_no_script(program, source):
    with pytest.raises(LaunchError, match="no 'async def main"):
        find_program(program(source))


async def test_a_script_that_waits_to_be_the_main_module_is_refused_with_that_reason(program):
    source = "from inferlet import session\nif __name__ == '__main__':\n    session.send('hello')\n"
    with pytest.raises(LaunchError, match="nothing runs under 'if __name__ == \"__main__\"'"):
        find_program(program(source))


async def test_a_plain_main_generates(engine, program):
    messages = []
    process = await engine.launch(program(GENERATING), {"prompt": "Hi"}, on_message=messages.append)
    tokens = await process.result()
    assert len(tokens) == 4
    assert messages == ["asked"]
    assert (await engine.page_usage()).used == 0  # E7


async def test_a_script_reads_its_input_and_sends(engine, program):
    path = program(
        "from inferlet import Context, Model, Sampler, runtime, session\n"
        "context = Context(Model.load(runtime.models()[0])).user(runtime.input()['prompt'])\n"
        "for event in context.generate(Sampler.greedy(), max_tokens=3, decode=True):\n"
        "    session.send(type(event).__name__)\n"
    )
    messages = []
    process = await engine.launch(path, {"prompt": "Hi"}, on_message=messages.append)
    assert await process.result() is None
    assert messages[-1] == "Done"


async def test_a_program_that_blocks_takes_keywords_and_own_modules(engine, program):
    path = program(
        '# /// pie\n# [package]\n# name = "demo"\n# version = "1.0.0"\n# [runtime]\n# call = "kwargs"\n# ///\n'
        "from helper import total\ndef main(a, b=2):\n    return total(a, b)\n",
        helper="from inferlet import runtime, messaging\nimport inferlet.spec\n"
        "def total(a, b):\n    messaging.push('t', str(a + b))\n    return messaging.pull('t')\n",
    )
    assert await engine.run(path, {"a": 1}) == "3"


async def test_messages_and_children_block(engine, program):
    path = program(
        "from inferlet import messaging, runtime\n"
        "def main(input):\n"
        "    if input.get('child'):\n"
        "        messaging.broadcast('news', 'hello')\n"
        "        return {'n': 7}\n"
        "    with messaging.subscribe('news') as news:\n"
        "        child = runtime.launch('main.py', {'child': True})\n"
        "        return [next(iter(news)), child.result()]\n"
    )
    assert await engine.run(path) == ["hello", {"n": 7}]


async def test_waiting_for_the_client_is_cancelled_at_once(engine, program):
    path = program(
        "from inferlet import session\n"
        "def main(input):\n"
        "    session.send('ready')\n"
        "    try:\n"
        "        return session.receive()\n"
        "    finally:\n"
        "        session.send('leaving')\n"
    )
    messages = []
    ready = asyncio.Event()
    process = await engine.launch(path, on_message=lambda text: (messages.append(text), ready.set()))
    await ready.wait()
    process.cancel("enough")
    with pytest.raises(ProcessCancelledError, match="enough"):
        await process.result()
    assert messages == ["ready", "leaving"]


async def test_a_reply_reaches_a_program_that_blocks(engine, program):
    process = await engine.launch(
        program("from inferlet import session\ndef main(input):\n    return session.receive()\n")
    )
    process.send("hello")
    assert await process.result() == "hello"


async def test_an_error_ends_it_with_its_own_lines(engine, program):
    with contextlib.suppress(Exception):
        await engine.run(program("def main(input):\n    return 1 / 0\n"))
    process = await engine.launch(program("def main(input):\n    return 1 / 0\n"))
    outcome = await process.outcome()
    assert outcome.error_type == "ZeroDivisionError"


@pytest.mark.parametrize("ending", ["sys.exit()", "sys.exit(0)", "exit()"])
async def test_a_script_that_exits_without_a_code_has_ended_well(engine, program, ending):  # Y1
    source = f"import sys\nfrom inferlet import session\nsession.send('said')\n{ending}\nsession.send('never')\n"
    messages = []
    process = await engine.launch(program(source), on_message=messages.append)
    assert await process.result() is None
    assert messages == ["said"]


async def test_a_program_that_exits_with_a_code_has_failed(engine, program):
    process = await engine.launch(program("import sys\nasync def main(input):\n    sys.exit('no luck')\n"))
    outcome = await process.outcome()
    assert (outcome.error_type, str(outcome.error)) == ("SystemExit", "no luck")


async def test_a_plain_function_runs_beside_the_caller(engine):
    def main(input):
        model = sync.Model.load(sync.runtime.models()[0])
        return sync.Context(model).user("Hi").generate_text(sync.Sampler.greedy(), max_tokens=2)

    assert isinstance(await engine.run(main), str)

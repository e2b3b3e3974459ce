"""Slips in how a program uses the SDK that its source shows, and programs that hold none."""

import ast
import re
import textwrap
from pathlib import Path

import pytest

from pie_mlx.runtime.check.sdk_usage import sdk_usage_findings
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.program.source_reading import findings_of

ROOT = Path(__file__).parents[3]
BEGIN = """\
import asyncio
import inferlet
from inferlet import Context, Model, Sampler, chat, messaging, runtime, session
"""
ASYNC = """
async def main(input):
    model = Model.load(runtime.models()[0])
    context = Context(model)
    generator = context.generate(Sampler.argmax())
"""
BLOCKING = """
def main(input):
    model = Model.load(runtime.models()[0])
    context = Context(model)
"""


def findings(body, begin=ASYNC, entry_kind="async"):
    """Of a main that goes on like this, with the line counted from there."""
    source = BEGIN + begin + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    found = sdk_usage_findings(ast.parse(source), Path("main.py"), entry_kind)
    first = len((BEGIN + begin).splitlines())
    return [re.sub(r"^main\.py:(\d+)", lambda line: str(int(line[1]) - first), finding) for finding in found]


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("context.flush()", "context.flush()"),
        ("generator.collect_text()", "generator.collect_text()"),
        ("session.receive()", "session.receive()"),
        ("inferlet.session.receive()", "inferlet.session.receive()"),
        ("messaging.pull('a')", "messaging.pull(...)"),
        ("context.fork().flush()", "context.fork().flush()"),
        ("context.user('a').flush()", "context.user('a').flush()"),
        ("runtime.launch('a').result()", "runtime.launch('a').result()"),
    ],
)
def test_a_call_that_nobody_awaits_is_a_finding(line, call):
    function = call.partition("(")[0] if call.endswith("(...)") else call[:-2]
    assert findings(line) == [
        f"1: '{function}()' is not awaited, so it does nothing: write 'await {call}', in an 'async def'"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "tokens = generator.collect_tokens()[0]",
        "session.send(generator.collect_text())",
        "print(session.receive())",
        "text = 'It says ' + generator.collect_text()",
        "text = f'{session.receive()}'",
        "same = session.receive() == 'yes'",
        "for token in generator.collect_tokens(): pass",
        "words = session.receive().split()",
        "while session.receive(): pass",
        "text = session.receive(); words = text.split()",
    ],
)
def test_a_result_that_is_used_before_it_is_awaited_is_a_finding(line):
    (finding,) = findings(line)
    assert " is not awaited, and is used as if it were: write 'await " in finding


def test_a_step_that_is_not_awaited_is_found_where_it_was_made():
    body = """
        async for step in generator:
            output = step.execute()
            session.send(output.tokens)
        """
    assert findings(body) == [
        "2: 'step.execute()' is not awaited, and is used as if it were: write 'await step.execute()', in an 'async def'"
    ]


def test_what_a_plain_loop_over_steps_forgets_is_found_with_it():
    body = """
        for step in generator:
            step.execute()
        """
    assert [finding.partition(":")[0] for finding in findings(body)] == ["1", "2"]


@pytest.mark.parametrize("line", ["for step in generator: pass", "steps = [step for step in generator]"])
def test_a_plain_loop_over_what_waits_is_a_finding(line):
    assert findings(line) == [
        "1: 'for' over a Generator, which waits between one and the next: write 'async for', in an 'async def'"
    ]


@pytest.mark.parametrize(
    ("over", "name"),
    [
        ("[1, 2]", "list"),
        ("range(3)", "range"),
        ("runtime.models()", "list"),
        ("await generator.collect_text()", "str"),
    ],
)
def test_a_waiting_loop_over_a_plain_sequence_is_a_finding(over, name):
    assert findings(f"async for part in {over}: pass") == [
        f"1: 'async for' over a {name}, where nothing is waited for: write 'for'"
    ]


def test_a_waiting_loop_over_a_context_is_a_finding():
    assert "walk what its generate() gives" in findings("async for step in context: pass")[0]


@pytest.mark.parametrize("line", ["await session.send('a')", "await context.user('a')", "await context.fork()"])
def test_awaiting_what_answers_at_once_is_a_finding(line):
    (finding,) = findings(line)
    assert finding.endswith(", which answers at once: leave 'await' out")


@pytest.mark.parametrize(
    ("written", "what", "meant"),
    [
        ("context.genrate", "a Context of the asynchronous API", "generate"),
        ("generator.colect_text", "a Generator of the asynchronous API", "collect_text"),
        ("session.recieve", "'inferlet.session' of the asynchronous API", "receive"),
        ("inferlet.runtime.modles", "'inferlet.runtime' of the asynchronous API", "models"),
        ("chat.Decodr", "'inferlet.chat' of the asynchronous API", "Decoder"),
        ("Model.laod", "the class Model of the asynchronous API", "load"),
        ("context.model.tokeniser", "a Model of the asynchronous API", "tokenizer"),
        ("model.tokenizer().encod", "a Tokenizer of the asynchronous API", "encode"),
        ("chat.Decoder(model).fed", "a Decoder of the asynchronous API", "feed"),
    ],
)
def test_a_misspelt_attribute_is_a_finding_with_the_nearest(written, what, meant):
    name = written.rpartition(".")[2]
    assert findings(f"x = {written}") == [f"1: '{written}': {what} has no '{name}', did you mean '{meant}'?"]


def test_an_attribute_like_none_there_is_shows_what_there_is():
    (finding,) = findings("session.wxyz()")
    assert finding.endswith("has no 'wxyz': it has receive, receive_file, send, send_file")


def test_a_parameter_with_an_annotation_is_known():
    body = """
        async def helper(context: Context, other: Context = None, *more: Context):
            context.flush()
            other.flush()
            more.flush()
        """
    assert [finding.partition(":")[0] for finding in findings(body)] == ["2"]


def test_a_context_of_with_is_known_and_seen_by_inner_functions():
    body = """
        with Context(model) as fork:
            def inner():
                return fork.genrate
        """
    assert len(findings(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "await context.flush()",
        "task = asyncio.create_task(context.flush())",
        "await asyncio.gather(context.flush(), generator.collect_text())",
        "await asyncio.gather(*(context.fork().flush() for _ in range(2)))",
        "later = context.flush()\nawait later",
        "later = context.flush()\nlater = await later\nlater.anything",
        "later = context.flush()\nlater.close()",
        "later = context.flush()\nif later is None: pass",
        "context = None\ncontext.anything()",
        "context = input['context']\ncontext.flush()",
        "for context in input: context.flush()",
        "context, other = input\ncontext.flush()",
        "try: context.genrate\nexcept AttributeError: pass",
        "if hasattr(context, 'genrate'): context.genrate()",
        "context.mine = 1\ncontext.mine",
        "def session(): ...\nsession.recieve()",
        "def change():\n    nonlocal context\n    context = 1\ncontext.genrate",
        "async for step in generator: (await step.execute()).tokens",
        "texts = [(await step.execute()).tokens async for step in generator]",
        "lambda context: context.flush().x",
        "with context.idle() as nothing: nothing.anything",
        "match input:\n    case {'a': context}: context.anything",
        "del context\ncontext.anything",
        "def len(x): ...\nlen(context.flush())",
        "model.info.vocabulary_size\nmodel.host\nchat.Event.Idle\ncontext.__class__.__name__",
        "snapshot = Context.open(model, 'a')\nsnapshot.anything",
    ],
)
def test_what_is_right_or_not_certain_is_no_finding(body):
    assert findings(body) == []


def test_names_that_a_star_may_bind_are_not_looked_at():
    source = "from inferlet import *\nfrom inferlet import session\nsession.recieve()\n"
    assert sdk_usage_findings(ast.parse(source), Path("main.py"), "async") == []


def test_a_blocking_program_is_held_to_the_blocking_api():
    body = """
        context.flush()
        for tokens in context.generate(Sampler.greedy()):
            session.send(str(tokens))
        context.generate_txt(Sampler.greedy())
        """
    (finding,) = findings(body, BLOCKING, "blocking")
    assert finding.startswith("4: 'context.generate_txt': a Context of the blocking API has no 'generate_txt'")


PROGRAMS = [path.parent for room in ("examples", "pie_mlx/builtin") for path in (ROOT / room).glob("*/Pie.toml")]


@pytest.mark.parametrize("directory", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_program_that_works_holds_no_finding(directory):
    program = find_program(directory)
    assert findings_of(program.manifest, program.main_file, program.directory) == []
    for file in directory.rglob("*.py"):
        assert sdk_usage_findings(ast.parse(file.read_text()), file, "async") == []


@pytest.mark.parametrize("template", sorted((ROOT / "pie_mlx/cli/templates").glob("*/main.py.template")), ids=str)
def test_a_template_holds_no_finding(template):
    assert sdk_usage_findings(ast.parse(template.read_text()), template, "async") == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("context.generate(max_token=8)", "'context.generate()': no parameter 'max_token', did you mean 'max_tokens'?"),
        ("Model.load()", "'Model.load()': missing a required argument: 'name'"),
        ("context.fork(1)", "'context.fork()': too many positional arguments"),
        ("Context(model, colour='red')", "'Context()': no parameter 'colour': it has model"),
    ],
)
def test_a_call_that_does_not_fit_is_a_finding(line, problem):
    assert findings(line) == [f"1: {problem}"]


@pytest.mark.parametrize(
    "line",
    [
        "options = {'max_tokens': 8}; context.generate(Sampler.argmax(), **options)",
        "names = ['a']; Model.load(*names)",
        "try:\n    context.fork(1)\nexcept TypeError:\n    pass",
        "sorted([1], keyy=None)",
    ],
)
def test_a_call_that_may_fit_is_no_finding(line):
    assert findings(line) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("promt = 1; context.user(prompt)", "'prompt' is not defined, did you mean 'promt'?"),
        ("[one for one in others]", "'others' is not defined"),
        ("lambda x: x + y_total", "'y_total' is not defined"),
    ],
)
def test_a_name_that_nothing_binds_is_a_finding(line, problem):
    assert findings(line) == [f"1: {problem}"]


@pytest.mark.parametrize(
    "line",
    [
        "print(__file__, __name__, len, ValueError)",
        "import os.path as path; path.join('a')",
        "later(); \ndef later(): return inner\ninner = 1",
        "with open('a') as file, open('b') as (x, y): print(file, x, y)",
        "match input:\n    case {'a': c, **d}: print(c, d)\n    case [a, *b] as whole: print(a, b, whole)",
        "try:\n    pass\nexcept ValueError as error:\n    print(error)",
        "if (n := len('a')) > 1: print(n)",
        "globals()['made'] = 1; print(made)",
        "try:\n    print(maybe)\nexcept NameError:\n    pass",
        "def outer():\n    global made\n    made = 1\nprint(made)",
        "class A:\n    x = 1\n    y = x\n    def z(self, *a, b=2, **c): return self, a, b, c, A",
        "for i, (j, k) in enumerate([(1, 2)]): print(i, j, k)",
        "del model; print({a: b for a, b in {}.items()})",
    ],
)
def test_a_name_that_is_bound_somewhere_is_no_finding(line):
    assert findings(line) == []


def test_what_main_returns_unawaited_is_a_finding():
    (finding,) = findings("return generator.collect_text()")
    assert " is not awaited, and is used as if it were: " in finding
    assert findings("def later():\n    return generator.collect_text()\nreturn await later()") == []


def test_a_name_of_the_other_api_is_told_with_what_it_is_here():
    assert findings("Sampler.greedy()")[0].endswith("has no 'greedy': write 'argmax'")
    assert findings("Sampler.argmax()", BLOCKING, "blocking")[0].endswith("has no 'argmax': write 'greedy'")


def test_a_method_called_main_may_return_what_its_caller_awaits():
    assert findings("class A:\n    async def main(self):\n        return generator.collect_text()\nA()") == []


STEPS = "async for step in context.generate(Sampler.argmax(), max_tokens=4):\n    {}"
IDLE = (
    "1: no step of this loop is executed, so the text does not grow: write 'output = await step.execute()' in the loop"
)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("print('a')", [IDLE]),
        ("await step.execute()", []),
        ("break", []),
        ("generator.accept([1])", []),
    ],
)
def test_a_loop_whose_steps_are_not_executed_is_a_finding(body, found):
    assert findings(STEPS.format(body)) == found

"""Constraints on a model whose cue opens its reasoning: pie-tiny with such a template."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pie_mlx
from inferlet import Context, Generator, GrammarConstraint, JsonSchema, Matcher, Regex, Sampler, chat, reasoning
from pie_mlx import Engine
from pie_mlx.errors import GrammarError, StructuredOutputError
from tests.engine.running import Running, engine_alone

ARGMAX = Sampler.argmax()
YES = {"type": "object", "properties": {"yes": {"const": True}}, "required": ["yes"]}
CUE = "{{- '<|im_start|>assistant\\n' }}\n    {%- if enable_thinking"


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pie-tiny, its template as those of DeepSeek R1 and QwQ: the cue ends with `<think>`."""
    source = Path(pie_mlx.__file__).parent / "engine" / "model" / "embedded" / "pie-tiny"
    folder = tmp_path_factory.mktemp("models") / "thinker"
    shutil.copytree(source, folder)
    template = folder / "chat_template.jinja"
    text = template.read_text()
    before, after = text.rsplit(CUE, 1)
    template.write_text(before + CUE.replace("assistant\\n", "assistant\\n<think>\\n") + after)
    return folder


@pytest.fixture(scope="module")
def shared(thinker: Path) -> Iterator[Running]:
    with engine_alone(model=str(thinker)) as started:
        yield started


@pytest.fixture
def asked(shared: Running) -> Iterator[Context]:
    """A question to which it begins with a thought that it closes by itself."""
    with shared.process() as host:
        model = Running(shared.core, shared.events, host).model
        assert model.info.formats.reasoning is not None
        assert model.info.formats.reasoning.opened_by_cue
        yield Context(model).user("What is 3 plus 4?")


def thought_and_text(context: Context, tokens: list[int]) -> tuple[str, str]:
    """What the decoders tell a reader apart."""
    thinks, speaks = reasoning.Decoder(context.model), chat.Decoder(context.model)
    thought = [thinks.feed(tokens), thinks.feed([]), thinks.feed([])]
    ends = [event.text for event in thought if isinstance(event, reasoning.End)]
    speaks.feed(tokens)
    event = speaks.finish()
    return "".join(ends), getattr(event, "text", "")


@pytest.mark.parametrize("speculates", [False, True])
async def test_json_comes_as_text_behind_the_thought(asked: Context, speculates: bool) -> None:  # G11, D6, V7
    def generator() -> Generator:
        fork = asked.fork()
        return fork.generate(ARGMAX, constrain=JsonSchema(YES), system_speculation=speculates)

    assert json.loads(await generator().collect_text()) == {"yes": True}
    value = asked.fork().generate(ARGMAX, system_speculation=speculates)
    assert await value.collect_json(schema=YES) == {"yes": True}
    ended = generator()
    thought, text = thought_and_text(asked, await ended.collect_tokens())
    assert "3 + 4 = 7" in thought
    assert json.loads(text) == {"yes": True}
    assert ended.finish_reason == "grammar"


async def test_a_cue_of_the_program_has_opened_a_thought_too_in_forks_and_snapshots(asked: Context) -> None:  # G2, N2
    await asked.flush()
    asked.cue()
    generator = asked.fork().generate(ARGMAX, constrain=Regex("no"), auto_flush=False)
    thought, text = thought_and_text(asked, await generator.collect_tokens())
    assert thought
    assert text == "no"
    name = asked.snapshot()
    opened = Context.open(asked.model, name)
    assert opened is not None
    assert await opened.generate(ARGMAX, constrain=Regex("no"), auto_flush=False).collect_text() == "no"
    Context.delete(asked.model, name)


async def test_a_grammar_holds_at_once_where_something_is_written_behind_the_cue(asked: Context) -> None:  # G12
    closed, begun = asked.cue().fork(), asked.fork()
    closed.append(asked.model.tokenizer().encode("</think>\n\n"))
    await begun.generate(ARGMAX, max_tokens=2, auto_flush=False).collect_tokens()
    for context in (closed, begun):
        generator = context.generate(ARGMAX, constrain=Regex("no"), auto_flush=False)
        assert asked.model.tokenizer().decode(await generator.collect_tokens()) == "no"


async def test_text_behind_a_thought_that_was_closed_before_is_visible(asked: Context) -> None:  # G11, D6
    closed, thinking = asked.cue().fork(), asked.fork()
    closed.append(asked.model.tokenizer().encode("\n</think>\n\n"))
    assert await closed.generate(ARGMAX, constrain=Regex("no"), auto_flush=False).collect_text() == "no"
    generator = thinking.generate(ARGMAX, auto_flush=False)
    async for step in generator:
        output = await step.execute()
        if "</think>" in asked.model.tokenizer().decode(output.tokens):
            break
    assert await thinking.fork().generate(ARGMAX, constrain=Regex("no"), auto_flush=False).collect_text() == "no"
    thinking.seal().user("And 1 plus 1?")
    assert await thinking.generate(ARGMAX, max_tokens=4).collect_text() == ""


async def test_a_matcher_of_the_program_begins_where_it_says(asked: Context) -> None:  # G12
    tokenizer, grammar = asked.model.tokenizer(), Regex("no").grammar()
    at_once = GrammarConstraint(Matcher(grammar, tokenizer))
    assert tokenizer.decode(await asked.fork().generate(ARGMAX, constrain=at_once).collect_tokens()) == "no"
    behind = GrammarConstraint(Matcher(grammar, tokenizer, behind="</think>"))
    assert await asked.fork().generate(ARGMAX, constrain=behind).collect_text() == "no"


async def test_other_stop_tokens_leave_the_thought_free(asked: Context) -> None:  # G2, G13
    generator = asked.generate(ARGMAX, constrain=Regex("no")).add_stop(asked.model.tokenizer().encode("!"))
    assert await generator.collect_text() == "no"


async def test_a_thought_that_is_cut_is_no_json(asked: Context) -> None:  # G4, G11
    assert await asked.fork().generate(ARGMAX, max_tokens=5, constrain=JsonSchema(YES)).collect_text() == ""
    generator = asked.fork().generate(ARGMAX, max_tokens=5)
    with pytest.raises(StructuredOutputError, match="does not parse") as caught:
        await generator.collect_json(schema=YES)
    assert caught.value.text == ""
    assert generator.finish_reason == "length"


async def test_a_constraint_that_is_refused_leaves_no_cue(asked: Context) -> None:  # G2, E3
    before = asked.buffer()
    with pytest.raises(GrammarError):
        asked.generate(ARGMAX, constrain=Regex("("))
    assert asked.buffer() == before


PROGRAM = """
import inferlet
from inferlet import Context, JsonSchema, Model, Sampler, runtime

async def main(input):
    context = Context(Model.load(runtime.models()[0])).user("What is 3 plus 4?")
    text = await context.fork().generate(Sampler.argmax(), constrain=JsonSchema(input)).collect_text()
    value = await context.generate(Sampler.argmax()).collect_json(schema=input)
    return [text, value]
"""


@pytest.mark.parametrize("isolation", ["inline", "process"])
def test_programs_in_workers_get_the_same(thinker: Path, tmp_path: Path, isolation: Any) -> None:  # G11
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    async def run() -> Any:
        async with Engine(str(thinker), total_pages=64, isolation=isolation) as engine:
            return await engine.run(program, YES)

    text, value = asyncio.run(run())
    assert json.loads(text) == value == {"yes": True}

"""Constraints on a model whose replies are messages in channels: pie-tiny with gpt-oss's tokens and template.

It has never seen them, so that what it says before its answer is a script that a constraint holds it to.
"""

import asyncio
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import pie_mlx
from inferlet import (
    Context,
    Generator,
    GrammarConstraint,
    JsonSchema,
    Matcher,
    Model,
    Regex,
    Sampler,
    chat,
    reasoning,
    tools,
)
from pie_mlx import Engine
from pie_mlx.errors import GrammarRejectedError, StructuredOutputError
from tests.engine.running import Running, engine_alone

from . import tool_templates

ARGMAX = Sampler.argmax()
YES = {"type": "object", "properties": {"yes": {"const": True}}, "required": ["yes"]}
WEATHER = {"name": "weather", "parameters": {"type": "object", "properties": {"warm": {"const": True}}}}
RENAMED = {
    "<|im_start|>": "<|start|>",
    "<|im_end|>": "<|return|>",
    "<tool_call>": "<|end|>",
    "</tool_call>": "<|channel|>",
    "<tool_response>": "<|message|>",
    "</tool_response>": "<|call|>",
}
HEADER = "<|channel|>final<|message|>"
THOUGHT = "<|channel|>analysis<|message|>It is <|end|><|start|>assistant"


@pytest.fixture(scope="module")
def messenger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(pie_mlx.__file__).parent / "engine" / "model" / "embedded" / "pie-tiny"
    folder = tmp_path_factory.mktemp("models") / "messenger"
    shutil.copytree(source, folder)
    (folder / "chat_template.jinja").write_text(tool_templates.HARMONY)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (folder / name).read_text()
        for before, after in RENAMED.items():
            text = text.replace(json.dumps(before), json.dumps(after))
        (folder / name).write_text(text)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    for token in tokenizer["added_tokens"]:
        token["special"] = token["special"] or token["content"] in RENAMED.values()
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    ends = [token["id"] for token in tokenizer["added_tokens"] if token["content"] in ("<|return|>", "<|call|>")]
    for name in ("config.json", "generation_config.json"):
        config = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**config, "eos_token_id": ends}))
    return folder


@pytest.fixture(scope="module")
def shared(messenger: Path) -> Iterator[Running]:
    with engine_alone(model=str(messenger)) as started:
        yield started


@pytest.fixture
def asked(shared: Running) -> Iterator[Context]:
    with shared.process() as host:
        model = Running(shared.core, shared.events, host).model
        assert model.info.formats.channels
        assert model.info.formats.answer_opening == HEADER
        yield Context(model).user("Is it warm?")


class Script:
    """Allows what it is given, token by token, and then everything."""

    def __init__(self, model: Model, text: str, then: Sequence[int] = ()) -> None:
        self._tokens = [*model.tokenizer().encode(text), *then]
        self._size = model.info.vocabulary_size

    def step(self, accepted: list[int]) -> list[int]:
        assert self._tokens[: len(accepted)] == accepted or not self._tokens
        del self._tokens[: len(accepted)]
        return [self._tokens[0], 1, self._size - self._tokens[0] - 1] if self._tokens else []


def said(context: Context, text: str, **options: Any) -> Generator:
    """A Generator on a fork that has to begin with a text."""
    return context.fork().generate(ARGMAX, constrain=[Script(context.model, text)], **options)


def thought_and_text(context: Context, tokens: list[int]) -> tuple[str, str]:
    """What the decoders tell a reader apart."""
    thinks, speaks = reasoning.Decoder(context.model), chat.Decoder(context.model)
    events = [thinks.feed(tokens), thinks.feed([]), thinks.feed([])]
    speaks.feed(tokens)
    ends = [event.text for event in events if isinstance(event, reasoning.End)]
    return "".join(ends), getattr(speaks.finish(), "text", "")


@pytest.mark.parametrize("before", [HEADER, THOUGHT + HEADER, THOUGHT + THOUGHT + HEADER])
async def test_json_comes_in_the_final_channel(asked: Context, before: str) -> None:  # G11, D6
    generator = said(asked, before).constrain(JsonSchema(YES))
    tokens = await generator.collect_tokens()
    whole = asked.model.tokenizer().decode(tokens)
    text = whole.removeprefix(before)
    assert whole == before + text
    assert json.loads(text) == {"yes": True}
    assert generator.finish_reason == "grammar"
    assert thought_and_text(asked, tokens)[1] == text
    assert await said(asked, before).constrain(JsonSchema(YES)).collect_text() == text
    assert await said(asked, before).collect_json(schema=YES) == {"yes": True}


async def test_the_header_is_known_by_its_tokens_and_not_by_its_text(asked: Context) -> None:  # D4, G11
    spelled = 'Behind "<|channel|>final<|message|>" '
    tokenizer = asked.model.tokenizer()
    plain = [token for character in spelled for token in tokenizer.encode(character)]
    then = [*plain, *tokenizer.encode("<|end|><|start|>assistant" + HEADER)]
    script = Script(asked.model, "<|channel|>analysis<|message|>", then)
    tokens = await asked.generate(ARGMAX, constrain=[script, JsonSchema(YES)]).collect_tokens()
    thought, text = thought_and_text(asked, tokens)
    assert thought == spelled
    assert json.loads(text) == {"yes": True}


async def test_nothing_ends_a_reply_before_its_grammar(asked: Context) -> None:  # G13
    matcher = Matcher(Regex("no").grammar(), asked.model.tokenizer(), behind=HEADER)
    ids = asked.model.tokenizer().encode
    for text in (
        "",
        "<|channel|>analysis<|message|>Well",
        "<|end|>",
        "<|start|>assistant<|channel|>commentary<|message|>",
    ):
        matcher.accept_tokens(ids(text))
        for stop in asked.model.info.formats.stop_tokens:
            with pytest.raises(GrammarRejectedError):
                matcher.accept_tokens([stop])
        matcher.fork().accept_tokens(ids("<|end|>"))
    matcher.accept_tokens(ids("<|channel|>final"))
    for text in ("ly", " ", "<|end|>", "<|channel|>"):  # no other header of this channel: no grammar would begin there
        with pytest.raises(GrammarRejectedError):
            matcher.accept_tokens(ids(text)[:1])
    matcher.accept_tokens(ids("<|message|>no"))
    assert matcher.is_complete


@pytest.mark.parametrize("speculates", [False, True])
async def test_a_thought_that_the_program_chose_is_taken_by_the_grammar(asked: Context, speculates: bool) -> None:  # G7
    ids = asked.model.tokenizer().encode
    generator = asked.generate(ARGMAX, constrain=JsonSchema(YES), system_speculation=speculates)
    chosen = ids(THOUGHT + "<|channel|>final")
    assert generator.accept(chosen) == chosen
    header, text = asked.model.tokenizer().decode(await generator.collect_tokens()).split("{", 1)
    assert header == "<|message|>"
    assert json.loads("{" + text) == {"yes": True}


async def test_a_cue_of_the_program_counts_too_in_forks_and_snapshots(asked: Context) -> None:  # G2, N2
    await asked.flush()
    asked.cue()
    options = {"auto_flush": False}
    assert await said(asked, THOUGHT + HEADER, **options).constrain(Regex("no")).collect_text() == "no"
    name = asked.snapshot()
    opened = Context.open(asked.model, name)
    assert opened is not None
    assert await said(opened, THOUGHT + HEADER, **options).constrain(Regex("no")).collect_text() == "no"
    Context.delete(asked.model, name)


async def test_a_grammar_holds_at_once_where_something_is_written_behind_the_cue(asked: Context) -> None:  # G12
    asked.cue().append(asked.model.tokenizer().encode(HEADER))
    generator = asked.generate(ARGMAX, constrain=Regex("no"), auto_flush=False)
    assert asked.model.tokenizer().decode(await generator.collect_tokens()) == "no"


async def spoken(context: Context, text: str) -> str:
    """Have the model go on with a text; what of it is visible."""
    count = len(context.model.tokenizer().encode(text))
    script = Script(context.model, text)
    return await context.generate(ARGMAX, max_tokens=count, constrain=script, auto_flush=False).collect_text()


@pytest.mark.parametrize("cut", range(1, 12))
async def test_a_reply_goes_on_in_the_message_in_which_it_was_cut(asked: Context, cut: int) -> None:  # G11, D6, N2
    pieces = ["<|channel|>", "analysis", "<|message|>", "It", " is", "<|end|>", "<|start|>", "assistant"]
    pieces += ["<|channel|>", "final", "<|message|>", "Yes"]
    asked.cue()
    for text in pieces[:cut]:
        await spoken(asked, text)
    name = asked.snapshot()
    opened = Context.take(asked.model, name)
    assert opened is not None
    for context in (asked.fork(), opened):
        assert await spoken(context, "".join(pieces[cut:])) == "Yes"


async def test_what_was_shown_without_a_header_is_not_shown_again(asked: Context) -> None:  # D4
    asked.cue()
    assert [await spoken(asked, text) for text in ("Well", " then", "<|end|>")] == ["Well", " then", ""]
    assert await spoken(asked, "<|start|>assistant" + HEADER + "Yes") == "Yes"


async def test_an_answer_that_has_not_begun_is_no_json(asked: Context) -> None:  # G4, G11
    for before in (THOUGHT, "<|channel|>final"):
        count = len(asked.model.tokenizer().encode(before))
        generator = said(asked, before, max_tokens=count)
        with pytest.raises(StructuredOutputError, match="does not parse") as caught:
            await generator.collect_json(schema=YES)
        assert caught.value.text == ""
        assert generator.finish_reason == "length"


async def test_calls_begin_with_their_own_header(asked: Context) -> None:  # D7
    grammar, matcher = tools.native_grammar(asked.model, [WEATHER]), tools.native_matcher(asked.model, [WEATHER])
    assert grammar is not None
    assert matcher is not None
    for constraint in (grammar, GrammarConstraint(matcher)):
        text = asked.model.tokenizer().decode(
            await asked.fork().generate(ARGMAX, constrain=constraint).collect_tokens()
        )
        assert text.startswith(" to=functions.weather<|channel|>commentary json<|message|>{")
        assert tools.parse_call(asked.model, text) == ("weather", '{"warm":true}')


CALL = " to=functions.weather<|channel|>commentary json<|message|>{}"


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (CALL, "<|call|>"),
        (THOUGHT + CALL, "<|call|>"),
        (HEADER + CALL.replace("<|channel|>", "").replace("<|message|>", ""), "<|end|>"),
        ("<|channel|>analysis<|message|>So", "<|end|>"),
        ("to=functions.weather", "<|end|>"),
    ],
)
async def test_a_reply_is_ended_as_what_it_is(asked: Context, reply: str, end: str) -> None:  # D1
    asked.cue()
    await spoken(asked, reply)
    asked = asked.fork()
    decode, begun = asked.model.tokenizer().decode, len(asked.buffer())
    asked.seal()
    appended = asked.fork()
    appended.append(asked.model.tokenizer().encode("Hi"))
    assert decode(appended.buffer()[begun:]) == end + "Hi"
    asked.user("And?")
    assert decode(asked.buffer()[begun:]) == end + "<|start|>user<|message|>And?<|end|>"


PROGRAM = f"""
import inferlet
from inferlet import Context, JsonSchema, Model, Sampler, runtime

class Script:
    def __init__(self, model, text):
        self.tokens, self.size = model.tokenizer().encode(text), model.info.vocabulary_size

    def step(self, accepted):
        del self.tokens[: len(accepted)]
        return [self.tokens[0], 1, self.size - self.tokens[0] - 1] if self.tokens else []

async def main(input):
    context = Context(Model.load(runtime.models()[0])).user("Is it warm?")
    script = lambda: Script(context.model, {THOUGHT + HEADER!r})
    text = await context.fork().generate(Sampler.argmax(), constrain=[script(), JsonSchema(input)]).collect_text()
    value = await context.generate(Sampler.argmax(), constrain=script()).collect_json(schema=input)
    return [text, value]
"""


@pytest.mark.parametrize("isolation", ["inline", "process"])
def test_programs_in_workers_get_the_same(messenger: Path, tmp_path: Path, isolation: Any) -> None:  # G11
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    async def run() -> Any:
        async with Engine(str(messenger), total_pages=64, isolation=isolation) as engine:
            return await engine.run(program, YES)

    text, value = asyncio.run(run())
    assert json.loads(text) == value == {"yes": True}

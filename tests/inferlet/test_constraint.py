"""Constraints in a Generator."""

import asyncio
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from inferlet import (
    AnyJson,
    Context,
    Ebnf,
    Grammar,
    GrammarConstraint,
    JsonSchema,
    Matcher,
    Model,
    Regex,
    Sampler,
    brle,
)
from pie_mlx import calls
from pie_mlx.errors import (
    BatchFailedError,
    EmptyMaskError,
    GrammarError,
    GrammarRejectedError,
    InvalidArgumentError,
    InvalidTypeError,
    StructuredOutputError,
)
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import END, EOS, decode, encode

ARGMAX = Sampler.argmax()


class Recorder:
    """Allows what it is told, and remembers what it was told of."""

    def __init__(self, *masks: list[int]) -> None:
        self.masks = list(masks)
        self.heard: list[list[int]] = []

    def step(self, accepted: list[int]) -> list[int]:
        self.heard.append(accepted)
        return self.masks[min(len(self.heard), len(self.masks)) - 1] if self.masks else []


class Everything:
    """A schema whose constraint restricts nothing."""

    def build_constraint(self, model: Model) -> Recorder:
        return Recorder()


async def text_of(ctx: Context, **options: Any) -> str:
    return decode(await ctx.user("hi").generate(ARGMAX, **options).collect_tokens())


async def test_two_constraints_allow_what_both_allow(ctx: Context) -> None:  # T45
    one, other = Recorder(brle.allow_only(encode("ab"))), Recorder(brle.allow_only(encode("bc")))
    assert await text_of(ctx, constrain=[one, other], max_tokens=2) == "bb"


async def test_an_empty_mask_is_transparent(ctx: Context) -> None:  # T45, G12
    assert await text_of(ctx, constrain=[Recorder(), Everything()]) == "hello"


async def test_a_constraint_hears_exactly_what_was_accepted(ctx: Context) -> None:  # T45, G12
    heard = Recorder()
    await text_of(ctx, constrain=heard)
    assert heard.heard == [[], *([token] for token in encode("hello"))]


async def test_a_failed_step_tells_a_constraint_nothing_twice(host: ToyHost, ctx: Context) -> None:  # E3
    heard = Recorder()
    generator = ctx.user("hi").generate(ARGMAX, constrain=heard, max_tokens=2)
    await (await anext(generator)).execute()
    host.failure = BatchFailedError("batch: device error", cause="test")
    with pytest.raises(BatchFailedError):
        await (await anext(generator)).execute()
    await generator.collect_tokens()
    assert heard.heard == [[], encode("h")]


async def test_a_constraint_that_raises_can_be_asked_again(ctx: Context) -> None:  # E3
    class Moody:
        asked = 0

        def step(self, accepted: list[int]) -> list[int]:
            self.asked += 1
            if self.asked == 1:
                raise RuntimeError("not now")
            return []

    step = await anext(ctx.user("hi").generate(ARGMAX, constrain=Moody()))
    with pytest.raises(RuntimeError):
        await step.execute()
    assert (await step.execute()).tokens == encode("h")


@pytest.mark.parametrize("mask", [None, "abc", [1.5], [-1, 5]], ids=repr)
async def test_a_mask_that_is_none_is_told_with_its_constraint(ctx: Context, mask: Any) -> None:
    with pytest.raises((InvalidTypeError, InvalidArgumentError), match=r"mask of Recorder\.step: "):
        await text_of(ctx, constrain=[Everything(), Recorder(mask)])


async def test_accepted_tokens_reach_the_constraints(ctx: Context) -> None:  # G7
    heard = Recorder()
    generator = ctx.user("hi").generate(ARGMAX, constrain=heard)
    await (await anext(generator)).clear_sampler().execute()
    generator.accept(encode("xy"))
    await (await anext(generator)).execute()
    assert heard.heard == [[], encode("xy")]


@pytest.mark.parametrize("wrong", [3, "text", JsonSchema, object()])
def test_anything_else_is_no_constraint(ctx: Context, wrong: Any) -> None:  # T45, G12
    with pytest.raises(TypeError):
        ctx.generate(ARGMAX, constrain=wrong)
    with pytest.raises(InvalidTypeError):
        ctx.generate(ARGMAX).constrain([wrong])


def test_a_constraint_that_is_there_already_is_refused(ctx: Context) -> None:  # G12
    recorder = Recorder([])
    grammar = GrammarConstraint.json(ctx.model)
    same_matcher = GrammarConstraint(grammar.matcher)
    for twice in ([recorder, recorder], [grammar, grammar], [grammar, same_matcher]):
        with pytest.raises(InvalidArgumentError, match="twice"):
            ctx.generate(ARGMAX, constrain=twice)
    with pytest.raises(InvalidArgumentError, match="twice"):
        ctx.generate(ARGMAX, constrain=grammar).constrain(same_matcher)


async def test_constraints_that_allow_nothing_are_named(host: ToyHost, ctx: Context) -> None:  # G13
    generator = ctx.user("hi").generate(
        ARGMAX, constrain=Recorder(brle.allow_only(encode("a"))), logit_mask=brle.allow_only(encode("b"))
    )
    prompt = ctx.buffer()
    with pytest.raises(EmptyMaskError, match="logit_mask, Recorder"):
        await generator.collect_tokens()
    assert host.sent(calls.Forward) == []
    assert ctx.buffer() == prompt


async def test_an_empty_intersection_with_a_grammar_is_named(ctx: Context) -> None:  # G13
    generator = ctx.user("hi").generate(ARGMAX, constrain=[Recorder(brle.allow_only(encode("z"))), Regex("yes|no")])
    with pytest.raises(EmptyMaskError, match="Recorder, Regex"):
        await generator.collect_tokens()


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (Regex("yes|no"), "no"),
        (Ebnf("yes|no"), "no"),
        (Grammar.from_regex("yes|no"), "no"),
        (JsonSchema({"enum": [3]}), "3"),
        (JsonSchema('{"enum": [3]}'), "3"),
        (AnyJson(), "true"),
    ],
)
async def test_grammars_shape_the_text(ctx: Context, schema: Any, text: str) -> None:  # G13
    assert await text_of(ctx, constrain=schema) == text


async def test_masks_of_grammars_stay_in_the_engine(host: ToyHost, ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX, constrain=Regex("yes"))
    before = len(host.log)
    assert await generator.collect_tokens() == encode("yes")
    steps = host.log[before:]
    assert [type(step) for step in steps] == [calls.Forward] * 3
    assert all(step.logit_mask == [] and step.advance_slot == 0 for step in host.sent(calls.Forward))


@pytest.mark.parametrize("auto_flush", [True, False])
async def test_the_end_of_the_grammar_ends_the_generator(ctx: Context, auto_flush: bool) -> None:  # G13
    generator = ctx.user("hi").cue().generate(ARGMAX, constrain=Regex("hel"), auto_flush=auto_flush)
    assert decode(await generator.collect_tokens()) == "hel"
    assert generator.finish_reason == "grammar"
    assert ctx.buffer() == encode("l")


async def test_an_open_grammar_ends_at_a_stop_token(ctx: Context) -> None:  # G13
    generator = ctx.user("hi").generate(ARGMAX, constrain=Regex("hello|hello?|hello!"), auto_flush=True)
    assert decode(await generator.collect_tokens()) == "hello"
    assert generator.finish_reason == "grammar"


async def test_an_end_token_of_a_grammar_is_not_emitted_without_stops(ctx: Context) -> None:  # G13
    generator = ctx.user("hi").cue().generate(ARGMAX, constrain=Regex("hello|hello?"), auto_flush=False)
    assert decode(await generator.collect_tokens()) == "hello"
    assert generator.finish_reason == "grammar"


async def test_grammars_end_with_the_generators_stop_tokens(host: ToyHost, ctx: Context) -> None:
    ctx.generate(ARGMAX, constrain=Regex("yes"), stop=[EOS])
    ctx.generate(ARGMAX, constrain=Regex("yes")).stop([EOS, 9])
    assert [message.stop_tokens for message in host.sent(calls.CompileGrammar)] == [[EOS], [END, EOS], [EOS, 9]]


async def test_a_replaced_matcher_is_released(host: ToyHost, ctx: Context) -> None:
    generator = ctx.generate(ARGMAX, constrain=Regex("yes")).stop([EOS])
    assert len(host.walking) == 1
    del generator
    assert host.walking == {}


async def test_accept_advances_the_grammar(ctx: Context) -> None:  # G7
    generator = ctx.user("hi").generate(ARGMAX, constrain=Regex("yes|no"))
    assert generator.accept(encode("y")) == encode("y")
    with pytest.raises(GrammarRejectedError):
        generator.accept(encode("x"))
    assert generator.tokens_generated == 1
    assert generator.accept(encode("es")) == encode("es")
    assert generator.finish_reason == "grammar"


async def test_a_rejection_advances_no_grammar(host: ToyHost, ctx: Context) -> None:  # E3
    generator = ctx.user("hi").generate(ARGMAX, constrain=[Regex("yes|yo"), Regex("yes")])
    generator.accept(encode("y"))
    with pytest.raises(GrammarRejectedError):
        generator.accept(encode("o"))
    assert [matcher.fed for matcher in host.walking.values()] == [encode("y")] * 2


async def test_a_step_cancelled_in_its_batch_leaves_the_grammar_where_it_was(host: ToyHost, ctx: Context) -> None:
    generator = ctx.user("hi").generate(ARGMAX, constrain=Regex("yes|no"))  # E5
    host.after = asyncio.Event()
    task = asyncio.ensure_future((await anext(generator)).execute())
    for _ in range(3):
        await asyncio.sleep(0)
    (matcher,) = host.walking.values()
    assert matcher.fed == encode("n")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ctx.buffer() == []
    assert matcher.fed == []


async def test_a_compiled_constraint_is_used_as_it_is(host: ToyHost, ctx: Context, model: Model) -> None:
    matcher = Matcher(Grammar.from_regex("yes|no"), model.tokenizer())
    matcher.accept_tokens(encode("y"))
    assert await text_of(ctx, constrain=GrammarConstraint(matcher)) == "es"
    assert matcher.is_terminated


async def test_custom_schemas_may_build_grammars(host: ToyHost, ctx: Context) -> None:
    class YesOrNo:
        def build_constraint(self, model: Model) -> GrammarConstraint:
            return GrammarConstraint.from_regex("yes|no", model)

    assert await text_of(ctx, constrain=YesOrNo()) == "no"
    assert host.sent(calls.Forward)[0].matchers != []


async def test_a_grammar_inside_a_custom_constraint_gives_masks(ctx: Context, model: Model) -> None:
    grammar = GrammarConstraint.from_regex("yes|no", model)

    class Shy:
        def step(self, accepted: list[int]) -> list[int]:
            return brle.combine([grammar.step(accepted), brle.canonical([0, encode("y")[0], 1, 200])])

    assert await text_of(ctx, constrain=Shy(), max_tokens=2) == "no"


def test_a_bad_grammar_fails_where_it_is_given(ctx: Context, model: Model) -> None:
    with pytest.raises(GrammarError):
        ctx.generate(ARGMAX, constrain=Regex("("))
    with pytest.raises(ValueError, match="not JSON"):
        ctx.generate(ARGMAX, constrain=JsonSchema("{"))
    with pytest.raises(GrammarError):
        GrammarConstraint.from_ebnf("(", model)
    assert ctx.buffer() == []


@dataclasses.dataclass
class Point:
    x: int
    up: bool


class Flag(msgspec.Struct):
    up: bool


class Pydantic:
    """Stands where a pydantic model class would: the SDK asks for nothing else of it."""

    @staticmethod
    def model_json_schema() -> dict[str, Any]:
        return {"type": "object", "properties": {"x": {"type": "integer"}}}

    @staticmethod
    def model_validate_json(text: str) -> tuple[str, Any]:
        return "pydantic", json.loads(text)


@pytest.mark.parametrize(
    ("schema", "holds"),
    [
        (None, lambda value: value is True),
        ({"enum": [7]}, lambda value: value == 7),
        ('{"enum": [7]}', lambda value: value == 7),
        (Point, lambda value: isinstance(value, Point)),
        (Flag, lambda value: isinstance(value, Flag)),
        (int, lambda value: isinstance(value, int)),
        (Pydantic, lambda value: value[0] == "pydantic"),
    ],
)
async def test_collect_json_gives_a_value_of_the_schema(
    ctx: Context, schema: Any, holds: Callable[[Any], bool]
) -> None:  # G11, T45
    assert holds(await ctx.user("hi").generate(ARGMAX).collect_json(schema=schema))


async def test_collect_json_gives_parse_the_text(ctx: Context) -> None:  # T45
    value = await ctx.user("hi").generate(ARGMAX).collect_json(schema={"enum": [7]}, parse=lambda text: f"<{text}>")
    assert value == "<7>"


async def test_text_that_does_not_parse_is_an_error(ctx: Context) -> None:  # G11
    generator = ctx.user("hi").generate(ARGMAX, max_tokens=3)
    with pytest.raises(StructuredOutputError) as caught:
        await generator.collect_json(schema={"enum": ["long text"]})
    assert caught.value.text == '"lo'


async def test_a_schema_that_describes_no_json_is_refused(ctx: Context) -> None:
    with pytest.raises(InvalidTypeError):
        await ctx.generate(ARGMAX).collect_json(schema=complex)
    with pytest.raises(InvalidTypeError):
        await ctx.generate(ARGMAX).collect_json(schema={"enum": [object()]})

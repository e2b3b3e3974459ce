"""Grammars, tools and decoders on the embedded model."""

import json
from typing import Any

import pytest

from inferlet import AnyJson, Context, Ebnf, GrammarConstraint, JsonSchema, Regex, Sampler, chat, sync, tools
from pie_mlx.calls import ForkMatcher
from pie_mlx.errors import EmptyMaskError, GrammarError, InvalidArgumentError
from tests.engine.running import Running

WEATHER = {
    "name": "get_weather",
    "description": "Get the weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TIME = {
    "name": "get_time",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
}


def asked(engine: Running, question: str, *schemas: dict[str, Any]) -> Context:
    context = Context(engine.model)
    if schemas:
        context.append(tools.equip_prefix(engine.model, schemas))
    return context.user(question)


@pytest.mark.parametrize("number", [1, -1])
def test_a_copy_of_a_matcher_takes_no_number_of_another(engine: Running, number: int) -> None:
    matcher = GrammarConstraint.json(engine.model).matcher
    taken = matcher.id if number < 0 else number
    with pytest.raises(InvalidArgumentError, match="not a number for a copy"):
        engine.host.call(ForkMatcher(matcher.id, taken))


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 3}, list),
        (
            {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}, "required": ["a"]},
            dict,
        ),
        ({"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 5}]}, (str, type(None))),
    ],
)
async def test_constrained_text_obeys_its_schema(engine: Running, schema: dict, kind: Any) -> None:  # T45
    context = asked(engine, "Say something.")
    for seed in range(3):
        fork = context.fork()
        value = await fork.generate(Sampler.multinomial(1.0, seed=seed + 1), max_tokens=120).collect_json(schema=schema)
        assert isinstance(value, kind)


async def test_a_schema_with_one_value_gives_it(engine: Running) -> None:
    value = {"a": [1, 2], "b": "x", "c": {"d": None}}
    generator = asked(engine, "Reply only with JSON.").generate(Sampler.argmax(), max_tokens=400)
    assert await generator.collect_json(schema={"const": value}) == value
    assert generator.finish_reason == "grammar"


@pytest.mark.parametrize("source", ['start: "yes" | "no"', 'root ::= "yes" | "no"'])
async def test_a_grammar_that_ends_ends_the_generation(engine: Running, source: str) -> None:  # G13
    generator = asked(engine, "Is it?").generate(Sampler.argmax(), max_tokens=50, stop=[], constrain=Ebnf(source))
    assert await generator.collect_text() in ("yes", "no")
    assert generator.finish_reason == "grammar"


async def test_constraints_allow_what_all_of_them_allow(engine: Running) -> None:  # T45
    both = [Regex("[a-m]{2}[mz]"), Regex("[h-z]{3}")]
    text = await asked(engine, "Hello").generate(Sampler.argmax(), max_tokens=10, constrain=both).collect_text()
    assert len(text) == 3
    assert set(text) <= set("hijklmz")


async def test_constraints_that_allow_nothing_together_are_named(engine: Running) -> None:  # G13
    generator = asked(engine, "Hello").generate(Sampler.argmax(), constrain=[Regex("a+"), Regex("b+")])
    with pytest.raises(EmptyMaskError, match="Regex"):
        await generator.collect_text()


async def test_a_schema_that_cannot_be_enforced_is_refused_before_generating(engine: Running) -> None:
    with pytest.raises(GrammarError, match=r"\$\.properties\.a\.not"):
        asked(engine, "x").generate(Sampler.argmax(), constrain=JsonSchema('{"properties": {"a": {"not": {}}}}'))


async def test_any_json_cut_by_max_tokens_says_so(engine: Running) -> None:
    generator = asked(engine, "Hello").generate(Sampler.argmax(), max_tokens=1, constrain=AnyJson())
    await generator.collect_tokens()
    assert generator.finish_reason in ("length", "grammar")


async def test_a_tool_is_called_and_its_answer_told(engine: Running) -> None:
    model = engine.model
    context = asked(engine, "What is the weather in Paris?", WEATHER)
    matcher = tools.native_matcher(model, [WEATHER])
    assert matcher is not None
    generator = context.generate(Sampler.argmax(), max_tokens=120, constrain=GrammarConstraint(matcher))
    name, arguments = tools.parse_call(model, model.tokenizer().decode(await generator.collect_tokens())) or ("", "{}")
    assert name == "get_weather"
    assert list(json.loads(arguments)) == ["city"]
    context.seal().append(tools.answer_prefix(model, name, {"temperature": 21}))
    assert model.tokenizer().decode(context.buffer()) == (
        '<|im_end|>\n<|im_start|>user\n<tool_response>\n{"temperature": 21}\n</tool_response><|im_end|>\n'
    )
    assert await context.generate(Sampler.argmax(), max_tokens=60).collect_text()


async def test_a_native_matcher_forces_a_call_of_the_tools_offered(engine: Running) -> None:  # D7
    model = engine.model
    matcher = tools.native_matcher(model, [TIME])
    assert matcher is not None
    context = asked(engine, "Tell me a story.", TIME)
    generator = context.generate(Sampler.multinomial(1.0, seed=5), max_tokens=200, constrain=GrammarConstraint(matcher))
    decoder = tools.Decoder(model, [TIME])
    found = [decoder.feed(await generator.collect_tokens())]
    while not isinstance(event := decoder.feed([]), tools.Idle):
        found.append(event)
    called = [event.name for event in found if isinstance(event, tools.Call)]
    assert called or generator.finish_reason == "length"
    assert set(called) <= {"get_time"}


async def test_tokens_of_turns_are_the_turns(engine: Running) -> None:
    model = engine.model
    by_turn = Context(model).system("S").user("U").cue()
    by_tokens = Context(model).append(chat.system(model, "S")).append(chat.user(model, "U")).append(chat.cue(model))
    assert by_tokens.buffer() == by_turn.buffer()
    listed = [*chat.system(model, "S"), *chat.user(model, "U"), *chat.cue(model)]
    assert listed == by_turn.buffer()


async def test_raw_tokens_after_a_turn_take_the_place_of_what_it_owed(engine: Running) -> None:
    model = engine.model
    context = Context(model).user("U").assistant("A").append(model.tokenizer().encode("x")).user("V")
    text = model.tokenizer().decode(context.buffer())
    assert "<|im_end|>x<|im_start|>user" in text


def test_a_blocking_program_calls_a_tool_and_goes_on(engine: Running) -> None:  # Y1
    context = sync.Context(engine.model).equip_tools([WEATHER]).user("What is the weather in Rome?")
    stream = context.generate(sync.Sampler.greedy(), decode=True, tool_use=True, max_tokens=80)
    events = list(stream)
    assert isinstance(events[-1], sync.Event.Done)
    context.seal().answer_tool("get_weather", {"sky": "clear"})
    assert context.generate_text(sync.Sampler.greedy(), max_tokens=40)

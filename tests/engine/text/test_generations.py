"""Text generated under schemas of every kind parses and validates."""

import pytest

from benchmarks.schema_types import SCHEMA_TYPES, generate, is_valid
from inferlet import Context, JsonSchema, Matcher, Sampler
from inferlet.grammar import Grammar
from tests.engine.running import Running

GENERATIONS = 8


@pytest.mark.parametrize("kind", SCHEMA_TYPES)
async def test_generations_validate(engine: Running, kind: str) -> None:  # T45
    tally = await generate(engine.model, SCHEMA_TYPES[kind], GENERATIONS, streams=GENERATIONS)
    assert tally.wrong == []
    assert (tally.valid, tally.cut_short) == (GENERATIONS, 0)


@pytest.mark.parametrize(
    "schema",
    [
        {"const": {"a": [1, 2], "b": 'x"\n\\', "c": {"d": None}}},
        {"enum": [3.5]},
        {"type": "array", "items": {"const": "é🎉"}, "minItems": 2, "maxItems": 2},
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 7, "maximum": 7}}, "required": ["n"]},
        {"type": "string", "pattern": "^ab{3}$"},
    ],
)
async def test_greedy_text_of_a_schema_with_one_value_is_that_value(engine: Running, schema: dict) -> None:  # T45
    values = [{"a": [1, 2], "b": 'x"\n\\', "c": {"d": None}}, 3.5, ["é🎉", "é🎉"], {"n": 7}, "abbb"]
    generator = Context(engine.model).user("Reply only with JSON.").generate(Sampler.argmax(), max_tokens=400)
    assert await generator.collect_json(schema=schema) in values
    assert generator.finish_reason == "grammar"


async def test_what_a_lenient_schema_ignores_can_be_read(engine: Running) -> None:
    schema: dict[str, object] = {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2, "contains": {"const": 1}}
    matcher = Matcher(Grammar.from_json_schema(schema, lenient=True), engine.model.tokenizer())
    assert any("$.contains" in warning for warning in matcher.warnings)
    generator = (
        Context(engine.model)
        .user("Hi")
        .generate(Sampler.argmax(), max_tokens=60, constrain=JsonSchema(schema, lenient=True))
    )
    assert is_valid({"type": "array"}, await generator.collect_text())

"""Schemas of every kind, and generations under them checked by a validator that knows nothing of grammars."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from inferlet import Context, JsonSchema, Model, Sampler

Schema = Mapping[str, Any]

TEXT = {"type": "string", "maxLength": 12}
SCHEMA_TYPES: Mapping[str, Schema] = {
    "all scalars": {
        "type": "object",
        "properties": {
            "text": TEXT,
            "whole": {"type": "integer", "minimum": -99, "maximum": 99},
            "number": {"type": "number", "minimum": 0, "exclusiveMaximum": 1000, "multipleOf": 0.25},
            "yes": {"type": "boolean"},
            "nothing": {"type": "null"},
        },
        "required": ["text", "whole", "number", "yes", "nothing"],
    },
    "optional properties": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "b": TEXT, "c": {"type": "null"}, "d": {"enum": [1, 2]}},
        "required": ["c"],
    },
    "nested objects": {
        "type": "object",
        "properties": {
            "order": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer", "minimum": 1, "maximum": 9999},
                    "buyer": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
                },
                "required": ["id", "buyer"],
            }
        },
        "required": ["order"],
    },
    "arrays": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}, "maxItems": 3},
        "minItems": 2,
        "maxItems": 4,
    },
    "tuples": {"type": "array", "prefixItems": [TEXT, {"type": "boolean"}], "items": False, "minItems": 2},
    "enum": {"enum": ["red", "blue-green", 7, None, {"a": [1, "x"]}]},
    "const": {"type": "object", "properties": {"kind": {"const": "order"}, "n": {"const": 3}}, "required": ["kind"]},
    "anyOf": {"anyOf": [{"type": "null"}, TEXT, {"type": "array", "items": {"type": "boolean"}, "maxItems": 3}]},
    "oneOf": {
        "oneOf": [
            {"type": "object", "properties": {"is": {"const": "cat"}, "lives": {"enum": [7, 9]}}, "required": ["is"]},
            {"type": "object", "properties": {"is": {"const": "dog"}, "name": TEXT}, "required": ["is", "name"]},
        ]
    },
    "allOf": {"type": "object", "allOf": [
        {"properties": {"a": {"type": "integer", "minimum": 0}}, "required": ["a"]},
        {"properties": {"a": {"maximum": 50}, "b": {"type": "boolean"}}, "required": ["b"]},
    ], "additionalProperties": False, "properties": {"a": True, "b": True}},
    "$ref, recursive": {
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "leaf": {"type": "integer", "minimum": 0, "maximum": 9},
                    "next": {"$ref": "#/$defs/tree"},
                },
                "required": ["leaf"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/tree",
    },
    "patterns": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,5}$"},
            "version": {"type": "string", "pattern": r"^\d{1,3}\.\d{1,3}(\.\d{1,3})?$"},
        },
        "required": ["code", "version"],
    },
    "formats": {
        "type": "object",
        "properties": {name: {"type": "string", "format": name} for name in ("date", "uuid", "ipv4")},
        "required": ["date", "uuid", "ipv4"],
    },
    "number bounds": {
        "type": "array",
        "prefixItems": [
            {"type": "integer", "exclusiveMinimum": -5, "maximum": 1000},
            {"type": "number", "minimum": -0.5, "maximum": 0.5, "multipleOf": 0.125},
            {"type": "integer", "multipleOf": 7, "minimum": 7, "maximum": 700},
        ],
        "items": False,
        "minItems": 3,
    },
    "text lengths": {
        "type": "array",
        "items": {"type": "string", "minLength": 3, "maxLength": 6},
        "minItems": 1,
        "maxItems": 3,
    },
    "maps": {
        "type": "object",
        "patternProperties": {"^[a-m]{1,4}$": {"type": "boolean"}, "^n_[a-z]{1,3}$": {"enum": [0, 1]}},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 3,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the generations under one schema. `wrong` are texts that do not parse or do not validate."""

    valid: int
    wrong: list[str]
    cut_short: int
    distinct: int
    tokens: int


async def generate(model: Model, schema: Schema, generations: int, *, streams: int = 32, tokens: int = 600) -> Tally:
    """Generate at temperature 1, `streams` at once, each with a seed of its own."""
    root = Context(model).user("Write some JSON.")
    await root.flush()
    limit = asyncio.Semaphore(streams)

    async def one(seed: int) -> tuple[str, str | None, int]:
        async with limit:
            with root.fork() as context:
                sampler = Sampler.multinomial(1.0, seed=seed)
                generator = context.generate(sampler, max_tokens=tokens, constrain=JsonSchema(dict(schema)))
                emitted = await generator.collect_tokens()
                return model.tokenizer().decode(emitted), generator.finish_reason, len(emitted)

    try:
        return _tally(schema, await asyncio.gather(*(one(seed + 1) for seed in range(generations))))
    finally:
        root.release()


def _tally(schema: Schema, made: list[tuple[str, str | None, int]]) -> Tally:
    whole = [text for text, reason, _ in made if reason != "length"]
    wrong = [text for text in whole if not is_valid(schema, text)]
    tokens = sum(count for *_, count in made)
    return Tally(len(whole) - len(wrong), wrong, len(made) - len(whole), len(set(whole)), tokens)


def is_valid(schema: Schema, text: str) -> bool:
    """Whether a text is JSON that the schema allows, formats included."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return Draft202012Validator(schema, format_checker=FormatChecker()).is_valid(value)

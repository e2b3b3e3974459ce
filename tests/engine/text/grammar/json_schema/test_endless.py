"""Schemas whose required parts recurse without end."""

import json
from itertools import pairwise
from typing import Any

import pytest

from pie_mlx.engine.text.grammar.json_schema.endless import check_endings
from pie_mlx.errors import GrammarError
from tests.engine.text.grammar.conftest import Language

SELF = {"$ref": "#/$defs/n"}
OTHER = {"$ref": "#/$defs/m"}
NULL = {"type": "null"}


def needs(inner: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"next": inner}, "required": ["next"]}


def some(inner: Any, least: int = 1) -> dict[str, Any]:
    return {"type": "array", "items": inner, "minItems": least}


ENDLESS = {
    "listed type": {**needs(SELF), "type": ["object"]},
    "required property": needs(SELF),
    "items": some(SELF),
    "leading items": {"type": "array", "prefixItems": [{}, SELF], "minItems": 2},
    "leading items of draft 7": {"type": "array", "items": [SELF], "minItems": 1},
    "every alternative": {"anyOf": [needs(SELF), some(SELF)]},
    "one of a conjunction": {"allOf": [{"type": "object"}, needs(SELF)]},
    "deep inside": needs(needs(some(SELF))),
    "itself": SELF,
    "the whole schema": needs({"$ref": "#"}),
}
ENDING = {
    "optional property": {"type": "object", "properties": {"next": SELF}},
    "no items": some(SELF, 0),
    "an alternative": needs({"anyOf": [SELF, NULL]}),
    "a choice": needs({"oneOf": [NULL, SELF]}),
    "further items": {"type": "array", "prefixItems": [NULL], "items": SELF, "minItems": 1},
    "another type": {**needs(SELF), "type": ["object", "string"]},
    "no type": {"properties": {"next": SELF}, "required": ["next"]},
    "constant": {**needs(SELF), "enum": [1]},
    "elsewhere": needs({"$ref": "https://example.org/n"}),
    "nowhere": needs({"$ref": "#/$defs/nowhere"}),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_definition_that_no_finite_value_fits_is_refused(kind: str) -> None:  # G13
    with pytest.raises(GrammarError, match=r"schema: \$.*\$ref: every value of #.* without end"):
        check_endings({"$defs": {"n": ENDLESS[kind]}, **SELF})


@pytest.mark.parametrize("kind", ENDING)
def test_a_definition_with_a_way_out_is_kept(kind: str) -> None:  # G13
    check_endings({"$defs": {"n": ENDING[kind]}, **SELF})


def test_definitions_that_need_each_other_are_refused() -> None:  # G13
    with pytest.raises(GrammarError, match=r"\$\.items\.\$ref: every value of #/\$defs/n "):
        check_endings({"$defs": {"n": needs(OTHER), "m": needs(SELF)}, "items": SELF})
    check_endings({"$defs": {"n": needs(OTHER), "m": needs({"anyOf": [SELF, NULL]})}, "items": SELF})


def test_long_chains_of_definitions_are_kept() -> None:
    names = [f"d{number}" for number in range(500)]
    chain = {name: needs({"$ref": f"#/$defs/{after}"}) for name, after in pairwise(names)}
    check_endings({"$defs": {**chain, names[-1]: NULL}, "$ref": "#/$defs/d0"})


def test_a_definition_nobody_refers_to_does_not_matter() -> None:
    check_endings({"$defs": {"n": needs(SELF)}, "type": "integer"})


def test_references_are_read_as_pointers() -> None:
    with pytest.raises(GrammarError, match="without end"):
        check_endings({"$defs": {"a b/c": needs({"$ref": "#/$defs/a%20b~1c"})}, "$ref": "#/$defs/a%20b~1c"})


def test_schemas_of_several_resources_are_let_through() -> None:
    check_endings({"$defs": {"n": {**needs(SELF), "$id": "https://example.org/n"}}, **SELF})


@pytest.mark.parametrize("options", [{}, {"strict": False}, {"lenient": True}])
def test_an_endless_schema_does_not_compile(language: Language, options: dict[str, bool]) -> None:  # G13
    with pytest.raises(GrammarError, match="without end") as refused:
        language.compile("json_schema", json.dumps({"$defs": {"n": needs(SELF)}, **SELF}), **options)
    assert "optional" in refused.value.hint

"""Types whose JSON is a text of its own form."""

import datetime
import decimal
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import pydantic
import pytest

from inferlet._generation.structured import parse_text, plan_structure
from pie_mlx.errors import InvalidTypeError, StructuredOutputError

Zoned = msgspec.Meta(tz=True)
DateTime = Annotated[datetime.datetime, Zoned]
DURATIONS = ["P1D", "PT1H", "P99999999DT9999H9999M9999.123456S", "PT0.5S", "PT3M", "PT2H5S"]


def schema_of(kind: Any) -> Any:
    return plan_structure(kind, None)[0].schema


def reader(kind: Any) -> Any:
    return plan_structure(kind, None)[1]


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (datetime.timedelta, DURATIONS, ["P", "PT", "P3W", "P1Y", "P1DT", "PT1.5H"]),
        (bytes, ["", "QUJD", "QQ==", "QUI="], ["Q", "QQ=", "Q===", "a-_b"]),
        (DateTime, ["2024-02-29T23:59:59Z", "2023-01-01t00:00:00.123456-01:30"], ["2023-01-01T00:00:00.1234567Z"]),
        (decimal.Decimal, ["0", "-1.50", "12345678901234567890"], ["", ".", "1.", "1e5", "NaN"]),
    ],
)
def test_what_a_form_allows_can_be_read(kind: Any, right: list[str], wrong: list[str]) -> None:  # G11
    pattern = schema_of(kind)["pattern"]
    for text in right:
        assert re.search(pattern, text)
        assert reader(kind)(f'"{text}"') is not None
    assert [text for text in wrong if re.search(pattern, text)] == []


def test_forms_are_found_inside_other_types() -> None:  # G11
    class Model(pydantic.BaseModel):
        waits: list[datetime.timedelta]
        data: pydantic.Base64Bytes | None

    properties = schema_of(Model)["properties"]
    assert "pattern" in properties["waits"]["items"]
    assert "pattern" in properties["data"]["anyOf"][0]


def test_properties_named_like_keywords_are_no_forms() -> None:
    @dataclass
    class Film:
        format: Literal["duration"]
        type: str

    assert schema_of(Film)["$defs"]["Film"]["properties"]["format"] == {"enum": ["duration"]}


@dataclass
class Node:
    when: DateTime
    next: "Node | None" = None


@dataclass
class Meeting:
    title: str
    nodes: list[Node]
    starts: tuple[int, datetime.datetime | None]


class Slot(NamedTuple):
    times: dict[str, datetime.time]


@pytest.mark.parametrize(
    ("kind", "message", "hint"),
    [
        (datetime.datetime, r"\$: a DateTime", "tz=True"),
        (Annotated[datetime.time, msgspec.Meta(tz=False)], r"\$: a Time", "tz=True"),
        (Meeting, r"\$\.starts\[1\]: a DateTime", "tz=True"),
        (Slot, r"\$\.times\[\]: a Time", "tz=True"),
        (list[dict[int, str]], r"\$\[\]: a Dict", "str for the keys"),
        (Annotated[bytes, msgspec.Meta(max_length=4)], r"\$: a Bytes", "bytes open"),
    ],
)
def test_a_type_that_no_grammar_keeps_is_refused_with_its_path(kind: Any, message: str, hint: str) -> None:  # G11
    with pytest.raises(InvalidTypeError, match=message) as refused:
        schema_of(kind)
    assert hint in refused.value.hint


def test_a_type_whose_schema_the_program_completes_is_left_alone() -> None:
    kind = Annotated[datetime.datetime, msgspec.Meta(extra_json_schema={"format": "date-time"})]
    assert schema_of(kind)["format"] == "date-time"


def test_decimals_of_pydantic_are_numbers_within_their_bounds() -> None:  # G11
    class Price(pydantic.BaseModel):
        euros: Annotated[decimal.Decimal, pydantic.Field(ge=1, le=9)]

    assert schema_of(Price)["properties"]["euros"] == {
        "title": "Euros", "type": "number", "minimum": 1, "maximum": 9,
    }  # fmt: skip
    assert reader(Price)('{"euros": 1.5}').euros == decimal.Decimal("1.5")


def test_what_pydantic_reads_from_few_texts_is_not_any_text() -> None:  # G11
    class Odd(pydantic.BaseModel):
        number: complex
        inner: pydantic.Json[int]
        ages: dict[int, str]

    properties = schema_of(Odd)["properties"]
    assert properties["number"]["format"] == "complex"
    assert properties["inner"]["format"] == "json"
    assert properties["ages"]["propertyNames"] == {"type": "integer"}


def test_a_model_without_a_schema_is_refused() -> None:  # G11
    class Callback(pydantic.BaseModel):
        call: Callable[[], int]

    with pytest.raises(InvalidTypeError, match="describes no JSON"):
        schema_of(Callback)


class Tags(pydantic.BaseModel):
    names: set[str]
    sizes: frozenset[int] = frozenset()


def test_sets_may_be_written_with_repeated_members() -> None:  # G11
    for kind in (set[int], frozenset[str], dict[str, set[int]], Tags):
        assert "uniqueItems" not in msgspec.json.encode(schema_of(kind)).decode()
    assert reader(set[int])("[1,1,2]") == {1, 2}
    assert reader(Tags)('{"names":["a","a"]}') == Tags(names={"a"})


def test_sets_with_a_least_number_and_lists_that_say_so_keep_their_members_apart() -> None:  # G11
    class Two(pydantic.BaseModel):
        names: Annotated[set[str], pydantic.Field(min_length=2)]

    class Said(pydantic.BaseModel):
        names: Annotated[list[str], pydantic.Field(json_schema_extra={"uniqueItems": True})]

    least = Annotated[set[int], msgspec.Meta(min_length=2)]
    said = Annotated[list[int], msgspec.Meta(extra_json_schema={"uniqueItems": True})]
    for kind in (Two, Said, least, said):
        assert "uniqueItems" in msgspec.json.encode(schema_of(kind)).decode()


@dataclass
class Unfinished:
    part: "Missing"  # type: ignore[name-defined]  # noqa: F821


class Box(pydantic.BaseModel):
    full: bool


@pytest.mark.parametrize("kind", [Unfinished, list[Unfinished], list[Box | Unfinished]])
def test_a_type_that_names_what_is_not_there_is_told_before_anything_is_generated(kind: Any) -> None:  # G11
    with pytest.raises(InvalidTypeError, match="describes no JSON"):
        plan_structure(kind, None)


def test_dates_inside_of_types_made_of_models_have_their_forms() -> None:  # G11
    class Stay(pydantic.BaseModel):
        length: datetime.timedelta

    described = schema_of(list[Stay])
    assert "pattern" in described["$defs"]["Stay"]["properties"]["length"]
    assert reader(list[Stay])('[{"length": "P1D"}]') == [Stay(length=datetime.timedelta(days=1))]


class Weighed(pydantic.BaseModel):
    weight: Any


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
@pytest.mark.parametrize("kind", [None, {}, "{}", Any, dict[str, float], Weighed, pydantic.TypeAdapter(Weighed)])
def test_a_number_that_no_float_holds_is_an_error_whoever_reads_it(kind: Any, number: str) -> None:  # G11
    text = f'{{"weight": {number}}}'
    with pytest.raises(StructuredOutputError, match="Number out of range") as caught:
        parse_text(reader(kind), text)
    assert caught.value.text == text


@pytest.mark.parametrize("number", ["1e308", "5e-999", "9" * 40])
def test_numbers_of_any_length_that_can_be_held_are_read(number: str) -> None:  # G11
    assert parse_text(reader(Weighed), f'{{"weight": {number}}}').weight == json.loads(number)

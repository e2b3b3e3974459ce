import dataclasses
import datetime
import enum

import msgspec
import pydantic
import pytest

from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, ProcessError
from pie_mlx.runtime.execution.outcome import Failed, Returned, returned


@dataclasses.dataclass
class Point:
    x: int
    y: float


class Struct(msgspec.Struct):
    name: str


class Model(pydantic.BaseModel):
    at: datetime.date
    inner: Struct | None = None

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize("text", ["", "plain", '{"a": 1}', "3", "null"])
def test_text_travels_verbatim(text):
    assert returned(text) == Returned(text, "text")
    assert returned(text).decoded() == text


def test_none_is_nothing():
    assert returned(None) == Returned("", "none")
    assert returned(None).decoded() is None


@pytest.mark.parametrize(
    ("value", "json"),
    [
        ({"a": [1, 2.5, True, None]}, '{"a": [1, 2.5, true, null]}'),
        ((1, "ä"), '[1, "ä"]'),
        (Point(1, 2.0), '{"x": 1, "y": 2.0}'),
        (Struct("n"), '{"name": "n"}'),
        (Model(at=datetime.date(2026, 1, 2)), '{"at": "2026-01-02", "inner": null}'),
        ([Model(at=datetime.date(2026, 1, 2))], '[{"at": "2026-01-02", "inner": null}]'),
        (Colour.RED, '"red"'),
        ({1: "one"}, '{"1": "one"}'),
        (0, "0"),
        (False, "false"),
    ],
)
def test_everything_else_is_json(value, json):
    assert returned(value) == Returned(json, "json")


@pytest.mark.parametrize("value", [object(), float("nan"), [float("inf")], {1, 2, object()}, lambda: None])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(InvalidTypeError, match="return value of type"):
        returned(value)


def test_what_was_not_awaited_is_refused_with_that_word():
    async def answer():
        return "text"

    forgotten = answer()
    with pytest.raises(InvalidTypeError, match="not been awaited") as refused:
        returned(forgotten)
    assert refused.value.hint == "write 'return await ...'"
    forgotten.close()


def test_a_value_that_refers_to_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(InvalidTypeError):
        returned(value)


def test_a_value_too_long_to_send_is_refused():
    with pytest.raises(ProcessError, match=r"return value is 1000001 bytes, the limit is 1000000"):
        returned("x" * 1_000_001)


def test_lone_surrogates_become_replacement_characters():
    assert returned("a\ud800b").value == "a\ufffdb"


def test_a_failure_without_a_message_shows_its_class():
    assert Failed(KeyError()).message == "KeyError"
    assert Failed(ValueError("bad")).message == "bad"


def test_a_failure_keeps_the_hint_of_our_own_errors():
    assert Failed(InvalidArgumentError("what", hint="do")).hint == "do"
    assert Failed(ValueError("bad")).hint == ""

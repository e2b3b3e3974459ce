"""Generations come as values of the program's own types."""

import datetime
import decimal
import uuid
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pydantic
import pytest

from inferlet import Context, Sampler
from pie_mlx.errors import StructuredOutputError
from tests.engine.running import Running

Short = Annotated[str, pydantic.Field(max_length=6)]
Few = Annotated[list[Annotated[int, msgspec.Meta(ge=0, le=99)]], msgspec.Meta(max_length=2)]


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Maker(pydantic.BaseModel):
    name: Short
    since: Annotated[int, pydantic.Field(ge=1900, le=2100)]


class Car(pydantic.BaseModel):
    """Nested, optional, enumerated and formatted parts."""

    kind: Literal["car"]
    maker: Maker
    colour: Colour | None = None
    built: datetime.date
    doors: Annotated[list[Literal["left", "right"]], pydantic.Field(max_length=2)] = []


class Tree(pydantic.BaseModel):
    leaf: Annotated[int, pydantic.Field(ge=0, le=9)]
    branches: Annotated[list["Tree"], pydantic.Field(max_length=1)] = []


@dataclass
class Point:
    x: Annotated[int, msgspec.Meta(ge=-9, le=9)]
    colour: Colour
    tags: Annotated[list[Annotated[str, msgspec.Meta(max_length=4)]], msgspec.Meta(max_length=2)] = field(
        default_factory=list
    )


class Cat(msgspec.Struct, tag=True):
    lives: Literal[7, 9]


class Dog(msgspec.Struct, tag=True):
    name: Annotated[str, msgspec.Meta(max_length=5)]


class Zoo(msgspec.Struct):
    animals: Annotated[list[Cat | Dog], msgspec.Meta(max_length=2)]
    open: bool = True


class Answer(TypedDict):
    yes: bool


@dataclass
class Appointment:
    """Every type that is a text of its own form in JSON."""

    start: Annotated[datetime.datetime, msgspec.Meta(tz=True)]
    alarm: Annotated[datetime.time, msgspec.Meta(tz=True)]
    day: datetime.date
    length: datetime.timedelta
    number: uuid.UUID
    price: decimal.Decimal


class Ticket(pydantic.BaseModel):
    """The same for pydantic."""

    start: datetime.datetime
    alarm: datetime.time
    length: datetime.timedelta
    number: uuid.UUID


class Cage(pydantic.BaseModel):
    kind: Literal["cage"]
    bars: Literal[3, 4]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (Annotated[list[Cage], pydantic.Field(min_length=1, max_length=1)], list),
        (Maker | Cage, pydantic.BaseModel),
        (tuple[Cage, bool], tuple),
        (pydantic.TypeAdapter(Maker | Cage), pydantic.BaseModel),
    ],
)
async def test_types_made_of_models_are_read_by_pydantic(engine: Running, schema: Any, kind: type) -> None:  # G11
    generator = Context(engine.model).user("Describe it.").generate(Sampler.multinomial(1.0, seed=1), max_tokens=400)
    value = await generator.collect_json(schema=schema)
    assert isinstance(value, kind)
    assert isinstance(value if kind is pydantic.BaseModel else value[0], pydantic.BaseModel)


@pytest.mark.parametrize("kind", [Car, Tree, Point, Zoo, Cat, Few, Answer, Appointment, Ticket])
async def test_the_value_is_of_the_type_asked_for(engine: Running, kind: Any) -> None:  # G11, T45
    root = Context(engine.model).user("Describe it.")
    for seed in (1, 2):
        generator = root.fork().generate(Sampler.multinomial(1.0, seed=seed), max_tokens=400)
        value = await generator.collect_json(schema=kind)
        assert isinstance(value, list if kind is Few else dict if kind is Answer else kind)


async def test_what_the_limit_cuts_is_told(engine: Running) -> None:  # G4, G11
    generator = Context(engine.model).user("Describe it.").generate(Sampler.argmax(), max_tokens=5)
    with pytest.raises(StructuredOutputError, match="does not parse, it is cut short after 5 tokens") as caught:
        await generator.collect_json(schema=Car)
    assert "raise max_tokens" in caught.value.hint
    assert generator.finish_reason == "length"


async def test_what_the_types_own_checks_refuse_is_an_error(engine: Running) -> None:  # G11
    class Even(pydantic.BaseModel):
        number: Literal[1]

        @pydantic.field_validator("number")
        @classmethod
        def check(cls, value: int) -> int:
            raise ValueError(f"{value} is odd")

    generator = Context(engine.model).user("A number.").generate(Sampler.argmax(), max_tokens=40)
    with pytest.raises(StructuredOutputError, match="1 is odd") as caught:
        await generator.collect_json(schema=Even)
    assert msgspec.json.decode(caught.value.text) == {"number": 1}

"""JSON by schema: a dataclass becomes a JSON Schema, the schema a grammar, and the answer an object of that class.

Whatever the text is, the result fits the schema: tokens that would break it are masked in the engine. Whether it is
true is another question, as the last text shows.

    pie run examples/json-extraction -- --texts "Tom is 45 years old and lives in Rome."
"""

import asyncio
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from msgspec import Meta

from inferlet import Context, Model, Sampler, runtime, session


@dataclass
class Person:
    name: Annotated[str, Meta(max_length=24)]
    age: Annotated[int, Meta(ge=0, le=120)]
    city: Annotated[str, Meta(max_length=24)]


async def main(input: dict[str, Any]) -> list[dict[str, Any]]:
    model = Model.load(runtime.models()[0])
    people = await asyncio.gather(*(read(model, text) for text in input["texts"]))
    for text, person in zip(input["texts"], people, strict=True):
        session.send(f"{text}\n    {person}\n")
    return [asdict(person) for person in people]


async def read(model: Model, text: str) -> Person:
    """The person a text is about."""
    with Context(model) as context:
        context.user(f"Extract name, age and city as JSON: {text}")
        return await context.generate(Sampler.argmax()).collect_json(schema=Person)

"""Reads one text and returns who it is about."""

from dataclasses import asdict, dataclass
from typing import Any

from inferlet import Context, Model, Sampler, runtime


@dataclass
class Person:
    name: str
    age: int
    city: str


async def main(input: dict[str, Any]) -> dict[str, Any]:
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        context.user(f"Extract name, age and city as JSON: {input['text']}")
        return asdict(await context.generate(Sampler.argmax(), max_tokens=64).collect_json(schema=Person))

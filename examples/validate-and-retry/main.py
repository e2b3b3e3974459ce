"""Validation with retry: a schema makes the answer well formed, checks in Python make it believable.

Here every value must stand in the text. While one does not, the next attempt starts from a fork of the same prompt,
drawn a little more freely each time.

    pie run examples/validate-and-retry -- --text "Nina lives in Lima and is 27 years old."
"""

import re
from typing import Any

from inferlet import Context, Model, Sampler, errors, runtime, session

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}},
    "required": ["name", "age", "city"],
}


async def main(input: dict[str, Any]) -> dict[str, Any] | None:
    model = Model.load(runtime.models()[0])
    with Context(model) as prompt:
        await prompt.user(f"Extract name, age and city as JSON: {input['text']}").flush()
        for attempt in range(input["attempts"]):
            with prompt.fork() as context:
                found, problem = await extract(context, input["text"], temperature=0.5 * attempt)
            session.send(f"attempt {attempt + 1}: {found} {problem or 'holds'}\n")
            if not problem:
                return found
    return None


async def extract(context: Context, text: str, temperature: float) -> tuple[Any, str]:
    """An object that fits the schema, and what is wrong with it, if anything."""
    generator = context.generate(Sampler.multinomial(temperature), max_tokens=48)
    try:
        found = await generator.collect_json(schema=SCHEMA)
    except errors.StructuredOutputError as error:
        return error.text, "is cut off"
    invented = [str(value) for value in found.values() if not re.search(rf"\b{re.escape(str(value))}\b", text)]
    return found, f"invents {', '.join(invented)}" if invented else ""

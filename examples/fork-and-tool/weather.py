"""The tool: its description as the model reads it, and what it does."""

import json
from typing import Any

SCHEMA = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

SKIES = ("sunny", "cloudy", "rainy", "windy")


def call(name: str, arguments: str) -> dict[str, Any]:
    """What the tool answers: made up, but always the same for the same city."""
    if name != "get_weather":
        return {"error": "unknown name"}
    city = str(json.loads(arguments).get("city", ""))
    seed = sum(city.encode())
    return {"temperature_c": seed % 30, "sky": SKIES[seed % len(SKIES)]}

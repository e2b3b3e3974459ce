"""The files of vectors, and what is in them."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.vectors.decoding import decoding_cases
from tests.vectors.masks import mask_cases
from tests.vectors.programs import program_cases

Cases = list[dict[str, Any]]
FILES: dict[str, Callable[[], Cases]] = {
    "masks": mask_cases,
    "decoding": decoding_cases,
    "programs": lambda: asyncio.run(program_cases()),
}
FOLDER = Path(__file__).parent / "data"


def vectors(name: str) -> Cases:
    """The cases of a file as the Python SDK gives them now."""
    return json.loads(json.dumps(FILES[name]()))


def written(name: str) -> Cases:
    """The cases of a file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write(name: str, cases: Cases) -> None:
    """A case per line."""
    FOLDER.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")

"""Record programs that contend for a small pool of pie-tiny: `python -m tools.monitor.record FILE`."""

import argparse
import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from pie_mlx.errors import PieError
from pie_mlx.event_log import EventWriter
from pie_mlx.events import Event, ProcessOutput
from pie_mlx.runtime.engine import Engine

HERE = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TOTAL_PAGES = 30


@dataclass(frozen=True, slots=True)
class Launch:
    """A program started for a user some time after the recording began."""

    at_seconds: float
    username: str
    program: Path
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    token_budget: int | None = None


def panel(question: str, voices: int, max_tokens: int) -> dict[str, Any]:
    return {"question": question, "voices": voices, "max_tokens": max_tokens, "emphasis": 4}


def reader(length: int, bid: float, max_tokens: int, *, mistake: bool = False) -> dict[str, Any]:
    return {"length": length, "bid": bid, "max_tokens": max_tokens, "mistake": mistake}


def dialogue(pause: float, *questions: str) -> dict[str, Any]:
    return {"questions": list(questions), "max_tokens": 90, "pause": pause}


CITIES = ("Oslo", "Lima", "Cairo", "Quito", "Rome")

LAUNCHES = (
    Launch(0.5, "ada", EXAMPLES / "hello", {"prompt": "Who are you?"}),
    Launch(1.5, "linus", HERE / "dialogue.py", dialogue(2.5, "My name is Linus.", "What can you do?", "Who am I?")),
    Launch(3.0, "ada", HERE / "panel.py", panel("Should programs own their memory?", 5, 70)),
    *(Launch(5.0 + 7.0 * n, "grace", EXAMPLES / "fork-and-tool", {"city": city}) for n, city in enumerate(CITIES)),
    Launch(7.0, "alan", HERE / "reader.py", reader(24, 0.09, 140)),
    Launch(10.0, "ada", HERE / "reader.py", reader(20, 0.04, 120)),
    Launch(13.0, "linus", HERE / "panel.py", panel("Is a page worth its price?", 4, 80)),
    Launch(16.0, "grace", HERE / "dialogue.py", dialogue(2.0, "What colour is the sky?", "And grass?", "Thank you.")),
    Launch(18.0, "alan", HERE / "reader.py", reader(14, 0.02, 50, mistake=True)),
    Launch(20.0, "ada", HERE / "reader.py", reader(28, 0.03, 120)),
    Launch(23.0, "alan", HERE / "panel.py", panel("Who should run next?", 6, 60)),
    Launch(26.0, "linus", HERE / "reader.py", reader(22, 0.06, 100)),
    Launch(29.0, "ada", EXAMPLES / "hello", {"prompt": "What is the capital of Norway?"}, 400),
    Launch(31.0, "grace", HERE / "panel.py", panel("What is a fair share?", 5, 60)),
    Launch(34.0, "linus", EXAMPLES / "hello", {"prompt": "What is the capital of Peru?"}),
)


async def record(write: Callable[[Event], None], launches: tuple[Launch, ...] = LAUNCHES, until: float = 1e9) -> None:
    """Run the launches on one engine; programs that still run after `until` seconds are left out."""
    settings = {"total_pages": TOTAL_PAGES, "policy": "market", "default_endowment_pages": 64}
    async with Engine("pie-tiny", on_event=write, **settings) as engine:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(until):
                await asyncio.gather(*(run(engine, launch) for launch in launches))


async def run(engine: Engine, launch: Launch) -> None:
    await asyncio.sleep(launch.at_seconds)
    with contextlib.suppress(PieError, KeyError):
        await engine.run(
            launch.program,
            launch.input,
            username=launch.username,
            token_budget=launch.token_budget,
            capture_output=True,
        )


def portable(event: Event) -> Event:
    """Tracebacks name files: without the directory this copy of the project happens to lie in."""
    if isinstance(event, ProcessOutput):
        return msgspec.structs.replace(event, text=event.text.replace(f"{ROOT}/", ""))
    return event


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--until", type=float, default=60.0, help="seconds after which it stops")
    given = parser.parse_args()
    deadline = time.monotonic() + given.until
    with EventWriter(given.file, time.monotonic) as log:

        def write(event: Event) -> None:
            if time.monotonic() < deadline:  # how programs are cancelled in the end is not part of the scene
                log.write(portable(event))

        asyncio.run(record(write, until=given.until))
    print(f"{given.file}: {given.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()

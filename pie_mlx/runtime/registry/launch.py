"""A client's request to launch a program, and the requesting user."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.execution.entry import Entry, program_entry
from pie_mlx.runtime.program.inputs import beside_the_loop, fitting_input, parse_input
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.registry.record import ProcessRecord


@dataclass(frozen=True, slots=True)
class Launch:
    """A request to launch. `input_text` is strict JSON, `http` the request the process will answer.

    `entry` is that of a program already loaded here; None loads the program from its files. `model` is its default
    model, "" for its parent's or the engine's.
    """

    program: Program
    input_text: str
    captures: bool = True
    token_budget: int | None = None
    parent: str | None = None
    http: HttpPort | None = None
    entry: Entry | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """A user. An admin sees and controls all processes."""

    name: str
    admin: bool = False

    def owns(self, record: ProcessRecord) -> bool:
        return self.admin or record.username == self.name


def checked_input(launch: Launch) -> Input:
    """The input of the process, with defaults. Raises LaunchError, and InvalidArgumentError for a budget below 1."""
    if launch.token_budget is not None and launch.token_budget < 1:
        raise InvalidArgumentError(
            f"token_budget {launch.token_budget}: must be at least 1", hint="leave it out for the default"
        )
    entry = launch.entry or program_entry(launch.program)
    return fitting_input(entry.parameters, parse_input(launch.input_text), entry.identity)


async def checked_inputs(launches: Sequence[Launch]) -> list[Input]:
    """`checked_input` for several launches; long inputs are checked on another thread."""
    characters = sum(len(launch.input_text) for launch in launches)
    return await beside_the_loop(lambda: [checked_input(launch) for launch in launches], characters)


def checked_id(process_id: str) -> str:
    """The id in lower case. Raises InvalidArgumentError for anything but a hyphenated UUID."""
    try:
        parsed = uuid.UUID(process_id)
    except ValueError:
        parsed = None
    if parsed is None or str(parsed) != process_id.lower():
        raise InvalidArgumentError("Invalid process_id", hint="ids are UUIDs; 'pie ps' lists them")
    return str(parsed)

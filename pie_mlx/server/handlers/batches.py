"""Several processes in one request."""

import asyncio
import json
from collections.abc import Sequence

from pie_mlx.errors import InvalidArgumentError, ProcessError
from pie_mlx.events import ProcessFailed, ProcessReturned
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.registry import Launch, ProcessRecord, checked_inputs
from pie_mlx.server.frames import LaunchProcesses, RunProcesses
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.handlers.processes import find_program
from pie_mlx.server.session.connection import Connection

BATCH_LIMIT = 1024


@handles(LaunchProcesses)
async def launch_processes(connection: Connection, request: LaunchProcesses) -> None:
    program = await find_program(connection, request.inferlet)
    launches = _launches(program, request.inputs, request.token_budgets, captures=request.capture_outputs)
    registry = connection.service.registry
    records = registry.admit(connection.user, launches, await checked_inputs(launches))
    connection.reply(request, json.dumps([record.id for record in records]))
    if request.capture_outputs:
        for record in records:
            connection.adopt(record, registry.attach(record, connection), launched=True)
    registry.begin(records)


@handles(RunProcesses)
async def run_processes(connection: Connection, request: RunProcesses) -> None:
    program = await find_program(connection, request.inferlet)
    launches = _launches(program, request.inputs, request.token_budgets, captures=False)
    registry = connection.service.registry
    records = registry.admit(connection.user, launches, await checked_inputs(launches))
    registry.begin(records)
    connection.spawn(_results(connection, records), request)


async def _results(connection: Connection, records: list[ProcessRecord]) -> str:
    """Return values in order; the first failure, or closing the connection, ends the other processes."""
    values = [asyncio.create_task(_value(record)) for record in records]
    try:
        return json.dumps(await asyncio.gather(*values), ensure_ascii=False)
    finally:
        for value, record in zip(values, records, strict=True):
            value.cancel()
            if not record.is_over:
                connection.service.registry.terminate(record, "cancelled")


async def _value(record: ProcessRecord) -> str:
    await record.ended.wait()
    match record.terminal:
        case ProcessReturned(value=value):
            return value
        case ProcessFailed(message=message):
            raise ProcessError(message)
        case None:
            raise ProcessError("it ended without an event")


def _launches(
    program: Program, inputs: Sequence[str], budgets: Sequence[int | None] | None, *, captures: bool
) -> list[Launch]:
    if len(inputs) > BATCH_LIMIT:
        raise InvalidArgumentError(f"{len(inputs)} inputs: at most {BATCH_LIMIT} in one batch")
    if budgets is not None and len(budgets) != len(inputs):
        raise InvalidArgumentError(f"token_budgets length {len(budgets)} does not match inputs length {len(inputs)}")
    each = budgets or [None] * len(inputs)
    return [Launch(program, text, captures, budget) for text, budget in zip(inputs, each, strict=True)]

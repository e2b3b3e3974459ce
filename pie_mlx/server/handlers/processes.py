"""Single processes: launch, attach, steer, end."""

import contextlib
import math

import msgspec

from pie_mlx.engine import inspection
from pie_mlx.errors import InvalidArgumentError, PieError, ProcessError
from pie_mlx.plural import plural
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.registry import Launch, ProcessRecord, ProcessRow, checked_inputs, row_of
from pie_mlx.server.frames import (
    AttachProcess,
    CloseSession,
    DetachProcess,
    LaunchProcess,
    ListProcesses,
    SetBid,
    SignalProcess,
    SuspendProcess,
    TerminateProcess,
)
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.connection import Connection

SIGNAL_LIMIT_BYTES = 1 << 20


@handles(LaunchProcess)
async def launch_process(connection: Connection, request: LaunchProcess) -> None:
    program = await find_program(connection, request.inferlet)
    model = connection.service.engine.models.resolve(request.model) if request.model else ""
    launch = Launch(program, request.input, request.capture_outputs, request.token_budget, model=model)
    registry = connection.service.registry
    inputs = await checked_inputs([launch])
    (record,) = registry.admit(connection.user, [launch], inputs)
    # The answer first: events before it would be lost.
    connection.reply(request, record.id)
    if request.capture_outputs:
        connection.adopt(record, registry.attach(record, connection), launched=True)
    registry.begin([record])


@handles(AttachProcess)
async def attach_process(connection: Connection, request: AttachProcess) -> None:
    registry = connection.service.registry
    record = registry.find(request.process_id, connection.user)
    is_new = record.attached is not connection
    replay = registry.attach(record, connection)
    connection.reply(request, "Process attached")
    if is_new:
        connection.adopt(record, replay)


@handles(DetachProcess)
async def detach_process(connection: Connection, request: DetachProcess) -> str:
    record = connection.service.registry.find(request.process_id, connection.user)
    if record.id not in connection.attached:
        raise ProcessError("Not attached", hint="only the connection that is attached can detach")
    connection.forget(record)
    return "Process detached"


@handles(TerminateProcess)
async def terminate_process(connection: Connection, request: TerminateProcess) -> None:
    registry = connection.service.registry
    record = registry.find(request.process_id, connection.user)
    if record.is_over:
        raise ProcessError("Process not found", hint="it has ended already")
    connection.reply(request, "Process terminated")
    registry.terminate(record)


@handles(ListProcesses)
async def list_processes(connection: Connection, request: ListProcesses) -> str:
    del request
    return msgspec.json.encode(await rows(connection)).decode()


@handles(SetBid)
async def set_bid(connection: Connection, request: SetBid) -> str:
    if not (math.isfinite(request.bid) and request.bid >= 0):
        raise InvalidArgumentError(f"bid {request.bid}: must be finite and at least 0")
    record = _running(connection, request.process_id)
    contexts = await connection.service.engine.consult_all(
        lambda services: inspection.set_bid(services, record.id, request.bid) if record.id in services.processes else 0
    )
    return f"Bid of {plural(sum(contexts), 'context')} set to {request.bid:g}"


@handles(SuspendProcess)
async def suspend_process(connection: Connection, request: SuspendProcess) -> str:
    record = _running(connection, request.process_id)
    contexts = await connection.service.engine.consult_all(
        lambda services: inspection.suspend(services, record.id) if record.id in services.processes else 0
    )
    return f"{plural(sum(contexts), 'context')} suspended"


@handles(CloseSession)
async def close_session(connection: Connection, request: CloseSession) -> None:
    """Not answered: ignored for an ended process or another user's."""
    registry = connection.service.registry
    with contextlib.suppress(PieError):
        registry.close_session(registry.find(request.process_id, connection.user))


@handles(SignalProcess)
async def signal_process(connection: Connection, signal: SignalProcess) -> None:
    """Not answered; undeliverable signals are counted."""
    registry = connection.service.registry
    try:
        record = registry.find(signal.process_id, connection.user)
    except PieError:
        connection.service.ignored_signals += 1
        return
    if len(signal.message.encode()) > SIGNAL_LIMIT_BYTES:
        registry.notice(record, f"signal refused: longer than {SIGNAL_LIMIT_BYTES >> 20} MiB")
    elif not registry.send(record, signal.message):
        connection.service.ignored_signals += 1


async def find_program(connection: Connection, inferlet: str) -> Program:
    """A program uploaded by this connection, or else an installed one that its user trusts. Raises LaunchError."""
    if (uploaded := connection.uploaded.get(inferlet)) is not None:
        return uploaded
    installed = await connection.beside(connection.service.programs.find, inferlet, connection.user.name)
    return installed.program


async def rows(connection: Connection, *, all: bool = False) -> list[ProcessRow]:
    """The processes visible to the user, oldest first."""
    service = connection.service
    statuses = inspection.joined_statuses(await service.engine.consult_all(inspection.process_statuses))
    return [row_of(record, statuses.get(record.id)) for record in service.registry.records(connection.user, all=all)]


def _running(connection: Connection, process_id: str) -> ProcessRecord:
    record = connection.service.registry.find(process_id, connection.user)
    if record.state != "running":
        raise ProcessError(f"process {record.id}: it is {record.state}", hint="only a running process has contexts")
    return record

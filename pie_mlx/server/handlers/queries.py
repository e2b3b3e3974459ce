"""Queries about the engine. Each subject returns a JSON object."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from itertools import chain
from typing import Any, cast

import msgspec

import pie_mlx
from pie_mlx.engine import inspection
from pie_mlx.engine.services import Services
from pie_mlx.errors import InvalidArgumentError, ProcessError
from pie_mlx.runtime.registry import OutputLogs, checked_id, result_of
from pie_mlx.runtime.registry.output_log import plain_lines
from pie_mlx.server.frames import (
    VALUE_LIMIT_BYTES,
    AttachWorkflow,
    CancelWorkflow,
    DetachWorkflow,
    Query,
    Request,
    SubmitWorkflow,
)
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.handlers.processes import rows
from pie_mlx.server.session.connection import Connection
from pie_mlx.server.watching.machine import machine_figures

PROTOCOL = "0.4"
EXTENSIONS = [
    "detach_process",
    "remove_program",
    "set_bid",
    "suspend_process",
    "load_model",
    "unload_model",
    "watch_events",
    "watch_tokens",
    "process_output",
    "process_logs",
    "process_result",
    "event_format",
]
PAGE_ROWS = 100
"""Default rows per page; an answer must fit a frame."""


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ProcessesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    all: bool = False
    id_prefix: str = ""
    after: str = ""
    limit: int = PAGE_ROWS


class OutputOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    process_id: str
    after: int = 0
    limit: int = 1000


class LogsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id_prefix: str = ""


class ProcessOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    process_id: str


class ProgramsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str = ""


Answer = Callable[[Connection, Any], Awaitable[dict[str, object]]]
_subjects: dict[str, tuple[type[msgspec.Struct], Answer]] = {}


def answers(subject: str, options: type[msgspec.Struct] = NoOptions) -> Callable[[Answer], Answer]:
    """Register what answers a subject."""

    def register(answer: Answer) -> Answer:
        _subjects[subject] = options, answer
        return answer

    return register


@handles(Query)
async def query(connection: Connection, request: Query) -> str:
    if request.subject not in _subjects:
        known = ", ".join(sorted(_subjects))
        raise InvalidArgumentError(f"Unknown query subject '{request.subject[:64]}'; known: {known}")
    options, answer = _subjects[request.subject]
    try:
        given = msgspec.json.decode(request.record or "{}", type=options)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgumentError(f"query '{request.subject}': record: {error}") from None
    return msgspec.json.encode(await answer(connection, given)).decode()


@answers("model_status")
async def model_status(connection: Connection, options: NoOptions) -> dict[str, object]:
    del options
    service = connection.service
    found = dict(await service.engine.consult_all(lambda services: (services.model_info.name, _figures(services))))
    ours = {f"{name}.{key}": value for name, figures in found.items() for key, value in figures.items()}
    return service.totals.model_status(service.model) | ours


def _figures(services: Services) -> dict[str, object]:
    """The figures of one model in memory."""
    pages = services.page_report.count().pages
    return {
        "kv_pages_used": pages.used,
        "kv_pages_total": pages.total,
        "kv_pages_shared": pages.shared,
        "kv_pages_cached": pages.cached,
        "adapter_bytes": services.adapters.size_bytes,
        **msgspec.structs.asdict(inspection.market_status(services)),
    }


@answers("engine_info")
async def engine_info(connection: Connection, options: NoOptions) -> dict[str, object]:
    del options
    service, settings = connection.service, connection.service.settings
    return {
        "product": "pie-mlx",
        "version": pie_mlx.__version__,
        "protocol": PROTOCOL,
        "extensions": EXTENSIONS,
        "models": [model.name for model in service.engine.models.status()],
        "limits": {
            "frame_bytes": settings.frame_bytes,
            "value_bytes": VALUE_LIMIT_BYTES,
            "upload_bytes": settings.upload_bytes,
            "connections": settings.connections,
        },
        "started_at": service.started_at,
        "authentication": settings.authentication,
        "mcp_servers": [
            {"name": server.name, "transport": server.transport} for server in service.engine.mcp_servers()
        ],
    }


@answers("machine")
async def machine(connection: Connection, options: NoOptions) -> dict[str, object]:
    """Memory, processor and GPU of the engine's machine, for people; what the system does not report is 0 or null."""
    del options
    use = inspection.joined_memory(await connection.service.engine.consult_all(inspection.memory_use))
    return msgspec.structs.asdict(use) | await asyncio.to_thread(machine_figures, gpu=connection.service.gpu.read)


@answers("processes", ProcessesOptions)
async def processes(connection: Connection, options: ProcessesOptions) -> dict[str, object]:
    found = [row for row in await rows(connection, all=options.all) if row.id.startswith(options.id_prefix.lower())]
    if options.after:
        places = [place for place, row in enumerate(found) if row.id == options.after]
        found = found[places[0] + 1 :] if places else []
    page = found[: max(1, options.limit)]
    rest = len(found) > len(page)
    return {"processes": page, "next": page[-1].id if rest else None}


@answers("process_output", OutputOptions)
async def process_output(connection: Connection, options: OutputOptions) -> dict[str, object]:
    """From the log on disk, so it also covers earlier runs of the engine."""
    logs = _logs(connection)
    process_id = checked_id(options.process_id)
    _refuse_unrecorded(connection, process_id)
    head = await asyncio.to_thread(logs.head, process_id)
    user = connection.user
    if not user.admin and head.username != user.name:
        raise ProcessError("Permission denied", hint="it belongs to another user")
    lines = await asyncio.to_thread(logs.read, process_id, after=options.after, limit=max(1, options.limit))
    running = connection.service.registry.is_running(process_id)
    return {"process_id": process_id, "program": head.program, "running": running, "events": plain_lines(lines)}


@answers("process_logs", LogsOptions)
async def process_logs(connection: Connection, options: LogsOptions) -> dict[str, object]:
    """The newest logs visible to the user, including earlier runs of the engine."""
    user, prefix = connection.user, options.id_prefix.lower()
    found = await asyncio.to_thread(_logs(connection).newest, prefix, None if user.admin else user.name, PAGE_ROWS)
    return {"logs": msgspec.to_builtins(found)}


def _refuse_unrecorded(connection: Connection, process_id: str) -> None:
    """Raises ProcessError for a running process that is not logged."""
    records = connection.service.registry.records(connection.user)
    if any(record.id == process_id and not record.is_logged for record in records):
        raise ProcessError(
            f"process {process_id}: it answers a request to /v1, and these are not logged",
            hint="only its client gets the answer; 'pie top' shows its activity",
        )


def _logs(connection: Connection) -> OutputLogs:
    """Raises ProcessError if the engine keeps no logs."""
    logs = connection.service.registry.logs
    if logs is None:
        raise ProcessError("this engine does not log output", hint="attach to the process")
    return logs


@answers("process_result", ProcessOptions)
async def process_result(connection: Connection, options: ProcessOptions) -> dict[str, object]:
    record = connection.service.registry.find(options.process_id, connection.user)
    return cast("dict[str, object]", msgspec.to_builtins(result_of(record)))


@answers("programs", ProgramsOptions)
async def programs(connection: Connection, options: ProgramsOptions) -> dict[str, object]:
    """With a name, `trusted` says for each version whether the bare name may mean it."""
    store, user = connection.service.programs, connection.user.name
    listing = [record for record in await asyncio.to_thread(store.listing) if options.name in ("", record.name)]
    found = [msgspec.to_builtins(record) for record in listing]
    if options.name:
        for entry in found:
            full_name = f"{entry['owner']}:{entry['name']}@{entry['version']}"
            installed = await asyncio.to_thread(store.find, full_name)
            entry["trusted"] = store.trusts(entry["owner"], user)
            entry["parameters"] = installed.manifest.parameters.table()
            entry["manifest"] = installed.manifest_text
            entry["description"] = installed.manifest.description
            entry["answers_requests"] = installed.manifest.answers_requests
    return {"programs": found}


@answers("sessions")
async def sessions(connection: Connection, options: NoOptions) -> dict[str, object]:
    del options
    user = connection.user
    shown = [
        {
            "username": other.user.name,
            "address": other.address,
            "since": other.since,
            "attached": sorted(other.attached),
            "mcp_servers": sorted(other.mcp.announced),
        }
        for other in connection.service.connections
        if other.is_authenticated and (user.admin or other.user.name == user.name)
    ]
    return {"sessions": sorted(shown, key=lambda session: session["since"])}


@answers("market")
async def market(connection: Connection, options: NoOptions) -> dict[str, object]:
    del options
    engine = connection.service.engine
    status = inspection.joined_markets(await engine.consult_all(inspection.market_status))
    accounts = [
        {"process": row.id, "balance": row.balance, "bid": row.bid, "pages": row.pages, "reason": row.reason}
        for row in await rows(connection)
    ]
    return {**msgspec.structs.asdict(status), "accounts": accounts}


@answers("pages")
async def pages(connection: Connection, options: NoOptions) -> dict[str, object]:
    del options
    engine = connection.service.engine
    usage = await engine.page_usage()
    visible = {row.id for row in await rows(connection)}
    found = chain.from_iterable(await engine.consult_all(inspection.context_statuses))
    contexts = [item for item in found if item.process in visible]
    return {**msgspec.structs.asdict(usage), "free": usage.free, "contexts": contexts}


@answers("adapters")
async def adapters(connection: Connection, options: NoOptions) -> dict[str, object]:
    """Adapters of the user; all for an administrator."""
    del options
    user = connection.user
    found = chain.from_iterable(await connection.service.engine.consult_all(inspection.adapter_statuses))
    return {"adapters": [one for one in found if user.admin or one.username == user.name]}


@answers("models")
async def models(connection: Connection, options: NoOptions) -> dict[str, object]:
    """Every model that can be used, the default one first: whether it is in memory, and what it takes of that. Those
    in memory that have pages have a price too. Of the processes that hold one, those that the user may see."""
    del options
    engine = connection.service.engine
    seen = {record.id for record in connection.service.registry.records(connection.user)}
    pools = {pool.model: pool for pool in await engine.consult_all(inspection.pool_status) if pool.pages.total}
    found = [(status, pools.get(status.name)) for status in engine.models.status()]
    return {
        "models": [
            msgspec.structs.asdict(status)
            | {"holders": [one for one in status.holders if one in seen]}
            | {"pages": pool and pool.pages, "price": pool and pool.price}
            for status, pool in found
        ],
    }


@answers("mcp_servers")
async def mcp_servers(connection: Connection, options: NoOptions) -> dict[str, object]:
    """MCP servers of this connection and of the engine."""
    del options
    announced = [
        {"name": server.name, "transport": server.transport, "command": server.command, "at": "client"}
        for server in connection.mcp.announced.values()
    ]
    configured = [asdict(state) for state in connection.service.engine.mcp_servers()]
    return {"mcp_servers": [*announced, *({**state, "at": "engine"} for state in configured)]}


async def _refuse_workflow(connection: Connection, request: Request) -> str:
    del connection, request
    raise InvalidArgumentError("workflows are not supported: use runtime.launch in an inferlet")


for _kind in (SubmitWorkflow, CancelWorkflow, AttachWorkflow, DetachWorkflow):
    handles(_kind)(_refuse_workflow)

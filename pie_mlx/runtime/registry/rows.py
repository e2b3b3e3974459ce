"""A process, and its result, as listings show them."""

import time

import msgspec

from pie_mlx.calls import Reuse
from pie_mlx.engine.inspection import ProcessStatus
from pie_mlx.events import ProcessFailed, ProcessReturned, told_message
from pie_mlx.runtime.registry.record import ProcessRecord

INPUT_CHARACTERS = 1024


class ProcessRow(msgspec.Struct, frozen=True):
    """One process. `started_at` is Unix time, `pages` its pages in the pool, of which no other process holds
    `own_pages`, `bid` its highest, in credits; its launch, with all programs started from it, has `spent` so many.
    `cached_tokens` of the `prompt_tokens` of its prompts were not computed; `miss` is why the first of the others
    were."""

    id: str
    username: str
    program: str
    input: str
    elapsed_secs: int
    state: str
    reason: str
    attached: bool
    kind: str
    parent: str | None
    model: str
    started_at: float
    pages: int
    own_pages: int
    balance: float
    spent: float
    bid: float
    prompt_tokens: int
    cached_tokens: int
    miss: str


class ProcessResult(msgspec.Struct, frozen=True):
    """The outcome of a process, if it has ended: `value` and `format` of its return value, or `error`."""

    state: str
    value: str = ""
    format: str = "none"
    error: str | None = None
    error_type: str | None = None


def row_of(record: ProcessRecord, status: ProcessStatus | None) -> ProcessRow:
    """`status` is None for a process unknown to the engine: a queued or finished one."""
    held = record.process is not None and record.process.awaits_reader()
    reuse = status.reuse if status else record.process.reuse if record.process else Reuse()
    cached = reuse.from_memory + reuse.from_disk
    end_seconds = record.finished_seconds or time.monotonic()
    return ProcessRow(
        id=record.id,
        username=record.username,
        program=record.program.identity,
        input=record.input_text[:INPUT_CHARACTERS],
        elapsed_secs=int(end_seconds - record.started_seconds),
        state=status.state if status and record.state == "running" else record.state,
        reason="waits for its client to read" if held else status.reason if status else _reason(record),
        attached=record.attached is not None,
        kind=record.kind,
        parent=record.parent,
        model=record.model,
        started_at=record.started_at,
        pages=status.pages if status else 0,
        own_pages=status.own_pages if status else 0,
        balance=status.balance if status else 0.0,
        spent=status.spent if status else 0.0,
        bid=status.bid if status else 0.0,
        prompt_tokens=cached + reuse.replayed + reuse.computed,
        cached_tokens=cached,
        miss=str(reuse.miss or ""),
    )


def _reason(record: ProcessRecord) -> str:
    """Why it is queued, or has failed."""
    match record.terminal:
        case ProcessFailed(message=message, error_type=error_type) if record.state == "failed":
            return f"{error_type}: {told_message(error_type, message)}"
        case _:
            return record.reason


def result_of(record: ProcessRecord) -> ProcessResult:
    match record.terminal:
        case ProcessReturned(value=value, format=format):
            return ProcessResult(record.state, value, format)
        case ProcessFailed(message=message, error_type=error_type):
            return ProcessResult(record.state, error=message, error_type=error_type)
        case None:
            return ProcessResult(record.state)

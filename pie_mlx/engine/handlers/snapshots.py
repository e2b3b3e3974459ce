"""Snapshots, in memory and on disk."""

import msgspec

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.handlers.forward.checkpointing import keep_state
from pie_mlx.engine.handlers.snapshot_pages import store_pages
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.paging.archive import SnapshotNotes
from pie_mlx.engine.services import Services
from pie_mlx.errors import ContextLengthError, InvalidArgumentError
from pie_mlx.events import ContextCreated

NAME_LIMIT = 256
GENERATED_PREFIX = "__snapshot_"
PENDING_TOKEN_BYTES = 40
"""An int in a list."""
LONG_PENDING = 4_096


def _check_name(name: str) -> None:
    if len(name) > NAME_LIMIT:
        raise InvalidArgumentError(
            f"snapshot name: {len(name)} characters long", hint=f"use 1 to {NAME_LIMIT} characters"
        )
    if name.startswith(GENERATED_PREFIX):
        raise InvalidArgumentError(
            f"snapshot name {name!r}: {GENERATED_PREFIX} is reserved for generated names", hint="choose another name"
        )


def _check_pending(services: Services, pending: calls.PendingInput) -> None:
    """Raises ContextLengthError for a buffer that is too long to flush, InvalidArgumentError for other tokens."""
    most = services.model_info.maximum_positions
    if len(pending.tokens) > most:
        raise ContextLengthError(
            f"snapshot: {len(pending.tokens)} tokens are pending, this model reads at most {most}",
            hint="save what fits the model",
        )
    check_tokens(pending.tokens, services.model_info.vocabulary_size)


def _is_long(pending: calls.PendingInput) -> bool:
    """Whether looking through it takes so long that the engine's loop should not wait for it."""
    return len(pending.tokens) + len(pending.chat.turns) + len(pending.chat.held) > LONG_PENDING


def _checked_bytes(services: Services, pending: calls.PendingInput) -> int:
    _check_pending(services, pending)
    return _size_bytes(pending)


def _size_bytes(pending: calls.PendingInput) -> int:
    """What a buffer and its conversation take in memory."""
    return PENDING_TOKEN_BYTES * len(pending.tokens) + len(msgspec.msgpack.encode(pending.chat))


@answers(calls.SaveSnapshot)
async def save(services: Services, process: HostedProcess, call: calls.SaveSnapshot) -> str:
    _check_name(call.name)
    store, archive, user = services.store, services.archive, process.username
    context = process.context(call.context)
    async with context.turn:
        context.check_live()
        notes = SnapshotNotes(call.pending, context.sampled)
        if _is_long(call.pending):
            notes_bytes = await process.time.aside(_checked_bytes, services, call.pending)
            context.check_live()
        else:
            notes_bytes = _checked_bytes(services, call.pending)
        persists = bool(call.name) and (archive.persists if call.persist is None else call.persist)
        async with archive.turn:
            store.snapshots.require_room(context.id, user, call.name, notes_bytes)
            # The disk first: what it refuses leaves the old one (N2).
            if persists:
                await archive.write(user, call.name, store.contexts[context.id].transcript(), notes)
            elif call.name:
                await archive.remove(user, call.name)
            keep_state(services, context.id)
            name = call.name or store.snapshots.fresh_name()
            services.queue.copy(store.snapshots.save(context.id, user, name, notes, notes_bytes))
        if persists:
            await store_pages(services, process, context, name)
    return name


@answers(calls.OpenSnapshot)
async def open_snapshot(
    services: Services, process: HostedProcess, call: calls.OpenSnapshot
) -> calls.OpenedSnapshot | None:
    services.check_model(call.model)
    store, archive, user = services.store, services.archive, process.username
    async with archive.turn:
        is_here = store.snapshots.find(user, call.name) is not None
        found = None if is_here else await archive.read(user, call.name)
        if found is not None and services.disk is not None:
            await services.disk.look()  # another engine may have saved it
        if call.take and not await archive.remove(user, call.name):
            found = None  # another engine took it meanwhile
        if found is not None:
            store.put_snapshot(user, call.name, *found, _size_bytes(found[1].pending))
        # Who keeps too much already opens it from the disk each time.
        leaves = call.take or (found is not None and store.snapshots.is_overfull(user))
        opened = (store.take if leaves else store.open)(user, call.name)
    if opened is None:
        return None
    services.queue.copy(opened.copies)
    notes: SnapshotNotes = opened.notes
    context = services.adopt(process, opened.context, sampled=notes.sampled)
    state = calls.ContextState(context.id, store.contexts[context.id].counters())
    pages = state.counters.committed
    services.emit(ContextCreated(process.id, context.id, pages, process.account, services.clock()))
    return calls.OpenedSnapshot(state, notes.pending)


@answers(calls.DeleteSnapshot)
async def delete(services: Services, process: HostedProcess, call: calls.DeleteSnapshot) -> None:
    services.check_model(call.model)
    async with services.archive.turn:
        removed = await services.archive.remove(process.username, call.name)
        if services.store.snapshots.find(process.username, call.name) is not None or not removed:
            services.store.snapshots.delete(process.username, call.name)

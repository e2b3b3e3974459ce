"""Snapshots, in memory and on disk."""

from pie_mlx import calls
from pie_mlx.engine.answers.base import answers
from pie_mlx.engine.archive import SnapshotNotes
from pie_mlx.engine.process import Process
from pie_mlx.engine.services import Services
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import ContextCreated

NAME_LIMIT = 256
GENERATED_PREFIX = "__snapshot_"


def _check_name(name: str) -> None:
    if len(name) > NAME_LIMIT:
        raise InvalidArgumentError(
            f"snapshot name: {len(name)} characters long", hint=f"use 1 to {NAME_LIMIT} characters"
        )
    if name.startswith(GENERATED_PREFIX):
        raise InvalidArgumentError(
            f"snapshot name {name!r}: {GENERATED_PREFIX} is reserved for generated names", hint="choose another name"
        )


@answers(calls.SaveSnapshot)
async def save(services: Services, process: Process, call: calls.SaveSnapshot) -> str:
    _check_name(call.name)
    store, archive, user = services.store, services.archive, process.username
    context = process.context(call.context)
    async with context.turn:
        context.check_live()
        services.check_stateless("snapshots")
        notes = SnapshotNotes(call.pending, context.sampled)
        async with archive.turn:
            # The disk first: what it refuses leaves the old one (N2).
            if services.persists if call.persist is None else call.persist:
                await archive.write(user, call.name, store.transcript(context.id), notes)
            elif call.name:
                await archive.remove(user, call.name)
            name = call.name or store.fresh_snapshot_name()
            services.ticker.copy(store.save(context.id, user, name, notes).copies)
    return name


@answers(calls.OpenSnapshot)
async def open_snapshot(services: Services, process: Process, call: calls.OpenSnapshot) -> calls.OpenedSnapshot | None:
    services.check_model(call.model)
    store, archive, user = services.store, services.archive, process.username
    async with archive.turn:
        is_here = store.has_snapshot(user, call.name)
        found = None if is_here else await archive.read(user, call.name)
        if call.take and not await archive.remove(user, call.name):
            found = None  # another engine took it meanwhile
        if found is not None:
            store.put_snapshot(user, call.name, *found)
        opened = (store.take if call.take else store.open)(user, call.name)
    if opened is None:
        return None
    services.ticker.copy(opened.copies)
    notes: SnapshotNotes = opened.notes
    context = services.adopt(process, opened.context, sampled=notes.sampled)
    state = calls.ContextState(context.id, store.counters(context.id))
    services.emit(ContextCreated(process.id, context.id, state.counters.committed, process.account))
    return calls.OpenedSnapshot(state, notes.pending)


@answers(calls.DeleteSnapshot)
async def delete(services: Services, process: Process, call: calls.DeleteSnapshot) -> None:
    services.check_model(call.model)
    async with services.archive.turn:
        removed = await services.archive.remove(process.username, call.name)
        if services.store.has_snapshot(process.username, call.name) or not removed:
            services.store.delete(process.username, call.name)

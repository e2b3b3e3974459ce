"""Brings suspended contexts back: pages that are still cached are attached, spilled pages and those of the disk cache
are read, and the rest is computed again (R4)."""

import asyncio
from typing import Any

from pie_mlx.engine.kv import Fill, Restore, Stored, WorkingToken
from pie_mlx.engine.model.networks.network import Network
from pie_mlx.engine.paging.page_io import PageIO, PageLoad
from pie_mlx.engine.paging.stored_kv import StoredKv, UnreadableError
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.tick_state import Restoration, TickState
from pie_mlx.errors import BatchFailedError, OutOfPagesError


class Restorer:
    """Suspends contexts and restores them; replays run as passes without a call (R6).

    A context may be suspended or released at any time: a restore under way is dropped then. Its recurrent state, in
    `network`, leaves and returns with its pages.
    """

    def __init__(
        self,
        state: TickState,
        page_io: PageIO,
        reports: TickReports,
        network: Network,
        stored_kv: StoredKv | None = None,
    ) -> None:
        self._state, self._page_io, self._reports, self._network = state, page_io, reports, network
        self._stored_kv = stored_kv
        self._loading_tasks: set[asyncio.Task[None]] = set()

    def suspend(self, context: LiveContext) -> None:
        """Take all pages of a context and of its gang. A restore under way is dropped; the next one finds the pages
        that it computed, if they are still cached then."""
        for one in self._state.together(context):
            self._suspend(one)

    def _suspend(self, context: LiveContext) -> None:
        restoration = self._state.restorations.pop(context.id, None)
        self._leave(context, 0 if restoration is None else restoration.reached)
        context.fresh = False
        context.stay_rows = 0
        context.suspensions += 1

    def drop(self, context: LiveContext) -> None:
        """Stop a restore; the caller corrects the accounting of the context."""
        self._state.restorations.pop(context.id, None)

    def remember(self, context: LiveContext) -> None:
        """Make the recurrent state of a context in the pool cover all of its tokens, and no others. A kept state is
        there at once; otherwise some tokens are computed again, and the context is not usable before."""
        known, tokens = self._network.state(context.id), self._state.store.sequence_length(context.id)
        if tokens == (0 if known is None else known.tokens):
            return
        kept = self._state.store.states.newest(context.id, tokens)
        state = None if kept is None or kept.tokens < tokens else self._state.store.pool.kept_states.use(kept)
        if state is None and tokens:
            self._leave(context)
            if not self._begin(context, moved=False):
                self.suspend(context)  # its gang goes with it
        else:
            self._network.set_state(context.id, state)

    def _leave(self, context: LiveContext, reached: int = 0) -> None:
        """Take the pages, and keep the recurrent state for the return. Of a context that is being restored, only the
        first `reached` tokens have content."""
        store, known = self._state.store, self._network.state(context.id)
        if (
            known is not None
            and store.contexts[context.id].usable
            and known.tokens <= store.sequence_length(context.id)
        ):
            store.states.keep(context.id, known, known.tokens, known.size_bytes, shared=False)
        store.suspender.suspend(context.id, reached)
        if known is not None and known.tokens == reached:
            store.suspender.keep_state(context.id, known, known.tokens, known.size_bytes)
        self._network.set_state(context.id, None)

    def begin(self, context: LiveContext) -> bool:
        """Take the pages that a context and its gang need, and queue what fills them; False if there are too few after
        all."""
        together = self._state.together(context)
        if all([self._begin(one) for one in together]):
            return True
        for one in together:
            if self._state.store.contexts[one.id].resident:
                self._suspend(one)
        return False

    def _begin(self, context: LiveContext, *, moved: bool = True) -> bool:
        """`moved` is False if its pages never left the pool, so that no event is due."""
        suspender, kept = self._state.store.suspender, self._stored_kv
        try:
            found = Stored() if kept is None else kept.find(context.user, suspender.records(context.id))
            work = suspender.restore(context.id, found)
        except OutOfPagesError:
            return False
        self._page_io.copy(work.copies)
        context.fresh = True
        restoration = Restoration(context, work, [], moved)
        self._state.restorations[context.id] = restoration
        if (report := restoration.report) is not None:
            self._reports.restoring(report)
        if kept is not None and (work.stored or work.stored_state is not None):
            restoration.loads = True
            task = asyncio.create_task(self._load_stored(kept, restoration))
            self._loading_tasks.add(task)
            task.add_done_callback(self._loading_tasks.discard)
        else:
            self._stored_loaded(restoration, None)
        return True

    async def close(self) -> None:
        """End the loads that are under way."""
        for task in self._loading_tasks:
            task.cancel()
        await asyncio.gather(*self._loading_tasks, return_exceptions=True)

    async def _load_stored(self, kept: StoredKv, restoration: Restoration) -> None:
        """Load what the disk cache has; if some of it is unreadable, start over without it."""
        context = restoration.context

        def is_wanted() -> bool:
            return self._state.restorations.get(context.id) is restoration

        try:
            state = await kept.load(context.user, restoration.work, is_wanted, self._state.changed.set)
        except UnreadableError:
            if is_wanted():
                self.suspend(context)
        else:
            if is_wanted():
                restoration.loads = False
                self._stored_loaded(restoration, state)
        self._state.changed.set()

    def _stored_loaded(self, restoration: Restoration, stored_state: Any) -> None:
        """What the disk cache had is loaded: now load what is spilled, and then replay what is lost."""
        context, work = restoration.context, restoration.work
        restoration.replays = [self._replay(context, fill, work) for fill in work.fills]
        state = None if work.state is None else self._state.store.pool.kept_states.use(work.state)
        if work.reads or (work.state is not None and state is None):
            self._page_io.load(self._loading(restoration, stored_state))
        else:
            self._loaded(restoration, frozenset(), stored_state or state)

    def after_chunk(self, task: ForwardTask) -> None:
        """A replay has run, or a part of it: go on to the next one, or end the restore unless it was dropped
        meanwhile."""
        restoration = self._state.restorations.get(task.context.id)
        if restoration is None or restoration.next_replay is not task or task.remaining:
            return
        restoration.replays.pop(0)
        self._go_on(restoration)

    def fail(self, task: ForwardTask, error: BatchFailedError) -> None:
        """A replay failed on the device: the context is off-pool as before, and the calls that wait for it fail."""
        context = task.context
        restoration = self._state.restorations.get(context.id)
        if restoration is None or restoration.next_replay is not task:
            return
        self.suspend(context)
        for table in (self._state.requests, self._state.passes):
            waiting = table.get(self._state.together(context)[0].id)
            if waiting is not None:
                waiting.fail(error)

    def _loading(self, restoration: Restoration, stored_state: Any) -> PageLoad:
        def is_wanted() -> bool:
            return self._state.restorations.get(restoration.context.id) is restoration

        def loaded(damaged: frozenset[int], state: Any) -> None:
            self._loaded(restoration, damaged, stored_state or state)

        return PageLoad(restoration.work.reads, restoration.work.state, is_wanted, loaded)

    def _loaded(self, restoration: Restoration, damaged: frozenset[int], state: Any) -> None:
        """Spilled pages and the state to go on from are back; if some are damaged, start over and compute those
        again."""
        context = restoration.context
        if damaged or (restoration.work.state is not None and state is None):
            self.suspend(context)
            self._state.store.suspender.forget_spills(context.id, damaged)
            self._state.changed.set()
        else:
            self._network.set_state(context.id, state)
            self._go_on(restoration)

    def _go_on(self, restoration: Restoration) -> None:
        if restoration.replays:
            return
        context = restoration.context
        del self._state.restorations[context.id]
        context.replayed += restoration.work.replayed_tokens
        context.reread += restoration.work.read_tokens
        self._state.store.suspender.finish_restore(context.id)
        if restoration.moved:
            self._reports.restored(context.id, restoration.work)
        waiting = self._state.together(context)[0].id
        request = self._state.requests.get(waiting)
        if request is not None and not request.pages and self._state.is_usable(waiting):
            del self._state.requests[waiting]
            request.grant()
        self._state.changed.set()

    def _replay(self, context: LiveContext, fill: Fill, work: Restore) -> ForwardTask:
        rows = zip(fill.tokens, fill.positions, fill.masks, strict=True)
        inputs = [
            WorkingToken(token, position, mask, fill.adapter, fill.adapter_version, fill.zo_seed)
            for token, position, mask in rows
        ]
        done = asyncio.get_running_loop().create_future()
        arrival = next(self._state.arrivals)
        return ForwardTask(context, inputs, (), arrival, done, replay=True, first_slot=fill.start, written=work.written)

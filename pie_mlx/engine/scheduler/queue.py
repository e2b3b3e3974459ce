"""The two ways to wait for the tick loop: for pages, and for the model."""

import asyncio
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pie_mlx.calls import AnyResult
from pie_mlx.engine.kv import Evicted, Mark, PageCopy, PageStore, WorkingToken
from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.page_io import PageIO
from pie_mlx.engine.paging.spill import Spill
from pie_mlx.engine.paging.stored_kv import StoredKv
from pie_mlx.engine.policies import Limits, Policy, Reason
from pie_mlx.engine.scheduler.device_turns import DeviceTurns
from pie_mlx.engine.scheduler.forward_task import Completion, ForwardTask, PassContinuation, Timer
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.scheduler import Scheduler
from pie_mlx.engine.scheduler.tick_state import MemoryTerms, PageRequest, TickState
from pie_mlx.engine.scheduler.tick_view import is_contended
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.errors import EngineStoppedError, ForwardTimeoutError
from pie_mlx.events import ContextRestoring, Event
from pie_mlx.metal.page_pool.pool import HostContent

T = TypeVar("T")


class SchedulerQueue:
    """Lets contexts wait for pages (`with_pages`, `restore`) and for the model (`run`), and serves them tick by tick.

    Everything happens on one loop. A call that is cancelled while it waits leaves no trace; one whose tokens are in
    the running batch keeps them (E5).
    """

    def __init__(
        self,
        store: PageStore,
        runner: Runner,
        accounting: Accounting,
        policy: Policy,
        limits: Limits,
        emit: Callable[[Event], None],
        spill: Spill | None = None,
        disk: DiskCache | None = None,
        *,
        runs_ahead: bool = True,
        patience_seconds: float = 120.0,
        turns: DeviceTurns | None = None,
    ) -> None:
        self._state = state = TickState(store)
        self._accounting = accounting
        self._runs_ahead, self._patience_seconds = runs_ahead, patience_seconds
        self._recurrent = runner.model.recurrent
        self._page_io = page_io = PageIO(store, runner, spill, emit, disk, state.changed.set)
        self._reports = reports = TickReports(emit)
        self._restorer = restorer = Restorer(
            state, page_io, reports, runner.model.network, None if disk is None else StoredKv(disk, page_io, runner)
        )
        self._scheduler = Scheduler(
            state,
            runner,
            accounting,
            policy,
            limits,
            emit,
            page_io,
            restorer,
            reports,
            runs_ahead=runs_ahead,
            patience_seconds=patience_seconds,
            turns=turns,
        )
        self._broken: EngineStoppedError | None = None
        self._tick_loop = asyncio.create_task(self._scheduler.tick_forever(self._break), name="pie-ticks")
        if turns is not None:
            self._tick_loop.add_done_callback(lambda _: turns.leave(self._scheduler))

    def adopt(self, context: LiveContext) -> None:
        """A context begins to live."""
        self._state.contexts[context.id] = context
        if context.parent:
            self._state.note_fork(context.id)

    def forget(self, context: LiveContext) -> None:
        """A context is released; its pages may serve another one."""
        self._state.forget(context.id)
        self._reports.forget(context.id)
        self._accounting.forget_context(context.id)
        self.wake()

    def wake(self) -> None:
        """Pages or bids changed."""
        self._state.changed.set()

    def count_loop_time(self, user: str, seconds: float) -> None:
        """The engine's loop has worked for calls of a user, for so many seconds."""
        self._state.count_loop_time(user, seconds)

    @property
    def ticks(self) -> int:
        """Batches so far."""
        return self._state.ticks

    @property
    def failure(self) -> EngineStoppedError | None:
        """Why there are no more ticks; None while there are."""
        return self._broken

    @property
    def batch_contexts(self) -> int:
        """Contexts in the latest batch."""
        return self._state.batch_contexts

    @property
    def window_steps(self) -> float:
        """Cost of verifying a window of drafts in the latest batch, in plain steps of one context."""
        return self._state.window_cost.steps(self._state.batch_contexts)

    def window_price(self, drafts: int) -> float:
        """The same for a window of so many drafts."""
        return self._state.window_cost.steps(self._state.batch_contexts, drafts)

    @property
    def plain_seconds(self) -> float | None:
        """What a batch with one token of each of its contexts takes lately; None before the first."""
        return self._state.window_cost.plain_seconds(self._state.batch_contexts)

    @property
    def knows_plain(self) -> bool:
        """Whether `plain_seconds` is an average of several batches."""
        return self._state.window_cost.knows_plain(self._state.batch_contexts)

    def step_ahead_seconds(self, user: str) -> float | None:
        """What a prefetched step of a context of that user would take; None where none is to be prefetched."""
        contexts = self._state.contexts_beside(user)
        return self._state.window_cost.plain_seconds(contexts) if self._runs_ahead else None

    @property
    def capacity_pages(self) -> int:
        """Pages of the pool."""
        return self._state.store.pool.capacity

    def set_memory_terms(self, terms: MemoryTerms) -> None:
        """From now on, ticks do without these pages and bytes."""
        if terms != self._state.memory:
            self._state.set_memory_terms(terms)

    def empty_cache(self) -> None:
        """Forget kept states of recurrent layers, and cached pages if that gives memory back. Contexts that are
        off-pool find theirs on disk."""
        self._state.store.pool.kept_states.clear()
        if self._page_io.returns_memory:
            self._page_io.discard(self._state.store.withheld.empty_cache())
            self.wake()

    def reason(self, context: int) -> Reason | None:
        """Why a context waits or was suspended; None while it does neither."""
        return self._reports.reasons.get(context)

    def asks(self, context: int) -> bool:
        """Whether a context wants pages or has a pass to run."""
        return self._state.has_work(context)

    def restoring(self, context: int) -> ContextRestoring | None:
        """How a context is brought back; None while it is not."""
        restoration = self._state.restorations.get(context)
        return None if restoration is None else restoration.report

    def copy(self, copies: Iterable[PageCopy]) -> None:
        """Have pages copied before the next batch, in order. Call it right after the store made the copies."""
        self._page_io.copy(copies)

    async def fill(self, context: LiveContext, pages: Sequence[int], content: HostContent) -> bool:
        """Write content to pages of a context between two batches; False if the context has left the pool since."""
        suspensions = context.suspensions
        filled = self._page_io.fill(pages, content, lambda: not context.released and context.suspensions == suspensions)
        self.wake()
        return await filled and context.suspensions == suspensions

    async def store(self, pages: Sequence[Evicted]) -> None:
        """Have the disk cache write pages, between two batches: as they are once all moves before are done."""
        self._check_whole()
        stored = self._page_io.store(pages)
        self.wake()
        await stored

    async def save_pages(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Write the pages in memory to the disk cache, also those that ended contexts left, as long as it `goes_on`."""
        await self.store(())
        await self._page_io.save(goes_on)

    def rollback(self, context: LiveContext, before: Mark) -> None:
        """Undo what a pass that ended without success did to its context (E3, E6)."""
        self._restorer.drop(context)
        context.fresh = False  # it got pages for a pass that is given up
        self._page_io.copy(self._state.store.undoer.rollback(context.id, before))

    def suspend(self, context: LiveContext) -> None:
        """Take a context's pages now, as its program asks; its next operation waits for them (R2)."""
        if self._state.store.contexts[context.id].resident:
            self._restorer.suspend(context)
            self._reports.suspended_itself(context.id)
            self.wake()

    async def with_pages(self, context: LiveContext, pages: int, action: Callable[[], T], *, binds: bool = False) -> T:
        """Wait until `context` is in the pool and `pages` more are available, then run `action`, which takes them.

        `binds` if nothing undoes what the action did: a cancellation that comes after it is then too late.
        Raises OutOfPagesError when the pool can never hold them, and whatever `action` raises.
        """
        (store := self._state.store).working.require_capacity(context.id, pages)
        if store.contexts[context.id].usable and (not pages or pages <= self.spare_pages()):
            return action()
        return await self._granted(context, pages, action, binds=binds)

    async def _granted(self, context: LiveContext, pages: int, action: Callable[[], T], *, binds: bool) -> T:
        self._check_whole()
        requests = self._state.requests
        request = PageRequest(context, pages, action, next(self._state.arrivals), _future())
        requests[context.id] = request
        self.wake()
        try:
            return await request.done
        except asyncio.CancelledError:
            if not binds or request.done.cancelled():
                raise
            return request.done.result()
        finally:
            if requests.get(context.id) is request:
                del requests[context.id]

    async def restore(self, context: LiveContext, *, computes: bool = False) -> None:
        """Wait until `context` is in the pool, and if it `computes`, recurrent layers remember it. Raises
        OutOfPagesError when the pool can never hold it."""
        if computes and self._recurrent and self._state.store.contexts[context.id].usable:
            self._restorer.remember(context)
        if not self._state.store.contexts[context.id].usable:
            await self.with_pages(context, 0, lambda: None)

    @contextmanager
    def together(self, contexts: Sequence[LiveContext]) -> Generator[None, None, None]:
        """Inside, `contexts` are a gang: they wait, run and leave the pool together. The caller holds the turns of
        all."""
        state, gang = self._state, tuple(contexts)
        state.gangs.update((one.id, gang) for one in gang)
        try:
            if len({state.store.contexts[one.id].resident for one in gang}) > 1:
                self._restorer.suspend(gang[0])  # else they would hold pages while they wait for more
            yield
        finally:
            for one in gang:
                del state.gangs[one.id]

    async def restore_together(self, gang: Sequence[LiveContext]) -> None:
        """Wait until all of a gang are in the pool, and recurrent layers remember them."""
        if self._recurrent and self._state.is_usable(gang[0].id):
            for one in gang:
                self._restorer.remember(one)
        await self.with_pages_together(gang, 0, lambda: None)

    async def with_pages_together(self, gang: Sequence[LiveContext], pages: int, action: Callable[[], T]) -> T:
        """Wait until all of a gang are in the pool and `pages` more are available, then run `action`, which takes them.

        Raises OutOfPagesError once nothing moves any more without them.
        """
        if self._state.is_usable(gang[0].id) and (not pages or pages <= self.spare_pages()):
            return action()
        return await self._granted(gang[0], pages, action, binds=False)

    def spare_pages(self) -> int:
        """Pages that no other context waits for."""
        return 0 if is_contended(self._state) else self._state.store.pool.available()

    async def run(
        self,
        context: LiveContext,
        inputs: Sequence[WorkingToken],
        reads: Sequence[LogitsRequest],
        *,
        commits: bool,
        window: Window | None = None,
        continuation: PassContinuation | None = None,
        forced: int = 0,
        followers: Sequence[ForwardTask] = (),
    ) -> list[AnyResult]:
        """Compute `inputs` in one or more ticks, then commit full pages if `commits`. Raises BatchFailedError.

        The last inputs are the drafts of `window`; those that turn out wrong are not in KV afterwards. Before them are
        the `forced` ones. Further steps follow the pass as far as its `continuation` says. The `followers` of its gang
        run with it. The context must hold the pages for all of them. After an error the tokens that got into KV are
        working tokens of the context; the caller rolls them back. A cancellation that comes after a part of them ran is
        too late: the pass completes (E5).
        """
        self._check_whole()
        context.rests = False
        passes = self._state.passes
        done = Completion(passes)
        waiting = done.waiting = passes[context.id] = ForwardTask(
            context,
            inputs,
            reads,
            next(self._state.arrivals),
            done,
            commits,
            window=window,
            continuation=continuation,
            forced=forced,
            followers=followers,
        )
        if context.id in self._state.forks:
            self._state.note_fork(context.id)
        context.note_return()
        self.wake()
        timer = self._limit(waiting)
        try:
            await done
        finally:
            timer.cancel()
            del done.waiting  # else every pass is left to the collector: it holds `done`
            if passes.get(context.id) is waiting:
                del passes[context.id]
        return waiting.in_order()

    async def stop(self) -> None:
        """End the loop after the batch that is running, and give the spill file back. What the disk cache may keep is
        written."""
        self._tick_loop.cancel()
        await asyncio.gather(self._tick_loop, return_exceptions=True)
        await self._restorer.close()
        await self._page_io.close(saves=self._broken is None)

    def _break(self, error: BaseException) -> None:
        """The loop ended by a fault of the engine: all calls that wait fail, and so do later ones."""
        self._broken = EngineStoppedError(
            f"engine: the tick loop failed: {type(error).__name__}: {error}", hint="restart the engine and report this"
        )
        for waiting in (*self._state.requests.values(), *self._state.passes.values()):
            waiting.fail(_again(self._broken))

    def _limit(self, waiting: ForwardTask) -> Timer:
        """The timer that fails a pass which waits too long: it was ready at two looks in a row, and no row of it ran in
        between."""
        seen = self._readiness(waiting)

        def give_up() -> bool:
            nonlocal seen
            before, seen = seen, self._readiness(waiting)
            if seen is None or seen != before:
                return False
            waiting.fail(
                ForwardTimeoutError(
                    f"context {waiting.context.id}: its pass has waited for {self._patience_seconds:g} s",
                    hint="raise [model.scheduler] request_timeout_secs, or bid more",
                )
            )
            self._state.passes.pop(waiting.context.id, None)
            self.wake()
            return True

        return Timer(self._patience_seconds, give_up)

    def _readiness(self, waiting: ForwardTask) -> tuple[int, int] | None:
        """What does not change while a pass could run but does not: how much of it is computed, and how often its
        context was suspended. None while it runs or waits for memory, or its context is off-pool or being restored.
        """
        state = self._state
        if waiting.in_batch or state.is_held(waiting) or not state.store.contexts[waiting.context.id].usable:
            return None
        if waiting.followers and not state.is_usable(waiting.context.id):
            return None
        return waiting.cursor, waiting.context.suspensions

    def _check_whole(self) -> None:
        if self._broken is not None:
            raise _again(self._broken)


def _again(error: EngineStoppedError) -> EngineStoppedError:
    """A copy for each call: an error that is raised keeps its traceback, and a shared one would keep those of all."""
    return EngineStoppedError(error.message, hint=error.hint)


def _future() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()

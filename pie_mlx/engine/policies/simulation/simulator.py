"""A discrete-event simulation of the engine: the real planner and settlement over a device that computes nothing."""

import heapq
import math
from collections.abc import Sequence
from itertools import count

import msgspec

from pie_mlx.engine.market import Holding, Ledger, Retention, SettlementView, expected_back, join, leave, settle
from pie_mlx.engine.policies.base import Policy
from pie_mlx.engine.policies.plan import Chunk, Plan
from pie_mlx.engine.policies.simulation.bidding import Bidder
from pie_mlx.engine.policies.simulation.outcome import AccountRecord, Outcome, TurnRecord
from pie_mlx.engine.policies.simulation.pages import Chain, SimulatedPool
from pie_mlx.engine.policies.simulation.picture import picture
from pie_mlx.engine.policies.simulation.thread import Thread
from pie_mlx.engine.policies.simulation.workload import (
    Action,
    Await,
    Branch,
    Mark,
    Pause,
    Program,
    Search,
    Setup,
    Truncate,
    Turn,
)
from pie_mlx.engine.policies.view import Limits, View

NEWEST_TICK = 0.02
"""The weight of the newest tick in how long one takes."""


class Simulator:
    """Runs programs under a policy. Deterministic: the same arguments give the same outcome."""

    def __init__(
        self, programs: Sequence[Program], setup: Setup, policy: Policy, bidder: Bidder, limits: Limits | None = None
    ) -> None:
        self.setup = setup
        self.policy = policy
        self.bidder = bidder
        self.limits = limits or Limits()
        self.pool = SimulatedPool(setup.capacity_pages, setup.page_size)
        self.threads: dict[int, Thread] = {}
        self.ledger = Ledger()
        self.outcome = Outcome(accounts={}, turns=[])
        self.now_seconds = 0.0
        self._tick_seconds = setup.device.batch_seconds(1)
        self._spills = setup.device.spills(setup.page_size)
        self._numbers = count(1)
        self._marks: dict[int, set[int]] = {}
        self._events: list[tuple[float, int, Program | Thread]] = []
        for program in programs:
            self._schedule(program.arrival_seconds, program)

    def run(self, limit_seconds: float = math.inf) -> Outcome:
        """Runs until nothing is left to do or the clock passes `limit_seconds`."""
        while self.now_seconds < limit_seconds and self.step():
            pass
        self._close_waits()
        self.outcome.seconds = self.now_seconds
        return self.outcome

    def step(self) -> bool:
        """One plan and, if it has rows, one tick. False when nothing is left to do."""
        self._handle_events()
        plan = self._plan()
        self._move_pages(plan)
        if plan.chunks:
            self._tick(plan.chunks)
        return bool(plan.chunks or plan.moves_pages) or self._skip_to_event()

    def _plan(self) -> Plan:
        self._weigh_hints()
        plan = self.policy.plan(self._picture(stalled=False))
        if plan.chunks or plan.grants or plan.restores or not any(item.has_work for item in self.threads.values()):
            return plan
        return self.policy.plan(self._picture(stalled=True))

    def _skip_to_event(self) -> bool:
        if self._events:
            self.now_seconds = self._events[0][0]
        return bool(self._events)

    def _weigh_hints(self) -> None:
        """What contexts that do nothing bid now (B10)."""
        now, price = self.now_seconds, self.setup.page_price
        for thread in self.threads.values():
            found, thread.hint = thread.retention, ""
            if found is not None and not thread.has_work:
                thread.bid = found.bid(now, self._tick_seconds, price)
                thread.hint = found.text(now) if found.holds(now) else ""

    def _picture(self, stalled: bool) -> View:
        per_token = self.setup.device.seconds_per_token
        return picture(
            self.threads.values(),
            self.pool,
            self.ledger.accounts,
            self.measured_limits,
            1 / per_token if per_token else None,
            self.outcome.ticks,
            stalled,
        )

    @property
    def measured_limits(self) -> Limits:
        """The limits with the turnover as it is measured now."""
        seconds = self.setup.capacity_pages * self.setup.device.page_seconds(self.setup.page_size)
        turnover_ticks = seconds / self._tick_seconds if self._tick_seconds else 0.0
        return msgspec.structs.replace(self.limits, turnover_ticks=turnover_ticks, turnover_seconds=seconds)

    def _schedule(self, seconds: float, what: Program | Thread) -> None:
        heapq.heappush(self._events, (seconds, next(self._numbers), what))

    def _handle_events(self) -> None:
        while self._events and self._events[0][0] <= self.now_seconds:
            _, _, what = heapq.heappop(self._events)
            if isinstance(what, Program):
                self._launch(what)
            else:
                self._advance(what)

    def _launch(self, program: Program) -> None:
        number = next(self._numbers)
        account = program.account or number
        self.ledger = join(self.ledger, account, program.endowment)
        wanted = sum(_reply_tokens(action) for actions in (program.actions, *program.scripts) for action in actions)
        self.outcome.accounts[account] = AccountRecord(program.kind, program.value, wanted)
        self._marks[account] = set()
        chain = Chain(number, state_pages=program.state_pages)
        self._start(Thread(number, account, program, iter(program.actions), chain))

    def _start(self, thread: Thread) -> None:
        self.threads[thread.context] = thread
        self._advance(thread)

    def _advance(self, thread: Thread) -> None:
        """Starts the next action of the thread's script, and those after it until one takes time."""
        for action in thread.actions:
            if not self._is_instant(thread, action):
                self._begin(thread, action)
                return
        self._end(thread)

    def _is_instant(self, thread: Thread, action: Action) -> bool:
        """Does what takes no time."""
        match action:
            case Branch():
                self._fork(thread, action)
            case Truncate():
                thread.chain.own_tokens = max(0, thread.chain.own_tokens - action.tokens)
            case Mark():
                self._mark(thread.account, action.label)
            case Await():
                return self._marks[thread.account].issuperset(action.labels)
            case _:
                return False
        return True

    def _begin(self, thread: Thread, action: Action) -> None:
        match action:
            case Turn():
                self._start_turn(thread, action)
            case Pause():
                thread.bid = 0.0 if action.idle else thread.bid
                thread.retention = _hint(action, self.now_seconds)
                if action.seconds < math.inf:
                    self._schedule(self.now_seconds + action.seconds, thread)
            case Search():
                self._branch(thread, action)
            case Await():
                thread.bid = 0.0 if action.idle else thread.bid
                thread.awaits = frozenset(action.labels)
            case _:
                pass

    def _mark(self, account: int, label: int) -> None:
        marks = self._marks[account]
        marks.add(label)
        for thread in self.threads.values():
            if thread.account == account and thread.awaits and thread.awaits <= marks:
                thread.awaits = frozenset()
                self._schedule(self.now_seconds, thread)

    def _fork(self, parent: Thread, branch: Branch) -> None:
        number, program = next(self._numbers), parent.program
        fresh = Chain(number, state_pages=program.state_pages)
        chain = self.pool.fork(parent.chain, number) if branch.forks else fresh
        self._start(Thread(number, parent.account, program, iter(program.scripts[branch.script]), chain))

    def _start_turn(self, thread: Thread, turn: Turn) -> None:
        thread.turn, thread.generated, thread.turn_started_seconds = turn, 0, self.now_seconds
        thread.attached_tokens, thread.retention = turn.attached_tokens, None
        held = thread.chain.own_tokens + sum(run.pages for run in thread.chain.runs) * self.setup.page_size
        self.outcome.held_tokens += held
        self._issue(thread, turn.prompt_tokens, atomic=False)

    def _issue(self, thread: Thread, tokens: int, atomic: bool) -> None:
        thread.pass_tokens, thread.atomic = tokens, atomic
        thread.work_since_seconds = self.now_seconds
        thread.arrival = next(self._numbers)
        thread.lacking_pages = self.pool.lacking_pages(thread.chain, thread.attached_tokens + tokens)
        thread.bid = self._bid(thread)

    def _bid(self, thread: Thread) -> float:
        pages = {
            other.context: self.pool.held_pages(other.chain)
            for other in self.threads.values()
            if other.account == thread.account
        }
        total = sum(max(1, value) for value in pages.values())
        account = self.ledger.accounts[thread.account]
        turn = thread.turn or Turn(0, 0, 0)
        return self.bidder.bid(thread.program, account, turn, thread.generated, pages[thread.context], total)

    def _branch(self, parent: Thread, search: Search) -> None:
        parent.children = search.branches
        for _ in range(search.branches):
            number = next(self._numbers)
            chain = self.pool.fork(parent.chain, number)
            self._start(Thread(number, parent.account, parent.program, iter((search.turn,)), chain, parent))

    def _end(self, thread: Thread) -> None:
        self.pool.drop(thread.chain)
        del self.threads[thread.context]
        parent = thread.parent
        if parent is not None:
            parent.children -= 1
            if not parent.children:
                self._advance(parent)
        elif not any(item.account == thread.account for item in self.threads.values()):
            self.ledger = leave(self.ledger, thread.account)
            self.outcome.accounts[thread.account].finished_seconds = self.now_seconds

    def _move_pages(self, plan: Plan) -> None:
        lost, wasted = self.pool.lost_pages, self.outcome.wasted_pages
        for suspension in plan.suspensions:
            self._suspend(self.threads[suspension.context])
        for context in plan.restores:
            self._restore(self.threads[context])
        for context in plan.grants:
            self._grant(self.threads[context])
        if self._spills:
            self._wait_for_disk(self.pool.lost_pages - lost, self.outcome.wasted_pages - wasted)

    def _wait_for_disk(self, written: int, read: int) -> None:
        device = self.setup.device
        seconds = written * device.seconds_per_page_written + read * device.seconds_per_page_read
        self.outcome.moving_seconds += seconds
        self.now_seconds += seconds

    def _suspend(self, thread: Thread) -> None:
        self.outcome.suspensions += 1
        thread.chain.lost_pages += math.ceil(thread.replay_tokens / self.setup.page_size)
        thread.replay_tokens, thread.fresh, thread.stay_rows = 0, False, 0
        self.pool.suspend(thread.chain)

    def _restore(self, thread: Thread) -> None:
        lost = self.pool.restore(thread.chain)
        self.outcome.wasted_pages += lost
        if not self._spills:
            thread.replay_tokens = lost * self.setup.page_size
        self._grant(thread)

    def _grant(self, thread: Thread) -> None:
        self.pool.grow(thread.chain, thread.lacking_pages)
        thread.lacking_pages, thread.fresh = 0, True

    def _tick(self, chunks: Sequence[Chunk]) -> None:
        self.outcome.ticks += 1
        seconds = self.setup.device.batch_seconds(sum(chunk.tokens for chunk in chunks))
        self.now_seconds += seconds
        self._tick_seconds += NEWEST_TICK * (seconds - self._tick_seconds)
        ran, made, done = self._run_rows(chunks)
        self._settle(ran, made)
        self._age(set(ran))
        for thread in done:
            self._finish_pass(thread)

    def _run_rows(self, chunks: Sequence[Chunk]) -> tuple[list[int], dict[int, int], list[Thread]]:
        """Contexts with rows of their own, pages they filled, and threads whose pass is done."""
        ran: list[int] = []
        made: dict[int, int] = {}
        done: list[Thread] = []
        for chunk in chunks:
            thread = self.threads[chunk.context]
            if thread.replay_tokens:
                thread.replay_tokens -= chunk.tokens
                self.outcome.replayed_tokens += chunk.tokens
                continue
            ran.append(thread.context)
            made[thread.context] = self._append(thread, chunk.tokens)
            if not thread.pass_tokens:
                done.append(thread)
        return ran, made, done

    def _append(self, thread: Thread, tokens: int) -> int:
        size = self.setup.page_size
        thread.chain.own_tokens += thread.attached_tokens
        thread.attached_tokens = 0
        before = thread.chain.own_tokens // size
        thread.chain.own_tokens += tokens
        thread.pass_tokens -= tokens
        self.outcome.useful_tokens += tokens
        self.outcome.accounts[thread.account].computed_tokens += tokens
        return thread.chain.own_tokens // size - before

    def _settle(self, ran: Sequence[int], made: dict[int, int]) -> None:
        holdings = tuple(
            Holding(item.context, item.account, item.bid, self.pool.effective_pages(item.chain), self._wanted(item))
            for item in self.threads.values()
        )
        view = SettlementView(
            self.setup.capacity_pages,
            self.setup.page_price,
            self.ledger,
            holdings,
            (*ran, *(item.context for item in self.threads.values() if item.hint and item.chain.resident)),
            made,
            self.policy.sells_pages,
        )
        settlement = settle(view)
        self.ledger = settlement.ledger
        broke = {receipt.account for receipt in settlement.receipts if receipt.rent_paid < receipt.rent_owed}
        for thread in self.threads.values() if broke else ():
            if thread.account in broke:
                thread.retention = None

    def _wanted(self, thread: Thread) -> int:
        if not thread.has_work:
            return 0
        back = 0 if thread.chain.resident else self.pool.return_pages(thread.chain)
        return back + thread.lacking_pages

    def _age(self, ran: set[int]) -> None:
        for thread in self.threads.values():
            if thread.context in ran:
                self._close_wait(thread)
                thread.waiting_ticks, thread.ran_tick, thread.fresh = 0, self.outcome.ticks, False
                thread.stay_rows += 1
            elif thread.has_work:
                thread.waiting_ticks += 1
                self.outcome.longest_wait_ticks = max(self.outcome.longest_wait_ticks, thread.waiting_ticks)

    def _close_wait(self, thread: Thread) -> None:
        waited = self.now_seconds - thread.work_since_seconds
        self.outcome.longest_wait_seconds = max(self.outcome.longest_wait_seconds, waited)
        self.outcome.accounts[thread.account].working_seconds += waited
        thread.work_since_seconds = self.now_seconds

    def _close_waits(self) -> None:
        for thread in self.threads.values():
            if thread.has_work:
                self._close_wait(thread)

    def _finish_pass(self, thread: Thread) -> None:
        """A finished pass gave a token: the next step follows at once, or the turn ends."""
        turn = thread.turn
        if turn is None:
            return
        thread.generated += 1
        self.outcome.accounts[thread.account].generated_tokens += 1
        if thread.generated < turn.reply_tokens:
            self._issue(thread, 1, atomic=True)
            return
        record = TurnRecord(
            thread.program.kind, thread.account, thread.turn_started_seconds, self.now_seconds, thread.generated
        )
        self.outcome.turns.append(record)
        thread.turn = None
        self._advance(thread)


def _hint(pause: Pause, now: float) -> Retention | None:
    return None if pause.expected_seconds is None else expected_back(None, pause.expected_seconds, now)


def _reply_tokens(action: Action) -> int:
    match action:
        case Turn():
            return action.reply_tokens
        case Search():
            return action.branches * action.turn.reply_tokens
        case _:
            return 0

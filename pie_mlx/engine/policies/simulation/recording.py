"""From the event log of a run to the programs that made it, to be simulated again."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from pie_mlx.engine.policies.simulation.workload import (
    Action,
    Await,
    Branch,
    Device,
    Mark,
    Pause,
    Program,
    Truncate,
    Turn,
)
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import (
    AccountJoined,
    BidDeclared,
    ContextCreated,
    ContextForked,
    ContextReleased,
    EngineStarted,
    Event,
    PassCompleted,
    ProcessLaunched,
    TickCompleted,
)

LEAST_PAUSE_SECONDS = 0.020
"""Shorter gaps between passes are the engine's and the program's own work, no pause: about a batch of a real model."""

UNNAMED = "program"


class Recording(msgspec.Struct, frozen=True):
    """What a run was asked to do, and with what. `capacity_pages` is 0 and `policy` empty when the log does not say."""

    programs: tuple[Program, ...]
    page_size: int
    capacity_pages: int
    policy: str
    device: Device
    largest_context_pages: int


def programs_of(events: Iterable[Event]) -> Recording:
    """The recorded programs: one for each account that had a context.

    Every context becomes a script of its passes, forks and release. Passes keep their order, their attached and
    computed tokens, their bid, and the time the program took before each, if it was LEAST_PAUSE_SECONDS or more. A step
    also waits for the other contexts of its account that had done their last pass since the step before: that is how
    joins and contexts one after another are found. Batches take as long as a line through the recorded ones says.

    Approximations: tokens from the prefix cache and from snapshots take pages of the context's own and no time; a pass
    that found all of its tokens there is none, and its tokens come with the next; pages reserved but not filled, failed
    passes and `suspend` are left out; what programs did in answer to prices they do again as recorded.

    Raises InvalidArgumentError for a log that does not reach back to the start of its contexts, or is too old.
    """
    return _Recorder(list(events)).recording()


@dataclass(slots=True)
class _End:
    """The last pass of a context."""

    context: int
    seconds: float
    tick: int


@dataclass(slots=True)
class _Script:
    """A context up to its latest step. The first `shared_tokens` of `tokens` cannot be taken back.

    `idle`: it has declared a bid of 0 since its latest pass.
    """

    account: "_Account"
    number: int
    seconds: float
    tick: int
    tokens: int = 0
    shared_tokens: int = 0
    idle: bool = False
    actions: list[Action] = field(default_factory=list[Action])


@dataclass(slots=True)
class _Account:
    """`root_tick` is when its latest context that is no fork was created, and `root_after` what that one waited for."""

    joined: AccountJoined
    process: str = ""
    value: float = 0.0
    scripts: list[_Script] = field(default_factory=list[_Script])
    ends: list[_End] = field(default_factory=list[_End])
    root_tick: int = -1
    root_after: list[_End] = field(default_factory=list[_End])

    def ends_since(self, tick: int, before_seconds: float = float("inf")) -> list[_End]:
        found: list[_End] = []
        for end in reversed(self.ends):
            if end.tick <= tick:
                break
            if end.seconds <= before_seconds:
                found.append(end)
        return found[::-1]


class _Recorder:
    """Folds events."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._engine = EngineStarted("", "", 0, 16)
        self._accounts: dict[int, _Account] = {}
        self._scripts: dict[int, _Script] = {}
        self._names: dict[str, str] = {}
        self._ticks: list[TickCompleted] = []
        self._largest_tokens = 0
        self._last_pass = {
            event.context: index
            for index, event in enumerate(events)
            if isinstance(event, PassCompleted) and event.computed_tokens
        }

    def recording(self) -> Recording:
        for index, event in enumerate(self._events):
            self._fold(index, event)
        engine = self._engine
        return Recording(
            tuple(self._program(account) for account in self._accounts.values() if account.scripts),
            engine.page_size,
            engine.total_pages,
            engine.policy,
            _device(self._ticks),
            -(-self._largest_tokens // engine.page_size),
        )

    def _fold(self, index: int, event: Event) -> None:
        match event:
            case EngineStarted():
                self._engine = event
            case ProcessLaunched():
                self._names[event.process] = event.program
            case AccountJoined():
                self._accounts[event.account] = _Account(event)
            case ContextCreated():
                self._created(event)
            case ContextForked():
                self._forked(event)
            case PassCompleted() if event.computed_tokens:
                self._passed(event, is_last=self._last_pass[event.context] == index)
            case ContextReleased():
                self._wait(self._script(event.context), event.at_seconds)
            case BidDeclared():
                self._script(event.context).idle |= event.bid == 0.0
            case TickCompleted():
                self._ticks.append(event)
            case _:
                pass

    @property
    def _tick(self) -> int:
        return len(self._ticks)

    def _created(self, event: ContextCreated) -> None:
        account = self._account(event)
        account.root_after = account.ends_since(account.root_tick) or account.root_after
        account.root_tick = self._tick
        since = max((end.seconds for end in account.root_after), default=account.joined.at_seconds)
        script = self._add(event.context, account, since)
        if account.root_after:
            script.actions.append(Await(tuple(end.context for end in account.root_after)))

    def _forked(self, event: ContextForked) -> None:
        account, source = self._account(event), self._script(event.source)
        self._wait(source, event.at_seconds)
        source.shared_tokens = source.tokens // self._engine.page_size * self._engine.page_size
        child = self._add(event.context, account, event.at_seconds)
        child.tokens, child.shared_tokens = source.tokens, source.shared_tokens
        source.actions.append(Branch(child.number))

    def _add(self, context: int, account: _Account, seconds: float) -> _Script:
        script = _Script(account, len(account.scripts), seconds, self._tick)
        account.scripts.append(script)
        self._scripts[context] = script
        return script

    def _passed(self, event: PassCompleted, *, is_last: bool) -> None:
        script = self._script(event.context)
        self._wait(script, event.requested_seconds)
        attached = self._adjust(script, event.held_tokens) + event.attached_tokens
        declared = None if event.remaining_tokens else event.bid
        script.account.value = max(script.account.value, declared or 0.0)
        script.actions += _turns(event, attached, declared)
        script.tokens += attached + event.computed_tokens
        script.seconds, script.tick, script.idle = event.completed_seconds, self._tick, False
        self._largest_tokens = max(self._largest_tokens, script.tokens)
        if is_last:
            script.actions.append(Mark(event.context))
            script.account.ends.append(_End(event.context, event.completed_seconds, self._tick))

    def _adjust(self, script: _Script, held_tokens: int) -> int:
        """Takes tokens back that were truncated; answers how many came from elsewhere."""
        surplus = min(script.tokens - held_tokens, script.tokens - script.shared_tokens)
        if surplus > 0:
            script.actions.append(Truncate(surplus))
            script.tokens -= surplus
        return max(0, held_tokens - script.tokens)

    def _wait(self, script: _Script, until_seconds: float) -> None:
        """What a step at `until_seconds` comes after: ends of other contexts, and a pause."""
        ends = script.account.ends_since(script.tick, until_seconds)
        if ends:
            script.actions.append(Await(tuple(end.context for end in ends), script.idle))
        since = max([script.seconds, *(end.seconds for end in ends)])
        if until_seconds - since >= LEAST_PAUSE_SECONDS:
            script.actions.append(Pause(until_seconds - since, script.idle))
        script.seconds, script.tick = max(since, until_seconds), self._tick

    def _script(self, context: int) -> _Script:
        found = self._scripts.get(context)
        if found is None:
            raise InvalidArgumentError(
                f"event log: context {context} has no beginning", hint="record from the start of the engine"
            )
        return found

    def _account(self, event: ContextCreated | ContextForked) -> _Account:
        found = self._accounts.get(event.account)
        if found is None:
            raise InvalidArgumentError(
                f"event log: the account of context {event.context} never joined",
                hint="record from the start of the engine, with this version of it",
            )
        found.process = found.process or event.process
        return found

    def _program(self, account: _Account) -> Program:
        forks = {action.script for script in account.scripts for action in script.actions if isinstance(action, Branch)}
        roots = [script.number for script in account.scripts[1:] if script.number not in forks]
        scripts = tuple(tuple(script.actions) for script in account.scripts)
        joined = account.joined
        return Program(
            self._names.get(account.process, UNNAMED),
            joined.at_seconds - self._start_seconds(),
            joined.endowment,
            (*(Branch(root, forks=False) for root in roots), *scripts[0]),
            account.value or 1.0,
            ((), *scripts[1:]),
            joined.account,
        )

    def _start_seconds(self) -> float:
        return min(account.joined.at_seconds for account in self._accounts.values())


def _turns(event: PassCompleted, attached: int, declared: float | None) -> list[Turn]:
    """The pass and those right after it, which bid what it did."""
    first = event.computed_tokens - event.following
    remaining, variation = event.remaining_tokens, event.variation
    following = [Turn(1, 1, remaining, variation, 0, declared)] * event.following
    return [Turn(first, 1, remaining, variation, attached, declared), *following]


def _device(ticks: Sequence[TickCompleted]) -> Device:
    """A device whose batches take as long as a line through the recorded ones says, and as long in total."""
    if not ticks:
        return Device()
    tokens = [tick.tokens / tick.steps for tick in ticks]
    seconds = [tick.duration_seconds / tick.steps for tick in ticks]
    slope = statistics.linear_regression(tokens, seconds).slope if len(set(tokens)) > 1 else 0.0
    per_token = min(max(slope, 0.0), sum(seconds) / max(1.0, sum(tokens)))
    return Device(statistics.fmean(seconds) - per_token * statistics.fmean(tokens), per_token)

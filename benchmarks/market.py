"""Policies of ours and of others on the same simulated workloads: `python -m benchmarks.market`.

Interactive chats, background agents and forking searches share a pool that does not hold them all. Time, pages and
programs are simulated, the planner and the settlement are the engine's own. Everything follows from the seeds.
`--device` names what moving pages and computing cost: a small model on a CPU, or one of 8B on an Apple M-series. With
`--replay FILE` the programs, the pool and the speed of the device are those of a run whose events were recorded.
"""

import argparse
import math
import random
import statistics
import timeit
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from benchmarks.market_rivals import rivals
from pie_mlx.engine.market import clearing_price
from pie_mlx.engine.policies import POLICIES, Limits, policy
from pie_mlx.engine.policies.simulation import (
    AccountRecord,
    Action,
    AutoBidder,
    Device,
    Outcome,
    Pause,
    Program,
    Recording,
    Search,
    Setup,
    Simulator,
    Turn,
    ValueBidder,
    programs_of,
    replay_recording,
)
from pie_mlx.event_log import EventLog, read_events

SMOKE = ("--seconds", "5", "--seeds", "1")
HIGH_VALUE = "chat"
EQUALS = "agent"
ROOMY_PAGES = 10**6
VALUES = {"chat": 10.0, "search": 3.0, "agent": 1.0}
ENDOWMENTS = {"chat": 256.0, "search": 128.0, "agent": 64.0}
KEPT_SECONDS_PER_TOKEN = 0.1
NO_AGEING = "fcfs, no ageing"
ENDLESS = Limits(aging_window_ticks=10**9, decode_stall_seconds=0.25)
CONTENDERS: dict[str, tuple[str, Limits]] = {
    **{name: (name, Limits(decode_stall_seconds=0.25)) for name in POLICIES},
    NO_AGEING: ("fcfs", ENDLESS),
}
"""The policies, and for comparison first come, first served as it is elsewhere: without any bound on the wait."""

UNLIMITED = "unlimited pool"
DEVICES = {
    "cpu": Device(),
    "apple": Device(0.016, 0.0015, 0.00042, 0.00042),
    "apple, no disk": Device(0.016, 0.0015, math.inf, math.inf),
}
"""Assumed, not measured. Apple: an M3-Max class with an 8B model in 4 bits, 2 MiB a page and 5 GB/s each way."""


@dataclass(frozen=True)
class Classes:
    """Kinds of programs: whose pace counts most, and which are equals (who worked for less time than that left out)."""

    high_value: str = HIGH_VALUE
    equals: str = EQUALS
    least_fairness_seconds: float = 20.0


@dataclass(frozen=True)
class Workload:
    """Poisson rates per second, the number of agents, and the pool they share."""

    name: str
    chats_per_second: float
    searches_per_second: float
    agents: int
    capacity_pages: int
    state_pages: int = 0
    """What the state of recurrent layers takes for each context, as of a hybrid model."""


WORKLOADS = (
    Workload("light: everything fits", 0.03, 0.0, 2, 4000),
    Workload("chats and agents", 0.15, 0.0, 12, 800),
    Workload("chats, agents, searches", 0.15, 0.03, 12, 800),
    Workload("rush hour", 0.35, 0.05, 12, 800),
    Workload("hybrid: chats and agents", 0.15, 0.0, 12, 800, 24),
)


@dataclass(frozen=True)
class Row:
    """What one policy did with one workload. Times in seconds."""

    policy: str
    value_share: float
    kept_share: float
    p50_seconds_per_token: float
    p99_seconds_per_token: float
    tokens_per_second: float
    fairness: float
    longest_wait_seconds: float
    wasted_pages: float
    moving_share: float
    suspensions: float


def arrivals(rate: float, seconds: float, source: random.Random) -> Iterator[float]:
    """Times of a Poisson process of `rate` per second, up to `seconds`."""
    now = source.expovariate(rate) if rate else seconds
    while now < seconds:
        yield now
        now += source.expovariate(rate)


def chat(arrival_seconds: float, source: random.Random) -> Program:
    """A user who reads and types between two to five short turns."""
    actions: list[Action] = []
    for turn in range(source.randint(2, 5)):
        prompt = source.randint(40, 300) if turn else source.randint(100, 800)
        actions += [Turn(prompt, source.randint(30, 120), 128), Pause(source.expovariate(1 / 8), idle=True)]
    return _program("chat", arrival_seconds, actions)


def agent(source: random.Random) -> Program:
    """Twelve rounds of a long reply and a tool call over an ever longer context.

    All agents are equal and start together: who is alone for a while is faster, and that is not unfair.
    """
    actions: list[Action] = []
    for turn in range(12):
        actions += [Turn(250 if turn else 1200, 200, 1024), Pause(source.expovariate(1 / 3))]
    return _program("agent", 0.0, actions)


def search(arrival_seconds: float) -> Program:
    """A plan, eight branches of it, and a conclusion."""
    return _program("search", arrival_seconds, [Turn(600, 50, 64), Search(8, Turn(10, 100, 128)), Turn(50, 80, 128)])


def _program(kind: str, arrival_seconds: float, actions: Sequence[Action]) -> Program:
    return Program(kind, arrival_seconds, ENDOWMENTS[kind], tuple(actions), VALUES[kind])


def programs(workload: Workload, seed: int, seconds: float) -> list[Program]:
    """The launches of `seconds` of a workload."""
    source = random.Random(seed)
    chats = [chat(at, source) for at in arrivals(workload.chats_per_second, seconds, source)]
    searches = [search(at) for at in arrivals(workload.searches_per_second, seconds, source)]
    agents = [agent(source) for _ in range(workload.agents)]
    return [replace(program, state_pages=workload.state_pages) for program in chats + searches + agents]


def simulate(workload: Workload, contender: str, seed: int, seconds: float, device: Device) -> Outcome:
    """One run. Bids are automatic, but for `priority`, where a program's value is its priority."""
    setup = Setup(ROOMY_PAGES if contender == UNLIMITED else workload.capacity_pages, device=device)
    rival = rivals().get(contender)
    name, limits = CONTENDERS.get(contender, ("fcfs", ENDLESS))
    bidder = ValueBidder() if name == "priority" else AutoBidder(setup.page_size)
    planner = rival or policy(name)
    simulator = Simulator(programs(workload, seed, seconds), setup, planner, bidder, limits)
    if rival is not None:
        rival.simulator = simulator
    return simulator.run(seconds)


def measure(contender: str, outcomes: Sequence[Outcome], classes: Classes) -> Row:
    """Turns are pooled over all seeds; the rest is the mean, and the worst of the waits and the fairness."""
    turns = [turn for outcome in outcomes for turn in outcome.turns if turn.kind == classes.high_value]
    paces = sorted(turn.seconds_per_token for turn in turns)
    return Row(
        contender,
        statistics.fmean(value_share(outcome.accounts.values()) for outcome in outcomes),
        statistics.fmean(kept_share(outcome) for outcome in outcomes),
        percentile(paces, 0.50),
        percentile(paces, 0.99),
        statistics.fmean(outcome.useful_tokens / outcome.seconds for outcome in outcomes),
        min(fairness(outcome.accounts.values(), classes) for outcome in outcomes),
        max(outcome.longest_wait_seconds for outcome in outcomes),
        statistics.fmean(outcome.wasted_pages for outcome in outcomes),
        statistics.fmean(outcome.moving_seconds / outcome.seconds for outcome in outcomes),
        statistics.fmean(outcome.suspensions for outcome in outcomes),
    )


def value_share(accounts: Iterable[AccountRecord]) -> float:
    """Value of the tokens generated, of the value of all tokens wanted by the programs that arrived."""
    records = list(accounts)
    wanted = sum(record.value * record.wanted_tokens for record in records)
    return sum(record.value * record.generated_tokens for record in records) / wanted if wanted else math.nan


def kept_share(outcome: Outcome) -> float:
    """`value_share` of those tokens alone whose turn kept KEPT_SECONDS_PER_TOKEN: what comes late is worth nothing."""
    records = outcome.accounts
    wanted = sum(record.value * record.wanted_tokens for record in records.values())
    kept = (turn for turn in outcome.turns if turn.seconds_per_token <= KEPT_SECONDS_PER_TOKEN)
    return sum(turn.tokens * records[turn.account].value for turn in kept) / wanted if wanted else math.nan


def fairness(accounts: Iterable[AccountRecord], classes: Classes) -> float:
    """Jain's index (sum x)^2 / (n * sum x^2) over x = tokens per second of work of accounts that are equal."""
    equals = [record for record in accounts if record.kind == classes.equals and record.working_seconds]
    least = classes.least_fairness_seconds
    paces = [item.generated_tokens / item.working_seconds for item in equals if item.working_seconds >= least]
    squares = sum(pace * pace for pace in paces)
    return sum(paces) ** 2 / (len(paces) * squares) if squares else 1.0


def percentile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else float("nan")


COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("policy", lambda row: row.policy),
    ("value done", lambda row: f"{row.value_share:.3f}"),
    ("value kept", lambda row: f"{row.kept_share:.3f}"),
    ("p50 s/token", lambda row: f"{row.p50_seconds_per_token:.3g}"),
    ("p99 s/token", lambda row: f"{row.p99_seconds_per_token:.3g}"),
    ("tokens/s", lambda row: f"{row.tokens_per_second:.0f}"),
    ("Jain", lambda row: f"{row.fairness:.3f}"),
    ("longest wait s", lambda row: f"{row.longest_wait_seconds:.3g}"),
    ("pages wasted", lambda row: f"{row.wasted_pages:.0f}"),
    ("time moving", lambda row: f"{row.moving_share:.1%}"),
    ("suspensions", lambda row: f"{row.suspensions:.0f}"),
)


def print_auction_times() -> None:
    """The best of a hundred auctions of random demands for half as many pages."""
    for contexts in (1_000, 10_000):
        source = np.random.default_rng(0)
        bids, pages = source.random(contexts), source.integers(1, 100, contexts).astype(np.float64)
        seconds = min(timeit.repeat(lambda b=bids, p=pages: clearing_price(b, p, p.sum() / 2), number=1, repeat=100))
        print(f"auction of {contexts:,} contexts: {seconds * 1e3:.3f} ms")


def print_table(title: str, capacity_pages: int, rows: Sequence[Row], classes: Classes) -> None:
    print(f"\n{title} ({capacity_pages} pages, {classes.high_value!r} is the high-value class)")
    print("  ".join(f"{title:>14}" for title, _ in COLUMNS))
    for row in rows:
        print("  ".join(f"{cell(row):>14}" for _, cell in COLUMNS))
    by_name = {row.policy: row for row in rows}
    for name in ("fcfs", NO_AGEING):
        print_comparison(by_name["market"], by_name[name])


def print_comparison(market: Row, first_come: Row) -> None:
    pace = first_come.p99_seconds_per_token / market.p99_seconds_per_token
    throughput = market.tokens_per_second / first_come.tokens_per_second
    print(
        f"market against {first_come.policy}: p99 {pace:.2f}x better, throughput {throughput:.2f}x, "
        f"fairness {market.fairness:.3f}"
    )


def print_replay(path: Path, pages: int | None) -> None:
    """The table of a recorded run. Its passes are the turns: `s/token` is how long one took."""
    log = read_events(path)
    recording = programs_of(log.events)
    capacity = pages or recording.capacity_pages
    print_log(log, recording)
    if not recording.programs:
        return
    classes = classes_of(recording.programs)
    rows = [
        measure(name, [replay_recording(recording, policy=rule, capacity_pages=capacity, limits=limits)], classes)
        for name, (rule, limits) in CONTENDERS.items()
    ]
    print_table(path.name, capacity, rows, classes)


def print_log(log: EventLog, recording: Recording) -> None:
    print(f"{len(log.events):,} events of {len(recording.programs)} programs under {recording.policy or 'some policy'}")
    if log.unknown or log.torn_bytes:
        print(f"left out: {log.unknown} events of unknown kinds, {log.torn_bytes} bytes of an unfinished last one")


def classes_of(programs: Sequence[Program]) -> Classes:
    """The kind with the highest declared bid, and the most frequent one."""
    high_value = max(programs, key=lambda program: program.value).kind
    return Classes(high_value, Counter(program.kind for program in programs).most_common(1)[0][0], 0.0)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__ and __doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="simulated time of each run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each workload and policy")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="the programs of an event log, in place of these")
    parser.add_argument("--pages", type=int, help="with --replay: another size of the pool")
    parser.add_argument("--device", choices=tuple(DEVICES), default="cpu", help="what time and moves cost")
    parser.add_argument("--rivals", action="store_true", help="imitations of other systems and oracles as well")
    options = parser.parse_args(words)
    if options.replay is not None:
        print_replay(options.replay, options.pages)
        return
    print_auction_times()
    device = DEVICES[options.device]
    contenders = [*CONTENDERS, *([UNLIMITED, *rivals()] if options.rivals else [])]
    for workload in WORKLOADS:
        runs = {
            contender: [simulate(workload, contender, seed, options.seconds, device) for seed in range(options.seeds)]
            for contender in contenders
        }
        classes = Classes()
        rows = [measure(name, outcomes, classes) for name, outcomes in runs.items()]
        print_table(workload.name, workload.capacity_pages, rows, classes)


if __name__ == "__main__":
    main()

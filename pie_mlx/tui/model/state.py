"""Everything the monitor shows, as one value."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pie_mlx.events import AccountMovement, EngineStarted, PageUsage
from pie_mlx.figures import Recent
from pie_mlx.tui.model.context import IDLE_SECONDS, ContextState, Reply
from pie_mlx.tui.model.mcp import McpServers
from pie_mlx.tui.model.process import ProcessState
from pie_mlx.tui.model.throughput import Throughput
from pie_mlx.tui.model.token_stream import TokenStreams

SAMPLE_SECONDS = 0.25
HISTORY_SAMPLES = 1440
LATENCY_SAMPLES = 64
LOG_LINES = 1000
EVICTIONS = 200
ENDED_PROCESSES = 200
RELEASED_CONTEXTS = 512
BALANCE_SAMPLES = 160
TREND_SAMPLES = 120
TREND_EVERY = 4
"""Samples of the engine for one of each program's trend, which thus has one each second."""
REPLIES = 100

Level = Literal["debug", "info", "warning", "error"]


class Sample(msgspec.Struct, frozen=True):
    """The figures of a quarter of a second. `tokens_per_second` were decoded, `prefill_per_second` were of prompts."""

    tokens_per_second: float
    prefill_per_second: float
    used: int
    shared: int
    cached: int
    price: float
    running: int
    waiting: int
    suspended: int
    latency_seconds: float


class LogLine(msgspec.Struct, frozen=True):
    """A line of the log; `process` is empty where it concerns the engine. `own` lines are what the program wrote."""

    number: int
    seconds: float
    level: Level
    process: str
    source: str
    text: str
    own: bool = False


class Eviction(msgspec.Struct, frozen=True):
    """A context was suspended for another. It holds names of programs, because contexts are soon released."""

    seconds: float
    context: int
    program: str
    for_context: int
    for_program: str
    reason: str


class AccountState(msgspec.Struct, frozen=True):
    """The wallet of a launch root, in credits; `rent` and `dividend` are those of the latest tick that changed it.

    `spent` sums what it has paid for pages and tokens; of an older engine, since the monitor has known it.
    """

    id: int
    endowment: float
    balance: float
    rent: float = 0.0
    make_cost: float = 0.0
    dividend: float = 0.0
    defaulted: bool = False
    balances: tuple[float, ...] = ()
    spent: float = 0.0


def settled(account: AccountState, moved: AccountMovement) -> AccountState:
    """The account after a tick that moved credits."""
    return msgspec.structs.replace(
        account,
        rent=moved.rent,
        make_cost=moved.make_cost,
        dividend=moved.dividend,
        balance=moved.balance,
        defaulted=moved.defaulted,
        spent=moved.spent or account.spent + moved.rent + moved.make_cost,
    )


def computes(seconds: float, ticked_seconds: float, tick_seconds: float) -> bool:
    """Whether at `seconds` the latest tick, which ended at `ticked_seconds`, is recent for its duration."""
    return seconds - ticked_seconds < IDLE_SECONDS + 2 * tick_seconds


class MonitorState(msgspec.Struct, frozen=True):
    """The state after `events` events at `seconds`. The mappings are never changed in place.

    `lost` counts events that a slow connection dropped, `unknown` events of kinds that this version does not know.
    """

    seconds: float = 0.0
    started_seconds: float = 0.0
    sampled_seconds: float = 0.0
    events: int = 0
    unknown: int = 0
    lost: int = 0
    engine: EngineStarted | None = None
    ticks: int = 0
    ticked_seconds: float = 0.0
    tokens: int = 0
    throughput: Throughput = Throughput()
    tick_seconds: float = 0.0
    batch_contexts: int = 0
    batch_tokens: int = 0
    pages: PageUsage = PageUsage(0, 0, 0, 0)
    price: float = 0.0
    treasury: float = 0.0
    spilled_pages: int = 0
    spill: str = ""
    memory: Literal["normal", "warning", "critical"] = "normal"
    latencies: tuple[float, ...] = ()
    processes: Mapping[str, ProcessState] = {}
    contexts: Mapping[int, ContextState] = {}
    released: Mapping[int, ContextState] = {}
    accounts: Mapping[int, AccountState] = {}
    history: tuple[Sample, ...] = ()
    log: tuple[LogLine, ...] = ()
    log_lines: int = 0
    evictions: tuple[Eviction, ...] = ()
    mcp: McpServers = {}
    recent: Recent = Recent()
    replies: tuple[Reply, ...] = ()
    streams: TokenStreams = {}

    @property
    def page_size(self) -> int:
        """Tokens in a page."""
        return self.engine.page_size if self.engine else 16

    @property
    def computes(self) -> bool:
        """Whether a batch completed recently."""
        return computes(self.seconds, self.ticked_seconds, self.tick_seconds)

    @property
    def tokens_per_second(self) -> float:
        """Tokens decoded per second, over the latest two seconds."""
        return _mean([sample.tokens_per_second for sample in self._recent])

    @property
    def prefill_per_second(self) -> float:
        """Tokens of prompts computed per second, over the latest two seconds."""
        return _mean([sample.prefill_per_second for sample in self._recent])

    @property
    def _recent(self) -> tuple[Sample, ...]:
        return self.history[-round(2 / SAMPLE_SECONDS) :]

    @property
    def token_rates(self) -> list[float]:
        """Tokens decoded per second over time, each the mean of one second."""
        rates = [sample.tokens_per_second for sample in self.history]
        return [sum(rates[max(0, n - 3) : n + 1]) / min(4, n + 1) for n in range(len(rates))]

    @property
    def latency_seconds(self) -> float:
        """The time from a request to its answer: the median of the latest passes."""
        return sorted(self.latencies)[len(self.latencies) // 2] if self.latencies else 0.0


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


INITIAL = MonitorState()

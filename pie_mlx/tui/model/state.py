"""Everything the monitor shows, as one value."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pie_mlx.events import EngineStarted, PageUsage
from pie_mlx.figures import Recent
from pie_mlx.tui.model.context import IDLE_SECONDS, ContextState, Reply
from pie_mlx.tui.model.mcp import McpServers
from pie_mlx.tui.model.model_pool import AccountState, ModelPool
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

MemoryLevel = Literal["normal", "warning", "critical"]
NO_POOL = ModelPool()

Level = Literal["debug", "info", "warning", "error"]


class Sample(msgspec.Struct, frozen=True):
    """The figures of a quarter of a second. `tokens_per_second` were decoded, `prefill_per_second` were of prompts."""

    tokens_per_second: float
    prefill_per_second: float
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
    """A context of a model was suspended for another. It holds names of programs, because contexts are soon
    released."""

    seconds: float
    context: int
    program: str
    for_context: int
    for_program: str
    reason: str
    model: str = ""


def computes(seconds: float, ticked_seconds: float, tick_seconds: float) -> bool:
    """Whether at `seconds` the latest tick, which ended at `ticked_seconds`, is recent for its duration."""
    return seconds - ticked_seconds < IDLE_SECONDS + 2 * tick_seconds


class MonitorState(msgspec.Struct, frozen=True):
    """The state after `events` events at `seconds`. The mappings are never changed in place.

    `lost` counts events that a slow connection dropped, `unknown` events of kinds that this version does not know. Of
    the models in `pools`, pages and market are those of the one that is `shown`, of the default one otherwise.
    """

    seconds: float = 0.0
    started_seconds: float = 0.0
    sampled_seconds: float = 0.0
    events: int = 0
    unknown: int = 0
    lost: int = 0
    engine: EngineStarted | None = None
    ticked_seconds: float = 0.0
    tokens: int = 0
    throughput: Throughput = Throughput()
    tick_seconds: float = 0.0
    batch_contexts: int = 0
    batch_tokens: int = 0
    pools: Mapping[str, ModelPool] = {}
    shown: str = ""
    latencies: tuple[float, ...] = ()
    processes: Mapping[str, ProcessState] = {}
    contexts: Mapping[int, ContextState] = {}
    released: Mapping[int, ContextState] = {}
    history: tuple[Sample, ...] = ()
    log: tuple[LogLine, ...] = ()
    log_lines: int = 0
    evictions: tuple[Eviction, ...] = ()
    mcp: McpServers = {}
    recent: Recent = Recent()
    replies: tuple[Reply, ...] = ()
    streams: TokenStreams = {}

    @property
    def default_model(self) -> str:
        """The name of the engine's first model, "" where no event tells it."""
        return self.engine.model if self.engine else next(iter(self.pools), "")

    @property
    def pool(self) -> ModelPool:
        """The model that is shown."""
        return self.pools.get(self.shown) or self.pools.get(self.default_model) or NO_POOL

    @property
    def pages(self) -> PageUsage:
        """The pages of the model that is shown."""
        return self.pool.pages

    @property
    def price(self) -> float:
        """Credits per page and tick at the model that is shown."""
        return self.pool.price

    @property
    def accounts(self) -> Mapping[int, AccountState]:
        """The wallets at the model that is shown."""
        return self.pool.accounts

    @property
    def pool_contexts(self) -> list[ContextState]:
        """The contexts of the model that is shown."""
        contexts = self.contexts.values()
        return [one for one in contexts if len(self.pools) < 2 or one.model == self.pool.name]

    @property
    def ticks(self) -> int:
        """Batches of all models."""
        return sum(pool.ticks for pool in self.pools.values())

    @property
    def memory(self) -> MemoryLevel:
        """How short of memory the system is."""
        found = {pool.memory for pool in self.pools.values()}
        if "critical" in found:
            return "critical"
        return "warning" if "warning" in found else "normal"

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

"""Running totals of an engine, folded from its events."""

from dataclasses import dataclass, field

from pie_mlx.events import (
    CANCELLED,
    AccountLeft,
    EngineStarted,
    Event,
    MarketSettled,
    PagesCounted,
    PagesDropped,
    PagesLoaded,
    PagesSpilled,
    PagesStored,
    PageUsage,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessReturned,
    SpillChanged,
    TickCompleted,
    is_of_other_pool,
)

BATCH_CLASSES = 8
"""Classes of batch sizes: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64-127, 128 and more."""


@dataclass(slots=True)
class EngineTotals:
    """Counts since the start. Latencies are those of batches; draft tokens are counted by position in a draft."""

    policy: str = ""
    ticks: int = 0
    batches: int = 0
    tokens: int = 0
    requests: int = 0
    attached_tokens: int = 0
    largest_batch: int = 0
    batch_sizes: list[int] = field(default_factory=lambda: [0] * BATCH_CLASSES)
    last_batch_seconds: float = 0.0
    batch_seconds: float = 0.0
    pages: PageUsage = field(default_factory=lambda: PageUsage(0, 0, 0, 0))
    waiting: int = 0
    price: float = 0.0
    treasury: float = 0.0
    spill: str = ""
    stored_pages: int = 0
    stored_bytes: int = 0
    dropped_pages: int = 0
    loaded_pages: int = 0
    launched: int = 0
    returned: int = 0
    refused: int = 0
    failed: int = 0
    cancelled: int = 0
    guessed: list[int] = field(default_factory=list[int])
    guessed_right: list[int] = field(default_factory=list[int])
    forced_tokens: int = 0
    _spilled: dict[str, int] = field(default_factory=dict[str, int])

    def spilled(self, model: str = "") -> int:
        """Pages in the spill file of a model, of the first one without a name."""
        return self._spilled.get(model, 0)

    def observe(self, event: Event) -> None:
        if isinstance(event, PagesSpilled):
            self._spilled[event.model] = event.stored_pages
        if is_of_other_pool(event) and not isinstance(event, TickCompleted):
            return  # pages and prices are those of the first model
        match event:
            case TickCompleted():
                self._tick(event)
            case PassCompleted(attached_tokens=attached):
                self.requests += 1
                self.attached_tokens += attached
                _count(self.guessed, event.guessed_tokens)
                _count(self.guessed_right, event.guessed_right)
                self.forced_tokens += event.forced_tokens
            case MarketSettled(price=price):
                self.price = price
            case ProcessLaunched():
                self.launched += 1
            case ProcessReturned(status=status):
                self.refused += status >= 400
                self.returned += status < 400
            case ProcessFailed(error_type=error_type):
                self.cancelled += error_type == CANCELLED
                self.failed += error_type != CANCELLED
            case _:
                self._observe_engine(event)

    def _observe_engine(self, event: Event) -> None:
        match event:
            case EngineStarted(policy=policy):
                self.policy = policy
            case AccountLeft(treasury=treasury):
                self.treasury = treasury
            case PagesCounted(pages=pages):
                self.pages = pages
            case SpillChanged(state=spill):
                self.spill = spill
            case PagesStored(pages=pages, size_bytes=size):
                self.stored_pages += pages
                self.stored_bytes += size
            case PagesDropped(pages=pages):
                self.dropped_pages += pages
            case PagesLoaded(pages=pages):
                self.loaded_pages += pages
            case _:
                pass

    def _tick(self, tick: TickCompleted) -> None:
        self.ticks, self.waiting = tick.tick, tick.waiting
        if not tick.contexts:
            return
        self.batches += tick.steps
        self.tokens += tick.tokens
        self.largest_batch = max(self.largest_batch, tick.contexts)
        self.batch_sizes[min(tick.contexts.bit_length(), BATCH_CLASSES) - 1] += tick.steps
        self.last_batch_seconds = tick.duration_seconds / tick.steps
        self.batch_seconds += tick.duration_seconds

    def snapshot(self) -> dict[str, object]:
        """Totals that a monitor cannot count unless attached from the start."""
        return {
            "policy": self.policy,
            "ticks": self.ticks,
            "tokens": self.tokens,
            "tick_seconds": self.last_batch_seconds,
            "treasury": self.treasury,
            "spilled_pages": self.spilled(),
            "spill": self.spill,
        }

    def model_status(self, model: str) -> dict[str, object]:
        """The keys of clients, prefixed with the model's name."""
        average = self.batch_seconds / self.batches if self.batches else 0.0
        values: dict[str, object] = {
            "total_batches": self.batches,
            "total_tokens_processed": self.tokens,
            "total_requests_processed": self.requests,
            "max_forward_requests_observed": self.largest_batch,
            "batch_size_hist": list(self.batch_sizes),
            "last_batch_latency_us": _microseconds(self.last_batch_seconds),
            "cumulative_batch_latency_us": _microseconds(self.batch_seconds),
            "avg_batch_latency_us": _microseconds(average),
            "system_spec_draft_tokens_proposed": sum(self.guessed),
            "system_spec_draft_tokens_accepted": sum(self.guessed_right),
            "system_spec_draft_tokens_proposed_per_pos": list(self.guessed),
            "system_spec_draft_tokens_accepted_per_pos": list(self.guessed_right),
            "grammar_forced_tokens": self.forced_tokens,
        }
        return {f"{model}.{name}": value for name, value in values.items()}


def _count(by_place: list[int], tokens: int) -> None:
    """Increment each of the first `tokens` positions."""
    by_place += [0] * (tokens - len(by_place))
    for place in range(tokens):
        by_place[place] += 1


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)

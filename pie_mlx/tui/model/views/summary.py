"""A state for scripts: figures and programs, without histories."""

import msgspec

from pie_mlx.events import PageUsage
from pie_mlx.tui.model.facts import NO_FACTS, Facts, Machine, ModelRow
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.views.latency import LatencyWindow, RequestRow, latency_windows, request_rows
from pie_mlx.tui.model.views.model_rows import model_rows
from pie_mlx.tui.model.views.program_row import ProgramRow, busiest, program_rows
from pie_mlx.tui.model.views.reuse import ReuseWindow, reuse_windows


class Summary(msgspec.Struct, frozen=True):
    """The output of `pie top --json`. Rates are per second, times in seconds, prices in credits per page and tick.

    `tokens_per_second` were decoded, `prefill_per_second` were of prompts. `machine` is null for a recording.
    `pages` and `price` are those of the first of the `models`.
    """

    model: str
    policy: str
    ticks: int
    tokens: int
    tokens_per_second: float
    prefill_per_second: float
    pass_latency_seconds: float
    tick_seconds: float
    price: float
    pages: PageUsage
    pages_free: int
    latency: tuple[LatencyWindow, ...]
    reuse: tuple[ReuseWindow, ...]
    requests: tuple[RequestRow, ...]
    programs: tuple[ProgramRow, ...]
    machine: Machine | None
    models: tuple[ModelRow, ...]
    events: int
    events_lost: int
    events_unknown: int


def summary(state: MonitorState, facts: Facts = NO_FACTS) -> Summary:
    """The figures of the overview, a row for each program, and the machine."""
    return Summary(
        model=state.engine.model if state.engine else "",
        policy=state.engine.policy if state.engine else "",
        ticks=state.ticks,
        tokens=state.tokens,
        tokens_per_second=round(state.tokens_per_second, 3),
        prefill_per_second=round(state.prefill_per_second, 3),
        pass_latency_seconds=state.latency_seconds,
        tick_seconds=state.tick_seconds,
        price=state.price,
        pages=state.pages,
        pages_free=state.pages.free,
        latency=latency_windows(state),
        reuse=reuse_windows(state),
        requests=tuple(request_rows(state)),
        programs=tuple(busiest(program_rows(state, facts.waits))),
        machine=facts.machine,
        models=model_rows(state, facts),
        events=state.events,
        events_lost=state.lost,
        events_unknown=state.unknown,
    )

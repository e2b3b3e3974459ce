"""The figures over time: one sample for each quarter of a second."""

import msgspec

from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.folding.builder import StateBuilder
from pie_mlx.tui.model.state import (
    HISTORY_SAMPLES,
    SAMPLE_SECONDS,
    TREND_EVERY,
    TREND_SAMPLES,
    Sample,
    computes,
)

RATE_WEIGHT = 0.25
RATE_FLOOR = 0.05
"""Tokens per second; a lower rate counts as none."""


def sample_until(builder: StateBuilder, seconds: float) -> None:
    """Take the samples that are due before `seconds`. A pause longer than the history is shortened to it."""
    if not builder.started:
        return
    due = int((seconds - builder.sampled_seconds) / SAMPLE_SECONDS)
    if due > HISTORY_SAMPLES:
        builder.sampled_seconds = seconds - HISTORY_SAMPLES * SAMPLE_SECONDS
        due = HISTORY_SAMPLES
    for _ in range(due):
        _take_sample(builder)
        builder.sampled_seconds += SAMPLE_SECONDS


def _take_sample(builder: StateBuilder) -> None:
    activities = [activity(context, builder.seconds) for context in builder.contexts.values()]
    is_busy = computes(builder.sampled_seconds, builder.ticked_seconds, builder.tick_seconds)
    latencies = sorted(builder.latencies) if is_busy else []
    builder.history.append(
        Sample(
            tokens_per_second=builder.throughput.decoded_tokens / SAMPLE_SECONDS,
            prefill_per_second=max(0, builder.throughput.prompt_tokens) / SAMPLE_SECONDS,
            running=activities.count("running"),
            waiting=activities.count("waiting"),
            suspended=activities.count("suspended") + activities.count("restoring"),
            latency_seconds=latencies[len(latencies) // 2] if latencies else 0.0,
        )
    )
    builder.throughput = builder.throughput.sampled()
    _sample_rates(builder)
    builder.pools.sample(SAMPLE_SECONDS)
    if round(builder.sampled_seconds / SAMPLE_SECONDS) % TREND_EVERY == 0:
        _sample_trends(builder)


def _sample_rates(builder: StateBuilder) -> None:
    for name, process in builder.processes.items():
        if process.recent_decoded or process.rate:
            rate = process.rate + RATE_WEIGHT * (process.recent_decoded / SAMPLE_SECONDS - process.rate)
            kept = rate if rate > RATE_FLOOR else 0.0
            builder.processes[name] = msgspec.structs.replace(process, rate=kept, recent_decoded=0)


def _sample_trends(builder: StateBuilder) -> None:
    for name, process in builder.processes.items():
        if process.lives:
            builder.processes[name] = msgspec.structs.replace(
                process,
                rates=(*process.rates[1 - TREND_SAMPLES :], process.rate),
                held=(*process.held[1 - TREND_SAMPLES :], process.own_pages + process.shared_pages),
            )

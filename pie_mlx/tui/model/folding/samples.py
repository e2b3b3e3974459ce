"""The figures over time: one sample for each quarter of a second."""

import msgspec

from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.folding.builder import Draft
from pie_mlx.tui.model.state import BALANCE_SAMPLES, HISTORY_SAMPLES, SAMPLE_SECONDS, Sample

RATE_WEIGHT = 0.25
RATE_FLOOR = 0.05
"""Tokens per second below which a rate is none."""


def sample_until(draft: Draft, seconds: float) -> None:
    """Take the samples that are due before `seconds`. A longer pause than the history holds is cut short."""
    if not draft.started:
        return
    due = int((seconds - draft.sampled_seconds) / SAMPLE_SECONDS)
    if due > HISTORY_SAMPLES:
        draft.sampled_seconds = seconds - HISTORY_SAMPLES * SAMPLE_SECONDS
        due = HISTORY_SAMPLES
    for _ in range(due):
        _take_sample(draft)
        draft.sampled_seconds += SAMPLE_SECONDS


def _take_sample(draft: Draft) -> None:
    activities = [activity(context, draft.seconds) for context in draft.contexts.values()]
    latencies = sorted(draft.latencies)
    draft.history.append(
        Sample(
            tokens_per_second=draft.recent_tokens / SAMPLE_SECONDS,
            used=draft.pages.used,
            shared=draft.pages.shared,
            cached=draft.pages.cached,
            price=draft.price,
            running=activities.count("running"),
            waiting=activities.count("waiting"),
            suspended=activities.count("suspended"),
            latency_seconds=latencies[len(latencies) // 2] if latencies else 0.0,
        )
    )
    draft.recent_tokens = 0
    _sample_rates(draft)
    _sample_balances(draft)


def _sample_rates(draft: Draft) -> None:
    for name, process in draft.processes.items():
        if process.recent_tokens or process.rate:
            rate = process.rate + RATE_WEIGHT * (process.recent_tokens / SAMPLE_SECONDS - process.rate)
            kept = rate if rate > RATE_FLOOR else 0.0
            draft.processes[name] = msgspec.structs.replace(process, rate=kept, recent_tokens=0)


def _sample_balances(draft: Draft) -> None:
    for number, account in draft.accounts.items():
        balances = (*account.balances[1 - BALANCE_SAMPLES :], account.balance)
        draft.accounts[number] = msgspec.structs.replace(account, balances=balances)

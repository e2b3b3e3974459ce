"""The fold: a state and records give the next state."""

from collections.abc import Iterable

import msgspec

from pie_mlx.tui.model.folding.builder import StateBuilder
from pie_mlx.tui.model.folding.record import Record
from pie_mlx.tui.model.folding.safe_names import with_safe_names
from pie_mlx.tui.model.folding.samples import sample_until
from pie_mlx.tui.model.state import MonitorState


def fold(state: MonitorState, records: Iterable[Record]) -> MonitorState:
    """The state after `records`. Cheap for many records at once: the mappings are copied once for all."""
    builder = StateBuilder(state)
    for seconds, event in records:
        sample_until(builder, seconds)
        builder.seconds = max(builder.seconds, seconds)
        builder.apply(with_safe_names(event))
    return builder.state()


def advance(state: MonitorState, seconds: float) -> MonitorState:
    """The state if nothing happened until `seconds`."""
    if seconds <= state.seconds or not state.events:
        return state
    builder = StateBuilder(state)
    sample_until(builder, seconds)
    builder.seconds = seconds
    return builder.state()


def with_losses(state: MonitorState, *, lost: int = 0, unknown: int = 0) -> MonitorState:
    """The state with a count of missed events, and of events of unknown kinds."""
    return msgspec.structs.replace(state, lost=state.lost + lost, unknown=state.unknown + unknown)

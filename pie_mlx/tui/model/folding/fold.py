"""The fold: a state and what happened give the next state."""

from collections.abc import Iterable

import msgspec

from pie_mlx.tui.model.folding.builder import Draft
from pie_mlx.tui.model.folding.record import Record
from pie_mlx.tui.model.folding.safe_names import with_safe_names
from pie_mlx.tui.model.folding.samples import sample_until
from pie_mlx.tui.model.state import MonitorState


def fold(state: MonitorState, records: Iterable[Record]) -> MonitorState:
    """The state after `records`. Cheap for many records at once: the mappings are copied once for all."""
    draft = Draft(state)
    for seconds, event in records:
        sample_until(draft, seconds)
        draft.seconds = max(draft.seconds, seconds)
        draft.take(with_safe_names(event))
    return draft.state()


def advance(state: MonitorState, seconds: float) -> MonitorState:
    """The state when nothing happened until `seconds`."""
    if seconds <= state.seconds or not state.events:
        return state
    draft = Draft(state)
    sample_until(draft, seconds)
    draft.seconds = seconds
    return draft.state()


def with_losses(state: MonitorState, *, lost: int = 0, unknown: int = 0) -> MonitorState:
    """The state of who missed events, or got some of unknown kinds."""
    return msgspec.structs.replace(state, lost=state.lost + lost, unknown=state.unknown + unknown)

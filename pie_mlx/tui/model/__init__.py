"""The state of an engine, folded from its events. Nothing here knows the terminal.

`fold` takes a `MonitorState` and records and returns the next state; states are immutable values.
"""

from pie_mlx.tui.model.fold import advance, fold
from pie_mlx.tui.model.record import Record, records_of
from pie_mlx.tui.model.state import INITIAL, MonitorState

__all__ = ["INITIAL", "MonitorState", "Record", "advance", "fold", "records_of"]

"""The state of an engine, folded from its events. Nothing here knows the terminal.

`fold` returns the `MonitorState` after some records; states are values and never change.
"""

from pie_mlx.tui.model.folding.fold import advance, fold
from pie_mlx.tui.model.folding.record import Record, records_of
from pie_mlx.tui.model.state import INITIAL, MonitorState

__all__ = ["INITIAL", "MonitorState", "Record", "advance", "fold", "records_of"]

"""What is known of an engine, folded from its events. Nothing here knows the terminal.

`fold` takes a `MonitorState` and records and gives the next one; states are values, never changed.
"""

from pie_mlx.tui.model.folding.fold import advance, fold
from pie_mlx.tui.model.folding.record import Record, records_of
from pie_mlx.tui.model.state import INITIAL, MonitorState

__all__ = ["INITIAL", "MonitorState", "Record", "advance", "fold", "records_of"]

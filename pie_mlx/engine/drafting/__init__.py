"""I guess what comes next and tell right guesses from wrong ones; I know no page and no tensor."""

from pie_mlx.engine.drafting.costs import window_cost
from pie_mlx.engine.drafting.drafter import NgramDrafter
from pie_mlx.engine.drafting.lookahead import MaskedDrafts, Row, admitted, completed
from pie_mlx.engine.drafting.pace import LONGEST, Pace
from pie_mlx.engine.drafting.window import LAST_INPUT, DraftTree, Verdict, Window, chain, checked_tree

__all__ = [
    "LAST_INPUT",
    "LONGEST",
    "DraftTree",
    "MaskedDrafts",
    "NgramDrafter",
    "Pace",
    "Row",
    "Verdict",
    "Window",
    "admitted",
    "chain",
    "checked_tree",
    "completed",
    "window_cost",
]

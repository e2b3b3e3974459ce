"""I guess what comes next and tell right guesses from wrong ones; I know no page and no tensor."""

from pie_mlx.engine.speculation.drafting.cooldown import Cooldown
from pie_mlx.engine.speculation.drafting.costs import Lately, Tick, WindowCost
from pie_mlx.engine.speculation.drafting.draft_masks import DraftRow, MaskedDrafts, admitted, after, completed
from pie_mlx.engine.speculation.drafting.drafter import NgramDrafter
from pie_mlx.engine.speculation.drafting.head_pace import MOST_GUESSES, GuessRates, HeadPace, Length
from pie_mlx.engine.speculation.drafting.ngrams import SIZES
from pie_mlx.engine.speculation.drafting.pace import (
    BEGIN_STEPS,
    FIRST_LENGTH,
    LONGEST,
    SHORTEST,
    Allowance,
    LookAllowance,
    Pace,
)
from pie_mlx.engine.speculation.drafting.window import LAST_INPUT, DraftTree, Verification, Window, chain, checked_tree

__all__ = [
    "BEGIN_STEPS",
    "FIRST_LENGTH",
    "LAST_INPUT",
    "LONGEST",
    "MOST_GUESSES",
    "SHORTEST",
    "SIZES",
    "Allowance",
    "Cooldown",
    "DraftRow",
    "DraftTree",
    "GuessRates",
    "HeadPace",
    "Lately",
    "Length",
    "LookAllowance",
    "MaskedDrafts",
    "NgramDrafter",
    "Pace",
    "Tick",
    "Verification",
    "Window",
    "WindowCost",
    "admitted",
    "after",
    "chain",
    "checked_tree",
    "completed",
]

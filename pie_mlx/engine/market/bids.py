"""What a context bids, in credits per page and tick (B1-B5, Q2)."""

import math
from typing import NamedTuple

from pie_mlx.errors import InvalidArgumentError


class Horizon(NamedTuple):
    """Expected remaining tokens and the squared coefficient of variation of that number."""

    remaining_tokens: float
    cv2: float


def declared_bid(value: float) -> float:
    """The bid that `set_bid(value)` declares: never below 0. NaN or infinity raise InvalidArgumentError (B1)."""
    if math.isnan(value) or value == math.inf:
        raise InvalidArgumentError(f"bid {value}: not a finite number", hint="bid credits per page and tick, 0 or more")
    return max(value, 0.0)


def declared_horizon(remaining_tokens: float, cv2: float) -> Horizon:
    """What a program expects. Raises InvalidArgumentError for NaN and what is negative or infinite (B4)."""
    if not (0 <= remaining_tokens < math.inf and 0 <= cv2 < math.inf):
        raise InvalidArgumentError(
            f"horizon: {remaining_tokens} remaining tokens with a variation of {cv2}", hint="pass finite numbers from 0"
        )
    return Horizon(remaining_tokens, cv2)


def auto_bid(balance: float, dividend: float, pages: int, expected: Horizon, page_size: int) -> float:
    """The largest rent per page and tick that the wallet sustains to the expected end (B4).

    `balance` and `dividend` (of the last tick) are the context's shares, in credits; `pages` counts its committed and
    working pages. They grow as pages + t / page_size, so the page-ticks to come are
    pages * mu + mu^2 * (1 + cv2) / (2 * page_size), and the income is balance + dividend * mu.
    """
    mu = max(expected.remaining_tokens, 1.0)
    income = balance / mu + dividend
    mean_pages = pages + mu * (1.0 + expected.cv2) / (2.0 * page_size)
    return income / mean_pages if mean_pages else income


def share(pages: int, account_pages: int) -> float:
    """The part of its account's balance and dividend that a context bids with (B5).

    `account_pages` is the sum of max(1, pages) over the account's live contexts.
    """
    return max(1, pages) / account_pages


def effective_bid(bid: float, waiting_ticks: int, highest_bid: float, window_ticks: float) -> float:
    """`bid`, aged: after each window of waiting as much more as the highest declared bid of all contexts (Q2)."""
    return bid + (highest_bid or 1.0) * waiting_ticks / window_ticks

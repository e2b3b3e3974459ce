"""The uniform-price auction of the pool's pages (M7)."""

import numpy as np
import numpy.typing as npt

PAGE_TOLERANCE = 1e-6
"""Effective pages are sums of fractions: demands above the capacity by less than this still fit."""


def clearing_price(bids: npt.NDArray[np.float64], pages: npt.NDArray[np.float64], capacity_pages: float) -> float:
    """The highest bid left out when `capacity_pages` are given to the highest bids first; 0 when all demands fit.

    `bids` (credits per page per tick) and `pages` are float64 vectors of one length. Who comes first of equal bids
    does not matter to the price. Demands of no pages are no demands.
    """
    if pages.sum() <= capacity_pages + PAGE_TOLERANCE:
        return 0.0
    order = np.argsort(-bids)
    filled = np.cumsum(pages[order])
    left_out = order[np.searchsorted(filled, capacity_pages + PAGE_TOLERANCE, side="right") :]
    return float(bids[left_out[0]])

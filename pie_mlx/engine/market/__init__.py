"""Arithmetic only: accounts, bids, the auction and the settlement of a tick. The same inputs give the same price."""

from pie_mlx.engine.market.account import Account, Ledger, endowment_credits, imbalance_credits, join, leave, prepay
from pie_mlx.engine.market.bids import (
    Horizon,
    auto_bid,
    declared_bid,
    declared_horizon,
    effective_bid,
    share,
)
from pie_mlx.engine.market.retention import Retention, expected_back, paid_priority, prepaid_cost, retained
from pie_mlx.engine.market.settlement import (
    Charge,
    Holding,
    Receipt,
    Settlement,
    SettlementView,
    clearing_price,
    demand_price,
    settle,
)

__all__ = [
    "Account",
    "Charge",
    "Holding",
    "Horizon",
    "Ledger",
    "Receipt",
    "Retention",
    "Settlement",
    "SettlementView",
    "auto_bid",
    "clearing_price",
    "declared_bid",
    "declared_horizon",
    "demand_price",
    "effective_bid",
    "endowment_credits",
    "expected_back",
    "imbalance_credits",
    "join",
    "leave",
    "paid_priority",
    "prepaid_cost",
    "prepay",
    "retained",
    "settle",
    "share",
]

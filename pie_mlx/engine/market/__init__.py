"""Arithmetic only: accounts, bids, the auction and the settlement of a tick. The same inputs give the same price."""

from pie_mlx.engine.market.account import Account, Ledger, endowment_credits, imbalance_credits, join, leave, prepay
from pie_mlx.engine.market.auction import clearing_price
from pie_mlx.engine.market.bids import (
    Horizon,
    auto_bid,
    declared_bid,
    declared_horizon,
    effective_bid,
    share,
)
from pie_mlx.engine.market.retention import Retention, expected_back, prepaid_cost, retained
from pie_mlx.engine.market.settlement import (
    Charge,
    Holding,
    Receipt,
    Settlement,
    SettlementView,
    demand_price,
    settle,
)
from pie_mlx.engine.market.wallet import Reservation, TokenWallet, charge_pass, reserve_pass

__all__ = [
    "Account",
    "Charge",
    "Holding",
    "Horizon",
    "Ledger",
    "Receipt",
    "Reservation",
    "Retention",
    "Settlement",
    "SettlementView",
    "TokenWallet",
    "auto_bid",
    "charge_pass",
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
    "prepaid_cost",
    "prepay",
    "reserve_pass",
    "retained",
    "settle",
    "share",
]

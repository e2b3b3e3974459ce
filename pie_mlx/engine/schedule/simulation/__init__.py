"""The engine without a model: programs, pages and time simulated, planner and settlement the real ones.

For measuring policies, for asking what another one would have done, and for proving that every program finishes.
"""

from pie_mlx.engine.schedule.simulation.bidding import AutoBidder, Bidder, ValueBidder
from pie_mlx.engine.schedule.simulation.outcome import AccountRecord, Outcome, TurnRecord
from pie_mlx.engine.schedule.simulation.simulator import Simulator
from pie_mlx.engine.schedule.simulation.workload import Action, Device, Pause, Program, Search, Setup, Turn

__all__ = [
    "AccountRecord",
    "Action",
    "AutoBidder",
    "Bidder",
    "Device",
    "Outcome",
    "Pause",
    "Program",
    "Search",
    "Setup",
    "Simulator",
    "Turn",
    "TurnRecord",
    "ValueBidder",
]

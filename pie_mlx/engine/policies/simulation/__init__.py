"""The engine without a model: programs, pages and time simulated, planner and settlement the real ones.

For measuring policies, for asking what another one would have done, and for proving that every program finishes.
"""

from pie_mlx.engine.policies.simulation.bidding import AutoBidder, Bidder, RecordedBidder, ValueBidder
from pie_mlx.engine.policies.simulation.outcome import AccountRecord, Outcome, TurnRecord
from pie_mlx.engine.policies.simulation.recording import Recording, programs_of
from pie_mlx.engine.policies.simulation.replay import replay, replay_recording
from pie_mlx.engine.policies.simulation.simulator import Simulator
from pie_mlx.engine.policies.simulation.workload import (
    Action,
    Await,
    Branch,
    Device,
    Mark,
    Pause,
    Program,
    Search,
    Setup,
    Truncate,
    Turn,
)

__all__ = [
    "AccountRecord",
    "Action",
    "AutoBidder",
    "Await",
    "Bidder",
    "Branch",
    "Device",
    "Mark",
    "Outcome",
    "Pause",
    "Program",
    "RecordedBidder",
    "Recording",
    "Search",
    "Setup",
    "Simulator",
    "Truncate",
    "Turn",
    "TurnRecord",
    "ValueBidder",
    "programs_of",
    "replay",
    "replay_recording",
]

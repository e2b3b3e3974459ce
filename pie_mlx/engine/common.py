"""What all models of an engine have in common."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pie_mlx.engine.hosting.roster import Roster
from pie_mlx.engine.market.accounting import TokenWallet
from pie_mlx.engine.model.runner.device_thread import DeviceThread
from pie_mlx.engine.model_names import ModelNames
from pie_mlx.engine.scheduler.device_turns import DeviceTurns
from pie_mlx.events import Event, WantedDetails


@dataclass(frozen=True, slots=True)
class Common:
    """The device and what is counted through all models. `seed` keys every random stream of the engine (L6).

    The number of a context, or of an adapter, is of one model only, and no other one is given it later.
    """

    seed: int
    names: ModelNames
    emit: Callable[[Event], None]
    details: WantedDetails
    roster: Roster
    device: DeviceThread = field(default_factory=DeviceThread)
    turns: DeviceTurns = field(default_factory=DeviceTurns)
    wallets: dict[int, TokenWallet] = field(default_factory=dict[int, TokenWallet])
    """The tokens that each launch may still run, on whatever model (M3)."""
    contexts: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    adapters: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    started: set[str] = field(default_factory=set[str])
    """Models that have been in memory at least once."""
    clock: Callable[[], float] = time.monotonic

    @property
    def shared_turns(self) -> DeviceTurns | None:
        """The device's turns, None for an engine with one model, which needs none."""
        return self.turns if len(self.names.names) > 1 else None

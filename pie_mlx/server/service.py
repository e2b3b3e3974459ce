"""The state shared by all connections."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry

from pie_mlx.engine.hosting.engine_time import LoopShares, ShareTerms
from pie_mlx.figures import Figures
from pie_mlx.gpu_meter.meter import GpuMeter
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.registry import Registry
from pie_mlx.runtime.store import ProgramStore
from pie_mlx.server.access.authentication import Authenticator
from pie_mlx.server.access.login_failures import LoginFailures
from pie_mlx.server.settings import ServerSettings
from pie_mlx.server.watching.engine_totals import EngineTotals
from pie_mlx.server.watching.feed import Feed
from pie_mlx.server.watching.process_history import ProcessHistory
from pie_mlx.server.watching.request_metrics import RequestMetrics

INSTALLS_AT_ONCE = 2

HANDSHAKE_TERMS = ShareTerms(share=1 / 8, burst_seconds=0.175)
"""Of the loop, for the handshakes of a machine while programs run: it shares the interpreter with the engine's loop and
its device."""


@dataclass(slots=True)
class Service:
    """One engine and the state of its clients. `model` is the programs' name for the model."""

    settings: ServerSettings
    engine: Engine
    registry: Registry
    programs: ProgramStore
    authenticator: Authenticator
    model: str
    feed: Feed = field(default_factory=Feed)
    totals: EngineTotals = field(default_factory=EngineTotals)
    figures: Figures = field(default_factory=Figures)
    gpu: GpuMeter = field(default_factory=GpuMeter)
    history: ProcessHistory = field(default_factory=ProcessHistory)
    failures: LoginFailures = field(default_factory=LoginFailures)
    started_at: float = field(default_factory=time.time)
    installing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(INSTALLS_AT_ONCE))
    """Held while an upload is unpacked and installed, to leave threads for others."""
    connections: set[Any] = field(default_factory=set[Any])
    refused_frames: int = 0
    ignored_signals: int = 0
    metrics: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: RequestMetrics = field(init=False)
    handshakes: LoopShares = field(init=False)
    """What each machine uses of the loop before its users are known."""
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list[Callable[[], Awaitable[None]]])
    """Called after the engine has stopped."""

    def __post_init__(self) -> None:
        self.requests = RequestMetrics(self.model, self.metrics)
        self.handshakes = self.registry.loop_shares.on(HANDSHAKE_TERMS)

    def want_details(self) -> None:
        """Have the engine emit the details that a client names among the kinds that it watches."""
        watchers = [connection.watcher for connection in self.connections if connection.watcher is not None]
        self.engine.details.want(kind for watcher in watchers for kind in watcher.kinds or ())

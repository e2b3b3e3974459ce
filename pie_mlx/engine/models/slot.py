"""One model of an engine, in memory or not."""

from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from pie_mlx.calls import ModelState
from pie_mlx.engine.model.parts import Pause
from pie_mlx.engine.models.residence import Resident
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import ModelError
from pie_mlx.events import ModelChanged
from pie_mlx.plural import plural

State = Literal["unloaded", "loading", "loaded", "unloading", "failed"]


class ModelStatus(msgspec.Struct, frozen=True):
    """A model that can be loaded: what it takes of the memory, now or when it was loaded last, and how many programs
    use it. `text` is what is being done, or why it failed. Unused, it leaves in `expires_in_seconds`; `stays` is why it
    does not, in words. While it is loaded, `progress` is the part of its weights that is in memory, from 0 to 1.
    `draft_model` guesses for it; `holders` are the processes without whose consent it does not leave."""

    name: str
    state: State
    text: str
    size_bytes: int
    processes: int
    expires_in_seconds: float | None = None
    progress: float | None = None
    draft_model: str = ""
    stays: str = ""
    holders: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class ModelSlot:
    """A model with its parts, while it is loaded. `calls` counts those in flight, by process; `users` are the running
    processes that have used it.

    A request may change how long it stays unused, until the next one does (`keep_alive_seconds`). Its `drafter`, which
    is loaded while it is, shares its weights; those that have it for theirs are `targets`.
    """

    settings: EngineSettings
    keep_alive_seconds: float | None
    services: Services | None = None
    stopping: AsyncExitStack = field(default_factory=AsyncExitStack)
    state: State = "unloaded"
    text: str = ""
    progress: float = 0.0
    size_bytes: int = 0
    calls: Counter[str] = field(default_factory=Counter[str])
    users: set[str] = field(default_factory=set[str])
    loaded_seconds: float = 0.0
    used_seconds: float = 0.0
    drafter: "ModelSlot | None" = None
    targets: "list[ModelSlot]" = field(default_factory=list["ModelSlot"])

    @property
    def name(self) -> str:
        """The name that programs use."""
        return self.settings.called

    @property
    def draft_model(self) -> str:
        """The name of the model that guesses for it, "" if none does."""
        return self.drafter.name if self.drafter else str(self.settings.draft_model or "")

    def advance(self, pause: Pause) -> bool:
        """More of it is in memory; whether that is another whole percentage."""
        before, self.progress = self.progress, pause.loaded_bytes / (pause.total_bytes or 1)
        return int(before * 100) != int(self.progress * 100)

    def begin(self, process: str) -> None:
        """A call of a process begins."""
        self.calls[process] += 1
        if process:
            self.users.add(process)

    def end(self, process: str, now: float) -> None:
        """A call of a process is over."""
        self.used_seconds = now
        self.calls[process] -= 1
        if not self.calls[process]:
            del self.calls[process]

    def leave(self, process: str, now: float) -> None:
        """A process has ended."""
        if process in self.users:
            self.users.discard(process)
            self.used_seconds = now

    def holders(self) -> frozenset[str]:
        """The processes without whose consent it does not leave."""
        processes = () if self.services is None else self.services.processes.values()
        return frozenset({*self.calls, *(process.id for process in processes if process.contexts)})

    def resident(self) -> Resident:
        """It as one of those in memory."""
        expires = None if self.keep_alive_seconds is None else self.used_seconds + self.keep_alive_seconds
        return Resident(
            self.name,
            self.size_bytes,
            self.holders(),
            self.keeps(),
            self.loaded_seconds,
            self.used_seconds,
            None if self.users else expires,
            self.drafts_for(),
        )

    def drafts_for(self) -> frozenset[str]:
        """The models in memory that compute with its weights."""
        return frozenset(one.name for one in self.targets if one.services is not None)

    def keeps(self) -> str:
        """Why it does not leave unasked, "" if it may."""
        return "its keep_alive is forever" if self.keep_alive_seconds is None else self.holds_unsaved()

    def holds_unsaved(self) -> str:
        """What of its users would be lost with it, "" if nothing."""
        if self.services is None:
            return ""
        if self.services.adapters.all():
            return "it has adapters in memory"
        return "it has snapshots in memory" if self.services.store.snapshots.all() else ""

    def check_free(self) -> None:
        """Raises ModelError while programs use it, other models have its weights, or it has what would be lost."""
        if targets := self.drafts_for():
            why = f"it drafts for {', '.join(sorted(targets))} with the same weights"
            raise ModelError(f"model {self.name!r}: {why}", hint=f"unload {min(targets)} first")
        count = len(self.holders())
        if why := f"{plural(count, 'program uses', 'programs use')} it" if count else self.holds_unsaved():
            raise ModelError(f"model {self.name!r}: {why}", hint="end these programs, or wait for them")

    def status(self, now: float) -> ModelStatus:
        """It for people."""
        resident = self.resident()
        stays = self._stays(resident) if self.state == "loaded" else ""
        ends = resident.expires_seconds if self.state == "loaded" and not stays else None
        return ModelStatus(
            self.name,
            self.state,
            self.text,
            self.size_bytes,
            processes=len(resident.holders),
            expires_in_seconds=None if ends is None else max(0.0, ends - now),
            progress=self.progress if self.state == "loading" else None,
            draft_model=self.draft_model,
            stays=stays,
            holders=tuple(sorted(filter(None, resident.holders))),
        )

    def described(self, now: float, aliases: list[str]) -> ModelState:
        """It for programs."""
        status = self.status(now)
        return ModelState(
            status.name,
            status.state,
            aliases,
            draft_model=status.draft_model,
            maximum_positions=0 if self.services is None else self.services.model_info.maximum_positions,
            programs=status.processes,
            stays=status.stays,
            expires_in_seconds=status.expires_in_seconds,
        )

    def changed(self, now: float) -> ModelChanged:
        """The event of its state."""
        services = self.services
        return ModelChanged(
            self.name,
            self.state,
            self.text,
            self.size_bytes,
            now,
            total_pages=0 if services is None else services.store.pool.capacity,
            page_size=0 if services is None else services.model_info.page_size,
            draft_model=self.draft_model,
        )

    def _stays(self, resident: Resident) -> str:
        """Why it does not leave now, "" if it does once its time has passed."""
        if resident.drafts_for:
            return f"drafts for {', '.join(sorted(resident.drafts_for))}"
        if resident.keeps:
            return resident.keeps
        count = len(resident.holders) or len(self.users)
        return f"{plural(count, 'program uses', 'programs use')} it" if count else ""

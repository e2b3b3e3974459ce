"""Which model is loaded or unloaded next: pure functions of a picture of the engine's models (X4, X5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pie_mlx.plural import plural

STAY_SECONDS = 5.0
"""How long a model stays at least where another one needs its memory: models never take turns faster."""

PATIENCE_SECONDS = 120.0
"""How long a program waits for memory that other programs' models hold."""


@dataclass(frozen=True, slots=True)
class Resident:
    """A model that takes `size_bytes` of the memory. It leaves only while it has no `holders`, which are processes with
    contexts or calls, and nothing `keeps` it, in words; and after those that it `drafts_for`. Unused, it leaves at
    `expires_seconds`."""

    name: str
    size_bytes: int
    holders: frozenset[str] = frozenset()
    keeps: str = ""
    loaded_seconds: float = 0.0
    used_seconds: float = 0.0
    expires_seconds: float | None = None
    drafts_for: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Demand:
    """A process waits for a model that will take `size_bytes`; its `drafter` stays for it."""

    model: str
    process: str
    size_bytes: int
    asked_seconds: float
    drafter: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """The model has room: load it, unless it is there, for those who wait for it."""

    model: str


@dataclass(frozen=True, slots=True)
class Unload:
    """The model leaves."""

    model: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """The demand cannot be met."""

    demand: Demand
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is to be done for so long, or until something changes."""

    seconds: float | None


Move = Load | Unload | Refuse | Wait


def next_move(residents: Sequence[Resident], demands: Sequence[Demand], capacity_bytes: int, now: float) -> Move:
    """What to do now, at `now` seconds; demands are met in the order in which they came.

    Memory is never promised beyond `capacity_bytes`, and a model with holders never leaves.
    """
    wanted = {demand.model for demand in demands}
    idle = [one for one in residents if not (one.holders or one.keeps or one.drafts_for or one.name in wanted)]
    for one in idle:
        if one.expires_seconds is not None and one.expires_seconds <= now:
            return Unload(one.name)
    if demands:
        return _for_first(residents, demands, capacity_bytes, now)
    ends = [one.expires_seconds for one in idle if one.expires_seconds is not None]
    return Wait(min(ends) - now if ends else None)


def in_the_way(residents: Sequence[Resident], demand: Demand, capacity_bytes: int) -> list[Resident]:
    """The models that leave for a demand, idle ones first, and of them the least recently used."""
    found: list[Resident] = []
    free = _free(residents, capacity_bytes)
    movable = _movable(residents, demand)
    for one in _in_turn(sorted(movable, key=lambda one: (bool(one.holders), one.used_seconds))):
        if free >= demand.size_bytes:
            break
        found.append(one)
        free += one.size_bytes
    return found


def _for_first(residents: Sequence[Resident], demands: Sequence[Demand], capacity_bytes: int, now: float) -> Move:
    first = demands[0]
    free = _free(residents, capacity_bytes)
    if first.size_bytes <= free or any(one.name == first.model for one in residents):
        return Load(first.model)
    leaving = in_the_way(residents, first, capacity_bytes)
    if free + _sum(leaving) < first.size_bytes:
        return Refuse(first, _does_not_fit(residents, first, capacity_bytes))
    stays = max(one.loaded_seconds + STAY_SECONDS for one in leaving) - now
    held = [one for one in leaving if one.holders]
    if not held:
        return Unload(leaving[0].name) if stays <= 0 else Wait(stays)
    waiting = {demand.process for demand in demands if demand.process}
    stuck = {one.name for one in residents if one.holders & waiting} | {demand.drafter for demand in demands}
    others = _in_turn([one for one in residents if not one.keeps and one.name not in stuck])
    if free + _sum(others) < first.size_bytes:
        blocked = [one for one in demands if any(one.process in resident.holders for resident in residents)]
        return Refuse((blocked or demands)[-1], f"{_holders(held)}, which wait for models themselves")
    left = first.asked_seconds + PATIENCE_SECONDS - now
    return Wait(left) if left > 0 else Refuse(first, f"{_holders(held)}, for longer than {PATIENCE_SECONDS:g} s")


def _does_not_fit(residents: Sequence[Resident], demand: Demand, capacity_bytes: int) -> str:
    free = _in_turn(_movable(residents, demand))
    kept = [one for one in residents if one not in free]
    text = f"it needs {_gib(demand.size_bytes)} of {_gib(capacity_bytes)}"
    if not kept or demand.size_bytes > capacity_bytes:
        return text
    names = ", ".join(f"{one.name} has {_gib(one.size_bytes)} and stays: {_why(one, demand)}" for one in kept)
    return f"{text}; {names}"


def _why(kept: Resident, demand: Demand) -> str:
    return kept.keeps or f"it drafts for {', '.join(sorted(kept.drafts_for)) or demand.model}"


def _movable(residents: Sequence[Resident], demand: Demand) -> list[Resident]:
    return [one for one in residents if not one.keeps and one.name not in (demand.model, demand.drafter)]


def _in_turn(movable: Sequence[Resident]) -> list[Resident]:
    """Those that can leave, in this order but for draft models, which leave after those they draft for."""
    gone: dict[str, Resident] = {}
    while following := next((one for one in movable if one.name not in gone and one.drafts_for <= gone.keys()), None):
        gone[following.name] = following
    return list(gone.values())


def _holders(held: Sequence[Resident]) -> str:
    counts = {one.name: plural(len(one.holders), "program uses", "programs use") for one in held}
    return "; ".join(f"{name} would have to go, and {count} it" for name, count in counts.items())


def _free(residents: Sequence[Resident], capacity_bytes: int) -> int:
    return capacity_bytes - _sum(residents)


def _sum(residents: Iterable[Resident]) -> int:
    return sum(one.size_bytes for one in residents)


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.2f} GiB"

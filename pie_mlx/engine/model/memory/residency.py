"""The wired limit: memory that macOS keeps resident for the GPU and never swaps or compresses."""

import platform
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

FIRST_MACOS, FIRST_PANICKING_MACOS = 15, 26
"""Wiring exists from macOS 15 on. On macOS 26 it crashed whole machines (docs/mac.md), and no report says that this is
fixed."""

SetLimit = Callable[[int], int]
"""Sets MLX's wired limit in bytes and returns the previous one."""


@dataclass(frozen=True, slots=True)
class WiringFacts:
    """The major version of macOS (0 elsewhere), and the bytes that the system recommends for the GPU."""

    macos: int
    recommended_bytes: int


def wiring_facts() -> WiringFacts:
    """The facts of this machine."""
    version = platform.mac_ver()[0].partition(".")[0]
    recommended = mx.device_info().get("max_recommended_working_set_size", 0)
    return WiringFacts(int(version) if version.isdecimal() else 0, int(recommended))


def refused_because(facts: WiringFacts, wanted_bytes: int) -> str:
    """The reason not to wire `wanted_bytes`, "" if they may be wired."""
    if facts.macos < FIRST_MACOS:
        return f"wiring needs macOS {FIRST_MACOS}"
    if facts.macos >= FIRST_PANICKING_MACOS:
        return f"kernel panics are reported since macOS {FIRST_PANICKING_MACOS}"
    if wanted_bytes >= facts.recommended_bytes:
        wanted, recommended = wanted_bytes >> 20, facts.recommended_bytes >> 20
        return f"{wanted:,} MiB are not below the {recommended:,} MiB that the system recommends"
    return ""


class Residency:
    """Sets a wired limit, and restores the previous one. Belongs to the MLX thread."""

    def __init__(self, set_limit: SetLimit = mx.set_wired_limit) -> None:
        self._set_limit = set_limit
        self._wanted_bytes = 0
        self._before: int | None = None

    def want(self, wanted_bytes: int, facts: WiringFacts) -> str:
        """Decides whether to wire `wanted_bytes` from now on. Returns a line about the decision."""
        if reason := refused_because(facts, wanted_bytes):
            return f"memory is not wired: {reason}"
        self._wanted_bytes = wanted_bytes
        self.hold()
        return f"memory is wired: {wanted_bytes >> 20:,} MiB"

    def hold(self) -> None:
        """Wires the memory that was decided on, if it is not wired already."""
        if self._wanted_bytes and self._before is None:
            self._before = self._set_limit(self._wanted_bytes)

    def release(self) -> None:
        """Restores the previous limit."""
        if self._before is not None:
            self._set_limit(self._before)
            self._before = None

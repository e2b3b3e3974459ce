"""The wired limit: memory that macOS keeps for the GPU and never swaps or compresses."""

import platform
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

FIRST_MACOS, FIRST_PANICKING_MACOS = 15, 26
"""Wiring is there from macOS 15 on. On macOS 26 it took whole machines down (docs/mac.md); no report says that this is
mended."""

SetLimit = Callable[[int], int]
"""Sets MLX's wired limit in bytes; answers the one before."""


@dataclass(frozen=True, slots=True)
class WiringFacts:
    """The major version of macOS, 0 elsewhere, and what the system recommends to take for the GPU, in bytes."""

    macos: int
    recommended_bytes: int


def wiring_facts() -> WiringFacts:
    """Those of this machine."""
    version = platform.mac_ver()[0].partition(".")[0]
    recommended = mx.device_info().get("max_recommended_working_set_size", 0)
    return WiringFacts(int(version) if version.isdecimal() else 0, int(recommended))


def refused_because(facts: WiringFacts, wanted_bytes: int) -> str:
    """Why `wanted_bytes` are not wired; "" if they may be."""
    if facts.macos < FIRST_MACOS:
        return f"that takes macOS {FIRST_MACOS}"
    if facts.macos >= FIRST_PANICKING_MACOS:
        return f"kernel panics were reported from macOS {FIRST_PANICKING_MACOS} on"
    if wanted_bytes >= facts.recommended_bytes:
        wanted, recommended = wanted_bytes >> 20, facts.recommended_bytes >> 20
        return f"{wanted:,} MiB are not below the {recommended:,} MiB the system recommends"
    return ""


class Residency:
    """Holds a wired limit, and puts back the one before. Belongs to the MLX thread."""

    def __init__(self, set_limit: SetLimit = mx.set_wired_limit) -> None:
        self._set_limit = set_limit
        self._wanted_bytes = 0
        self._before: int | None = None

    def want(self, wanted_bytes: int, facts: WiringFacts) -> str:
        """Wire so much from now on, if that may be done; a line about it."""
        if reason := refused_because(facts, wanted_bytes):
            return f"memory is not wired: {reason}"
        self._wanted_bytes = wanted_bytes
        self.hold()
        return f"memory is wired: {wanted_bytes >> 20:,} MiB"

    def hold(self) -> None:
        """Wire what is wanted, if anything is and it is not held."""
        if self._wanted_bytes and self._before is None:
            self._before = self._set_limit(self._wanted_bytes)

    def release(self) -> None:
        """Put back the limit that was there before."""
        if self._before is not None:
            self._set_limit(self._before)
            self._before = None

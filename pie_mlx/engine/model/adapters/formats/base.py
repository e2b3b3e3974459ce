"""The interface of a format of adapter files: pairs of matrices by projection, not yet compared with a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import mlx.core as mx

from pie_mlx.errors import AdapterFormatError


@dataclass(frozen=True, slots=True)
class NamedPair:
    """The addition `scale * (x down) up` to a projection that the file calls `name`; shapes as in `LowRank`."""

    name: str
    down: mx.array
    up: mx.array
    scale: float


class Format(Protocol):
    """Reads one format. Raises AdapterFormatError that names what it cannot read (A3)."""

    def recognises(self, config: Mapping[str, Any]) -> bool: ...

    def pairs(self, config: Mapping[str, Any], tensors: Mapping[str, mx.array]) -> Sequence[NamedPair]: ...


def unsupported(part: str, reason: str = "it is not supported") -> AdapterFormatError:
    """The error for a part that we cannot apply."""
    return AdapterFormatError(
        f"adapter: {part}: {reason}", hint="merge it into the model, or train a plain LoRA adapter"
    )


def checked_rank(name: str, configured: Any, down: mx.array, up: mx.array) -> int:
    """The rank of a pair [.., in, rank], [.., rank, out]. Raises AdapterFormatError for 0 or any disagreement."""
    rank = down.shape[-1]
    if rank < 1 or up.shape[-2] != rank or configured != rank:
        raise AdapterFormatError(
            f"adapter: {name} has matrices of rank {rank} and {up.shape[-2]}, adapter_config.json says {configured}",
            hint="ranks are at least 1 and the same in all three places",
        )
    return rank


def number(config: Mapping[str, Any], key: str) -> float:
    """Reads a finite number from the configuration. Raises AdapterFormatError."""
    value = config.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        raise AdapterFormatError(
            f"adapter: adapter_config.json: {key} is {value!r}: not a number", hint="train it again"
        )
    return float(value)


def table(value: Any, what: str) -> Mapping[str, Any]:
    """Checks that a value is a JSON object. Raises AdapterFormatError."""
    if not isinstance(value, dict):
        raise AdapterFormatError(f"adapter: {what} is not a JSON object", hint="copy it again from the trainer")
    return cast("dict[str, Any]", value)


def require_both(halves: Mapping[str, Mapping[str, mx.array]], sides: tuple[str, str]) -> None:
    """Raises AdapterFormatError if a projection lacks one of its two matrices, or if there are none."""
    for name, found in halves.items():
        for side in sides:
            if side not in found:
                raise AdapterFormatError(f"adapter: {name}.{side} is missing", hint="copy the adapter again")
    if not halves:
        raise AdapterFormatError("adapter: it has no matrices", hint="copy the adapter again")

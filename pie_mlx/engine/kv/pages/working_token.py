"""Tokens with all that their KV depends on, and how pages keep them."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import msgpack


class WorkingToken(NamedTuple):
    """One token of a context with all that its KV depends on.

    `mask` is the canonical mask (see `masks.canonical_row`), None when the token sees every earlier slot.
    Adapter 0 is no adapter and seed 0 no noise. A tuple, so that columns of a page are taken at C speed.
    """

    token: int
    position: int
    mask: bytes | None = None
    adapter: int = 0
    adapter_version: int = 0
    zo_seed: int = 0


_encoder = msgpack.Encoder()
_decoder = msgpack.Decoder(list[WorkingToken])


def pack(tokens: Sequence[WorkingToken]) -> bytes:
    """The tokens of a page as bytes, equal exactly when the tokens are.

    A pool has so many tokens that as objects they would take most of the engine's memory, and every full run of the
    garbage collector would walk them all.
    """
    return _encoder.encode(tokens)


def unpack(packed: bytes) -> list[WorkingToken]:
    """What `pack` made bytes of."""
    return _decoder.decode(packed)

"""Tokens with everything that their KV depends on, and their packed form in pages."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import msgpack

from pie_mlx.errors import InvalidArgumentError


class WorkingToken(NamedTuple):
    """One token of a context with everything that its KV depends on.

    `mask` is the canonical mask (see `masks.canonical_row`), None if the token sees every earlier slot. Adapter 0 means
    no adapter, seed 0 no noise. A tuple, so that `zip` reads a page's columns at C speed.
    """

    token: int
    position: int
    mask: bytes | None = None
    adapter: int = 0
    adapter_version: int = 0
    zo_seed: int = 0


_PLAIN = (None, 0, 0, 0)

_encoder = msgpack.Encoder()
_decoder = msgpack.Decoder(list[WorkingToken])


def pack(tokens: Sequence[WorkingToken]) -> bytes:
    """The tokens of a page as bytes. Equal tokens give equal bytes, and only they.

    As objects, the tokens of a pool would take most of the engine's memory, and every full garbage collection would
    visit all of them.
    """
    return _encoder.encode(tokens)


def unpack(packed: bytes) -> list[WorkingToken]:
    """Reverses `pack`."""
    return _decoder.decode(packed)


def are_plain(tokens: Sequence[WorkingToken]) -> bool:
    """Whether no mask, adapter or noise has a part in the KV of the tokens: it is the same in every engine."""
    return all(token[2:] == _PLAIN for token in tokens)


def check_tokens(tokens: Sequence[int], vocabulary_size: int) -> None:
    """Raises InvalidArgumentError for a token id outside the vocabulary (F5)."""
    if tokens and not (min(tokens) >= 0 and max(tokens) < vocabulary_size):
        bad = next(token for token in tokens if not 0 <= token < vocabulary_size)
        raise InvalidArgumentError(
            f"token {bad}: outside the vocabulary of {vocabulary_size}", hint="use ids from the model's tokenizer"
        )

"""`wasi:random`."""

import os

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.offers import Interface

_MOST_BYTES = 1 << 24


def get_random_bytes(length: int) -> bytes:
    """Raises InvalidArgumentError for more than 16 MiB at a time."""
    if length > _MOST_BYTES:
        raise InvalidArgumentError(f"random: {length} bytes at a time", hint=f"ask for up to {_MOST_BYTES}")
    return os.urandom(length)


def get_random_u64() -> int:
    return int.from_bytes(os.urandom(8), "little")


def get_insecure_random_bytes(length: int) -> bytes:
    return get_random_bytes(length)


def get_insecure_random_u64() -> int:
    return get_random_u64()


def insecure_seed() -> tuple[int, int]:
    return get_random_u64(), get_random_u64()


INTERFACES = (
    Interface("wasi:random/random", (get_random_bytes, get_random_u64)),
    Interface("wasi:random/insecure", (get_insecure_random_bytes, get_insecure_random_u64)),
    Interface("wasi:random/insecure-seed", (insecure_seed,)),
)

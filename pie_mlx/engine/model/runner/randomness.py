"""Counter-based random numbers: a draw depends on its key and counter, never on what was drawn before (L6)."""

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_UNIFORM_BITS = 23


def _mix(value: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit integers that avalanches."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & _MASK
    return value ^ (value >> 31)


def stream_key(*parts: int) -> int:
    """A 64-bit key of a random stream, from any number of integers."""
    key = 0
    for part in parts:
        key = _mix((key + _GOLDEN + (part & _MASK)) & _MASK)
    return key


def uniform(stream: int, counter: int, draw: int) -> float:
    """A number in [0, 1 - 2**-23], so that its float32 product with any total stays below that total."""
    return (stream_key(stream, counter, draw) >> (64 - _UNIFORM_BITS)) / (1 << _UNIFORM_BITS)

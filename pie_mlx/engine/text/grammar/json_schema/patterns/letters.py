"""Sets of characters, as ranges of code points in order."""

import itertools
from collections.abc import Iterable

Letters = tuple[tuple[int, int], ...]

ALL: Letters = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def union(*sets: Letters) -> Letters:
    """The characters of all sets."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(itertools.chain(*sets)):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return both(tuple(found), ALL)


def both(one: Letters, other: Letters) -> Letters:
    """The characters that are in both sets."""
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple(sorted((low, high) for low, high in pairs if low <= high))


def others(letters: Letters) -> Letters:
    """The characters that are not in a set."""
    found: list[tuple[int, int]] = []
    begin = 0
    for low, high in letters:
        found.append((begin, low - 1))
        begin = high + 1
    return both((*found, (begin, ALL[-1][1])), ALL)


def kinds(sets: Iterable[Letters]) -> list[Letters]:
    """All characters, apart by the sets that they are in."""
    listed = list(sets)
    edges = sorted({0, *(code for letters in listed for low, high in letters for code in (low, high + 1))})
    found: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    for low, end in itertools.pairwise([*edges, ALL[-1][1] + 1]):
        if low < end:
            found.setdefault(tuple(has(letters, low) for letters in listed), []).append((low, end - 1))
    return [letters for ranges in found.values() if (letters := both(tuple(ranges), ALL))]


def has(letters: Letters, code: int) -> bool:
    """Whether a character is in a set."""
    return any(low <= code <= high for low, high in letters)


def written(letters: Letters) -> str:
    """A pattern for one character of a set."""
    if letters == ALL:
        return "(?s:.)"
    rest = others(letters)
    return f"[^{_ranges(rest)}]" if len(rest) < len(letters) else f"[{_ranges(letters)}]"


def _ranges(letters: Letters) -> str:
    return "".join(_code(low) if low == high else f"{_code(low)}-{_code(high)}" for low, high in letters)


def _code(code: int) -> str:
    return chr(code) if chr(code).isascii() and chr(code).isalnum() else f"\\x{{{code:x}}}"

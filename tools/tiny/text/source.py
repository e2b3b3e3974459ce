"""Seeded choices that keep the held-out part of every list away from training."""

import random
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

T = TypeVar("T")
Split = Literal["train", "heldout"]

HELDOUT_PART = 8
SMALLEST_SPLIT_LIST = 6
# The rest of what is trained on is worded as held-out samples are.
VARIED_PART = 0.5


def is_heldout(key: str) -> bool:
    """Whether a key belongs to the held-out eighth; depends on the key alone."""
    return zlib.crc32(key.encode()) % HELDOUT_PART == 0


def part_of(items: Sequence[str], split: Split) -> list[str]:
    """The items one split may use.

    Lists shorter than six items are connective tissue, not content, and both splits use them whole. The first item is
    the plainest one (`get_weather`, "Who are you?"), which the model must have seen.
    """
    if len(items) < SMALLEST_SPLIT_LIST:
        return list(items)
    heldout = [item for item in items[1:] if is_heldout(item)]
    if not heldout:
        heldout = [min(items[1:], key=lambda item: zlib.crc32(item.encode()))]
    if split == "heldout":
        return heldout
    return [item for item in items if item not in heldout]


def phrases(text: str) -> tuple[str, ...]:
    """The parts of a text separated by ` | ` (or ` |` and a line break)."""
    return tuple(re.split(r" \|[ \n]", text))


class Source:
    """Random choices for one sample: templates, words and numbers of one split.

    `used` collects every choice from a split list, so that the two splits can be checked to be disjoint. `varied` says
    whether wordings are changed and tasks made harder than they are held out.
    """

    _parts: dict[tuple[int, Split], tuple[Sequence[str], list[str]]] = {}  # noqa: RUF012 (a cache shared on purpose)

    def __init__(self, seed: str, split: Split) -> None:
        self.random = random.Random(seed)
        self.split: Split = split
        self.varied = split == "train" and self.chance(VARIED_PART)
        self.used: set[str] = set()

    def _part(self, items: Sequence[str]) -> list[str]:
        if len(items) < SMALLEST_SPLIT_LIST:
            return list(items)
        key = (id(items), self.split)
        known = self._parts.get(key)
        if known is None or known[0] is not items:
            known = (items, part_of(items, self.split))
            if isinstance(items, tuple):
                self._parts[key] = known
        return known[1]

    def one(self, items: Sequence[str]) -> str:
        """One item of this split's part of a list."""
        choice = self.random.choice(self._part(items))
        if len(items) >= SMALLEST_SPLIT_LIST:
            self.used.add(choice)
        return choice

    def some(self, items: Sequence[str], count: int) -> list[str]:
        """Distinct items of this split's part; fewer when the part is smaller than `count`."""
        part = self._part(items)
        chosen = self.random.sample(part, min(count, len(part)))
        if len(items) >= SMALLEST_SPLIT_LIST:
            self.used.update(chosen)
        return chosen

    def fill(self, templates: Sequence[str], **values: object) -> str:
        """One template of this split with its fields filled."""
        return self.one(templates).format(**values)

    def any(self, items: Sequence[T]) -> T:
        """One item of a list that is not split."""
        return self.random.choice(items)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def fresh(self, make: Callable[[], T]) -> T:
        """A made-up value whose text falls in this split (numbers, identifiers, pairs)."""
        while True:
            value = make()
            if is_heldout(f"value:{value}") == (self.split == "heldout"):
                self.used.add(f"value:{value}")
                return value

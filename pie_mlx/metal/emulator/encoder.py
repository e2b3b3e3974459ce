"""Simulates how MLX's Metal backend orders operations, to find operations in a story that nothing orders.

MLX encodes operations into concurrent command encoders. Within an encoder, a barrier precedes an operation that takes a
buffer made since the last barrier, or makes one taken or made since then. An encoder waits for the fence of the last
encoder that made a buffer it takes or makes. Nothing else orders operations (mlx/backend/metal/device.cpp of MLX 0.32:
`set_input_array`, `register_output_array`, `maybeInsertBarrier`, `end_encoding`). A kernel that writes its input, as
ours write the pool, makes nothing that MLX knows about.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from pie_mlx.metal.emulator.story import Operation, Story


@dataclass(frozen=True, slots=True)
class Hazard:
    """Two operations on the same memory, one of them writing, that may run in either order or at once."""

    earlier: int
    later: int
    kinds: tuple[str, str]


@dataclass
class _Encoder:
    """One command encoder: numbers of its operations in epochs divided by barriers, as bits."""

    epochs: list[int] = field(default_factory=lambda: [0])
    taken: set[int] = field(default_factory=set[int])
    made: set[int] = field(default_factory=set[int])
    since_barrier: tuple[set[int], set[int]] = field(default_factory=lambda: (set[int](), set[int]()))
    members: dict[int, int] = field(default_factory=dict[int, int])

    def encode(self, number: int, operation: Operation) -> None:
        taken, made = self.since_barrier
        if operation.takes & made or operation.makes & (taken | made):
            self.epochs.append(0)
            taken.clear()
            made.clear()
        taken |= operation.takes
        made |= operation.makes
        self.taken |= operation.takes
        self.made |= operation.makes
        self.members[number] = len(self.epochs) - 1
        self.epochs[-1] |= 1 << number


class Replay:
    """One possible encoding of a story: a random order of operations that data does not order, cut at random."""

    def __init__(self, story: Story, random: Random, cut_probability: float = 0.3) -> None:
        self._story, self._random, self._cut_probability = story, random, cut_probability
        self.before: dict[int, int] = {}
        """Per operation, as bits: the operations that have certainly ended when it begins."""
        self._encoder_of_buffer: dict[int, tuple[int, int]] = {}
        self._known = 0
        for moment in story.moments:
            self._encode(moment.operations)
            for number in moment.done:
                self._known |= 1 << number | self.before[number]

    def hazards(self, pairs: Iterable[tuple[int, int]]) -> list[Hazard]:
        """The conflicting pairs whose earlier operation may still run when the later one begins."""
        names = [operation.name for operation in self._story.operations]
        return [
            Hazard(earlier, later, (names[earlier], names[later]))
            for earlier, later in pairs
            if not self.before[later] >> earlier & 1
        ]

    def _encode(self, numbers: Iterable[int]) -> None:
        encoder = _Encoder()
        for number in self._shuffled(numbers):
            encoder.encode(number, self._story.operations[number])
            if self._random.random() < self._cut_probability:
                self._end(encoder)
                encoder = _Encoder()
        self._end(encoder)

    def _shuffled(self, numbers: Iterable[int]) -> list[int]:
        """A random order in which each operation follows the makers of what it takes."""
        waiting = set(numbers)
        needs = {number: self._story.makers(number) & waiting for number in waiting}
        order: list[int] = []
        while waiting:
            ready = sorted(number for number in waiting if not needs[number] & waiting)
            order.append(self._random.choice(ready))
            waiting.discard(order[-1])
        return order

    def _end(self, encoder: _Encoder) -> None:
        waited = self._known
        for buffer in encoder.taken | encoder.made:
            ended, before = self._encoder_of_buffer.get(buffer, (0, 0))
            waited |= ended | before
        everything = 0
        for number, epoch in encoder.members.items():
            self.before[number] = waited | _union(encoder.epochs[:epoch])
            everything |= 1 << number
        for buffer in encoder.made:
            self._encoder_of_buffer[buffer] = everything, waited


def _union(parts: Iterable[int]) -> int:
    result = 0
    for part in parts:
        result |= part
    return result


def surely_ordered(story: Story) -> Mapping[int, int]:
    """Per operation, as bits: those that have ended when it begins in every replay, because of data or waits of the
    host. Order that encoders or barriers happen to add does not count."""
    before: dict[int, int] = {}
    known = 0
    for moment in story.moments:
        for number in moment.operations:  # numbers ascend: makers come before takers
            before[number] = known | _union(1 << maker | before[maker] for maker in story.makers(number))
        for number in moment.done:
            known |= 1 << number | before[number]
    return before


def find_hazards(story: Story, random: Random, replays: int = 20) -> Mapping[tuple[int, int], Hazard]:
    """The hazards that some random replays leave unordered, by pair of operations."""
    pairs = list(story.conflicts())
    found: dict[tuple[int, int], Hazard] = {}
    for _ in range(replays):
        for hazard in Replay(story, random).hazards(pairs):
            found.setdefault((hazard.earlier, hazard.later), hazard)
    return found

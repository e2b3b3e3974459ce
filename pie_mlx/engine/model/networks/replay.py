"""States after some of the drafts of a step: its mixers compute the accepted tokens once more, and nothing else does.

One state per draft would take many times the memory of a context, and computing token by token would read the weights
of the mixers for each. What they were given is small, and known.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.networks.mixers import MixerCall, RowGroup, rearranged
from pie_mlx.metal.arrays import integers

LayerStates = list[list[mx.array | None]]
"""Per recurrent layer its state arrays [contexts, ..]; None before the first token."""

Adapting = Callable[[Sequence[int]], AbstractContextManager[None]]
"""Inside, adapters add to these token rows of a step, one after the other."""


class Recording:
    """What the mixers were given of a `group` of a step, and its states `before` that."""

    def __init__(self, group: RowGroup, before: LayerStates, caches: Sequence[Any], adapting: Adapting) -> None:
        self.group, self._before = group, before
        self._caches, self._adapting = caches, adapting
        self._calls: list[MixerCall] = []
        self._replays: dict[int, Replay] = {}
        self.context_bytes = 0
        """Bytes of the state of one context."""

    def add(self, call: MixerCall) -> None:
        """Keep the next call of a mixer."""
        self._calls.append(call)

    def arrays(self) -> list[mx.array]:
        """The kept arrays. Evaluate them with the step, or else they keep its memory."""
        every = (each for call in self._calls for each in (*call.arguments, *call.options.values()))
        return [each for each in every if isinstance(each, mx.array)]

    def replay(self, place: int, tokens: int) -> tuple["Replay", int]:
        """A batch with the state of the context at `place` after its first `tokens` tokens, and the row of that
        state."""
        found = self._replays.get(tokens)
        if found is None or found.is_built:
            found = self._replays[tokens] = Replay(self, tokens)
        return found, found.add(place)

    def compute(self, places: Sequence[int], tokens: int) -> LayerStates:
        """The states of the contexts at `places` after their first `tokens` tokens. On the MLX thread."""
        group, rows = self.group, integers(places)
        states = [[None if array is None else array[rows] for array in layer] for layer in self._before]
        for cache, layer in zip(self._caches, states, strict=True):
            cache.cache, cache.lengths, cache.left_padding = layer, None, None
        shape = len(group.contexts), group.length
        with self._adapting([group.rows[place * group.length + k] for place in places for k in range(tokens)]):
            for call in self._calls:
                first = rearranged(call, shape, lambda array: array[rows, :tokens])
                first.run(*first.arguments, **first.options)
        for cache in self._caches:
            cache.cache = [None] * len(cache.cache)
        return states


class Replay:
    """States like those of a StateBatch, which are built when they are first read, on the MLX thread.

    Contexts that go on from equally many tokens of one step are computed together.
    """

    def __init__(self, recording: Recording, tokens: int) -> None:
        self._recording: Recording | None = recording
        self.context_bytes = recording.context_bytes
        self._tokens, self._places = tokens, list[int]()
        self._layers: LayerStates = []

    def add(self, place: int) -> int:
        """Add one more context of the group, before it is built; returns its row."""
        self._places.append(place)
        return len(self._places) - 1

    @property
    def is_built(self) -> bool:
        return self._recording is None

    @property
    def size(self) -> int:
        """The number of contexts."""
        return len(self._places)

    @property
    def held(self) -> int:
        """States in memory: before it is built, also those of the group before its step."""
        return self.size + (0 if self._recording is None else len(self._recording.group.contexts))

    @property
    def layers(self) -> LayerStates:
        """The states; builds them."""
        if self._recording is not None:
            self._layers, self._recording = self._recording.compute(self._places, self._tokens), None
        return self._layers

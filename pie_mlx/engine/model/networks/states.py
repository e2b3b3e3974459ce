"""The running states of recurrent layers, one per context: values that contexts can share."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy.typing as npt

from pie_mlx.engine.model.networks.mixers import MixerCall, RowGroup
from pie_mlx.engine.model.networks.replay import Adapting, LayerStates, Recording, Replay
from pie_mlx.metal.arrays import begin_evaluation, evaluate, from_host, integers, to_host

LONGEST_VIEWS = 16
"""Tokens of a group whose states may lie in the memory of all its inputs, as those of convolutions do."""


@dataclass(frozen=True, slots=True)
class StateBatch:
    """The states of `size` contexts that were computed together."""

    layers: LayerStates
    size: int

    @property
    def held(self) -> int:
        """How many states are in memory."""
        return self.size

    @property
    def context_bytes(self) -> int:
        """Bytes of the state of one context."""
        return sum(array.nbytes for array in _arrays(self.layers)) // self.size


@dataclass(slots=True, eq=False)
class RecurrentState:
    """The state of one context after `tokens` tokens, a value that contexts can share: a row of a batch.

    Only the MLX thread reads the batch.
    """

    batch: StateBatch | Replay
    index: int
    tokens: int

    @property
    def size(self) -> int:
        """How many states are kept in memory with it, itself included."""
        return self.batch.held

    @property
    def size_bytes(self) -> int:
        """What the state of the context alone takes in memory."""
        return self.batch.context_bytes

    def alone(self) -> "RecurrentState":
        """A copy that is computed and has memory of its own. Call it on the MLX thread."""
        batch = _picked(self.batch.layers, [self.index])
        evaluate(_arrays(batch.layers))
        return RecurrentState(batch, 0, self.tokens)

    def to_host(self) -> list[list[tuple[npt.NDArray[Any], str] | None]]:
        """Its arrays with their dtypes, bfloat16 as uint16. Call it on the MLX thread."""
        alone = self if self.size == 1 else self.alone()
        return [
            [None if array is None else (to_host(array), str(array.dtype).removeprefix("mlx.core.")) for array in layer]
            for layer in alone.batch.layers
        ]

    @staticmethod
    def from_host(layers: Sequence[Sequence[tuple[npt.NDArray[Any], str] | None]], tokens: int) -> "RecurrentState":
        """Reverses `to_host`. Call it on the MLX thread."""
        batch = StateBatch([[part and _from_host(*part) for part in layer] for layer in layers], 1)
        return RecurrentState(batch, 0, tokens)


def _from_host(values: npt.NDArray[Any], dtype: str) -> mx.array:
    array = from_host(values)
    return array.view(mx.bfloat16) if dtype == "bfloat16" else array


@dataclass(frozen=True, slots=True)
class _Reached:
    """The state a step left of a context, which it went on from after `start` tokens. With the recording of a group,
    in which the context has a `place`, also the states after the tokens of the step."""

    state: RecurrentState
    start: int
    drafts: bool = False
    recording: Recording | None = None
    place: int = 0

    def after(self, tokens: int) -> RecurrentState | None:
        """The state after the first `tokens` tokens of the context, if it is known."""
        if self.state.tokens == tokens:
            return self.state
        if self.recording is None or not self.start < tokens < self.state.tokens:
            return None
        return RecurrentState(*self.recording.replay(self.place, tokens - self.start), tokens)


class RecurrentStates:
    """States by context. A forward pass loads those of one group of rows after the other into mlx-lm's caches.

    Steps are committed in the order they were built, once they are evaluated. Until then a step after them goes on from
    what they leave, and all others from what is committed. Arrays are immutable, so a fork shares them.
    """

    def __init__(self, caches: Sequence[Any]) -> None:
        self._caches = caches
        self._layers = {id(cache): layer for layer, cache in enumerate(caches)}
        self._committed: dict[int, RecurrentState] = {}
        self._reached: dict[int, list[_Reached]] = {}
        self._steps: list[dict[int, _Reached]] = []
        self._groups: list[tuple[RowGroup, LayerStates]] = []
        self._recordings: dict[int, Recording] = {}

    def open(self, *, follows: bool) -> None:
        """Begin a step; unless it `follows` uncommitted steps, these are dropped."""
        if not follows:
            self._steps.clear()
        self._steps.append({})

    def begin(self, groups: Sequence[RowGroup], stored: Callable[[mx.array], None], adapting: Adapting) -> None:
        """Begin a forward pass of the step, over `groups`. Layers say what they `stored`."""
        self._groups, self._recordings = [], {}
        for place, group in enumerate(groups):
            states = self._joined_states(group)
            self._groups.append((group, [_Parts(layer, stored) for layer in states]))
            if group.drafts and group.length > 1:
                self._recordings[place] = Recording(group, states, self._caches, adapting)

    def load(self, group: int, cache: Any) -> None:
        """Put the states of a group of the pass into the cache of a layer, which leaves the new ones there."""
        cache.cache = self._groups[group][1][self._layers[id(cache)]]
        cache.lengths = cache.left_padding = None

    def load_all(self) -> None:
        """`load` the only group into the caches of all layers."""
        for cache in self._caches:
            self.load(0, cache)

    def record(self, group: int, call: MixerCall) -> None:
        """A mixer is about to compute a group with drafts."""
        if group in self._recordings:
            self._recordings[group].add(call)

    def end(self) -> None:
        """End the forward pass: take the states that it left."""
        for place, (group, states) in enumerate(self._groups):
            batch = StateBatch([_owned(layer, group.length) for layer in states], len(group.contexts))
            recording = self._recordings.get(place)
            if recording is not None:
                recording.context_bytes = batch.context_bytes
            for index, (context, tokens) in enumerate(zip(group.contexts, group.ends, strict=True)):
                state = RecurrentState(batch, index, tokens)
                self._steps[-1][context] = _Reached(state, tokens - group.length, group.drafts, recording, index)

    def leave(self) -> None:
        """The forward pass is over, or has failed."""
        self._groups, self._recordings = [], {}
        for cache in self._caches:
            cache.cache = [None] * len(cache.cache)

    def arrays(self) -> list[mx.array]:
        """The arrays that are not committed yet. Evaluate them with the outputs of the step."""
        left = [one for step in self._steps for one in step.values()]
        batches = {id(one.state.batch): one.state.batch.layers for one in left}
        recordings = {id(one.recording): one.recording for one in left if one.recording is not None}
        kept = [array for recording in recordings.values() for array in recording.arrays()]
        return [*(array for layers in batches.values() for array in _arrays(layers)), *kept]

    def claim(self, contexts: Container[int]) -> None:
        """Only these contexts continue from the first uncommitted step."""
        self._steps[:1] = [
            {context: one for context, one in step.items() if context in contexts} for step in self._steps[:1]
        ]

    def commit(self, *, keeps: bool = False) -> None:
        """Commit the states of the first uncommitted step. If it `keeps`, the states before stay too, so that contexts
        may return to them."""
        for step in self._steps[:1]:
            for context, one in step.items():
                # The drafts of a pass may be those of several steps.
                before = self._reached.get(context, ()) if keeps or one.drafts else ()
                self._reached[context] = [*(each for each in before if each.state.tokens <= one.start), one]
                self._committed[context] = one.state
        del self._steps[:1]
        self._release_neighbours()

    def forget(self) -> None:
        """Drop the step that was built last."""
        del self._steps[-1:]

    def discard(self) -> None:
        """Drop all uncommitted steps."""
        self._steps.clear()

    def of(self, context: int) -> RecurrentState | None:
        """The state of `context`, None before its first token."""
        return self._committed.get(context)

    def contexts(self) -> list[int]:
        """The contexts that have a state."""
        return list(self._committed)

    def put(self, context: int, state: RecurrentState | None) -> None:
        """`context` continues from `state`."""
        self._reached.pop(context, None)
        if state is None:
            self._committed.pop(context, None)
        else:
            self._committed[context] = state

    def known(self, context: int, tokens: int) -> int:
        """The largest number of tokens, at most `tokens`, after which the state of `context` is known."""
        ends = [0, *(one.state.tokens for one in self._reached.get(context, ()))]
        return max([end for end in ends if end <= tokens])

    def seek(self, context: int, tokens: int) -> None:
        """`context` continues from its first `tokens` tokens, which its last step went through; earlier ones are
        forgotten. Raises RuntimeError where that state is not known."""
        reached = self._reached.get(context, [])
        found = next((state for one in reached if (state := one.after(tokens)) is not None), None)
        if found is None:
            raise RuntimeError(f"recurrent layers: context {context} has no state after {tokens} tokens")
        self._committed[context] = found
        later = [one for one in reached if one.state.tokens > tokens and not one.drafts]
        self._reached[context] = [_Reached(found, tokens), *later]

    def _joined_states(self, group: RowGroup) -> LayerStates:
        starts = [end - group.length for end in group.ends]
        rows = [None if group.fresh else self._row(*each) for each in zip(group.contexts, starts, strict=True)]
        return [
            [_joined(rows, layer, part) for part in range(len(cache.cache))] for layer, cache in enumerate(self._caches)
        ]

    def _row(self, context: int, tokens: int) -> RecurrentState:
        """The state after the first `tokens` tokens. Any other one would give wrong tokens: raises RuntimeError."""
        left = next((step[context].state for step in reversed(self._steps) if context in step), None)
        found = left or self._committed.get(context)
        if found is None or found.tokens != tokens:
            known = "none" if found is None else f"one of {found.tokens} tokens"
            raise RuntimeError(f"context {context}: a pass after {tokens} tokens needs their state, there is {known}")
        return found

    def _release_neighbours(self) -> None:
        """Copy the states of contexts that have not continued lately, if most of their batch is of no use: a row keeps
        the whole batch in memory."""
        batches: dict[int, list[RecurrentState]] = {}
        for state in list(self._committed.values()):
            if state.size > 1:
                batches.setdefault(id(state.batch), []).append(state)
        for states in batches.values():
            used = sorted({state.index for state in states})
            if isinstance(states[0].batch, StateBatch) and 2 * len(used) > states[0].batch.size:
                continue
            batch = _picked(states[0].batch.layers, used)
            begin_evaluation(_arrays(batch.layers))
            for state in states:
                state.batch, state.index = batch, used.index(state.index)


class _Parts(list[mx.array | None]):
    """The state arrays of a layer; the layer has computed its state when it puts the last one."""

    def __init__(self, parts: Iterable[mx.array | None], stored: Callable[[mx.array], None]) -> None:
        super().__init__(parts)
        self._stored = stored

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        if index == len(self) - 1:
            self._stored(value)


def _arrays(layers: LayerStates) -> list[mx.array]:
    return [array for layer in layers for array in layer if array is not None]


def _owned(layer: Sequence[mx.array | None], length: int) -> list[mx.array | None]:
    """The state arrays of a layer after `length` tokens, copied for long groups: they may be views of all inputs."""
    return list(layer) if length <= LONGEST_VIEWS else [None if array is None else array + 0 for array in layer]


def _picked(layers: LayerStates, rows: Sequence[int]) -> StateBatch:
    """Copies of some rows of a batch."""
    places = integers(rows)
    return StateBatch([[None if array is None else array[places] for array in layer] for layer in layers], len(rows))


def _joined(rows: Sequence[RecurrentState | None], layer: int, part: int) -> mx.array | None:
    """One state array of all rows, [rows, ...]; None if the contexts begin here."""
    known = [row for row in rows if row is not None]
    if not known or known[0].batch.layers[layer][part] is None:
        return None
    if len(known) == known[0].batch.size and _in_order(known):
        return known[0].batch.layers[layer][part]
    return mx.concatenate([_single(row, layer, part) for row in known])


def _in_order(rows: Sequence[RecurrentState]) -> bool:
    return all(row.batch is rows[0].batch and row.index == index for index, row in enumerate(rows))


def _single(row: RecurrentState, layer: int, part: int) -> mx.array:
    array = row.batch.layers[layer][part]
    if array is None:
        raise RuntimeError("a recurrent layer has a state of some contexts and none of others")
    return array[row.index : row.index + 1]

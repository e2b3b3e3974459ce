"""Recurrent layers in a step of token rows.

Everything else of a step sees rows [T, 1] of any contexts. A mixer, the module that reads a recurrent layer's state,
must see whole contexts: it computes one group of rows after the other, each of contexts that have equally many tokens.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from typing import Any, Protocol, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.library import cache as mlx_lm_cache
from pie_mlx.engine.model.mlx_lm.modules import Module, replaced_calls
from pie_mlx.engine.model.step import Segment, StepInput


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of a step that a mixer computes at once: `length` tokens of each context, one context after the other.

    Contexts that begin here (`fresh`) are apart from those that go on: a layer without a state may compute its first
    token in another way than from zeros. Contexts hold `ends` tokens after it. With `drafts`, some may forget the last
    of them.
    """

    start: int
    contexts: tuple[int, ...]
    length: int
    fresh: bool
    ends: tuple[int, ...]
    drafts: bool

    @property
    def rows(self) -> range:
        """Its token rows."""
        return range(self.start, self.start + len(self.contexts) * self.length)


def row_groups(segments: Sequence[Segment]) -> list[RowGroup]:
    """The groups of segments; segments of one group stand side by side."""
    groups: list[RowGroup] = []
    for (count, fresh), each in groupby(segments, key=_group_of):
        alike = list(each)
        contexts, ends = zip(*[(segment.context, segment.kv_length) for segment in alike], strict=True)
        drafts = any([segment.drafts for segment in alike])
        groups.append(RowGroup(alike[0].start, contexts, count, fresh, ends, drafts))
    return groups


def side_by_side(step: StepInput) -> StepInput:
    """The step with the rows of each group side by side; its logits stay in their order."""
    ordered = sorted(step.segments, key=_group_of)
    if ordered == list(step.segments):
        return step
    rows = [row for segment in ordered for row in range(segment.start, segment.start + segment.count)]
    starts = accumulate((segment.count for segment in ordered), initial=0)
    return step.arranged(rows, [replace(segment, start=start) for segment, start in zip(ordered, starts, strict=False)])


def _group_of(segment: Segment) -> tuple[int, bool]:
    return segment.count, segment.kv_length == segment.count


@dataclass(frozen=True, slots=True)
class MixerCall:
    """What a mixer was given of a group: token arrays are [contexts, length, ..]; it reads the state in `cache`."""

    run: Callable[..., Any]
    cache: Any
    arguments: Sequence[Any]
    options: Mapping[str, Any]


class GroupStates(Protocol):
    """The states of the groups of a step."""

    def load(self, group: int, cache: Any) -> None:
        """Put the states of a group into a recurrent cache, where its mixers leave the new ones."""
        ...

    def record(self, group: int, call: MixerCall) -> None:
        """A mixer is about to compute a group with drafts."""
        ...


class Mixers:
    """The mixers of a model, which compute the groups of the step that is being built. `only` has adapters add to the
    rows of a group."""

    def __init__(self, modules: Sequence[Module], only: Callable[[range], AbstractContextManager[None]]) -> None:
        self._only = only
        self._groups: Sequence[RowGroup] = ()
        self._states: GroupStates | None = None
        for module in modules:
            self._wrap(cast("Any", module))

    @contextmanager
    def computing(self, groups: Sequence[RowGroup], states: GroupStates) -> Generator[None, None, None]:
        """Inside, mixers compute `groups`, which cover all rows in order."""
        self._groups, self._states = groups, states
        try:
            yield
        finally:
            self._groups, self._states = (), None

    def _wrap(self, module: Any) -> None:
        original = cast("Any", type(module))

        def call(module: Any, *arguments: Any, **options: Any) -> Any:
            states = self._states
            if states is None:
                return original.__call__(module, *arguments, **options)
            whole = MixerCall(
                partial(original.__call__, module), _recurrent_cache(arguments, options), arguments, options
            )
            return _joined([self._part(states, place, whole) for place in range(len(self._groups))])

        module.__class__ = type(original.__name__, (original,), {"__call__": call})

    def _part(self, states: GroupStates, place: int, whole: MixerCall) -> Any:
        groups, group = self._groups, self._groups[place]
        states.load(place, whole.cache)
        if len(groups) == group.length == 1:
            return whole.run(*whole.arguments, **whole.options)
        rows = groups[-1].rows.stop
        own = rearranged(whole, (rows, 1), lambda array: _group_rows(array, group))
        if group.drafts:
            states.record(place, own)
        with self._only(group.rows):
            return _token_rows(own.run(*own.arguments, **own.options))


def find_mixers(model: Module, run: Callable[[], object]) -> tuple[list[Module], set[int]]:
    """The innermost modules that `run`, a call of the model, gives a recurrent cache; and the ids of these caches."""
    open_calls: list[bool] = []
    found: dict[int, Module] = {}
    caches: set[int] = set()

    def recording(module: Module, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            cache = _recurrent_cache(arguments, options)
            open_calls.append(False)
            answer = original(*arguments, **options)
            has_inner = open_calls.pop()
            if cache is not None and not has_inner:
                found[id(module)] = module
                caches.add(id(cache))
            if open_calls and (has_inner or cache is not None):
                open_calls[-1] = True
            return answer

        return call

    with replaced_calls([module for _, module in model.named_modules()], recording):
        run()
    return list(found.values()), caches


def _recurrent_cache(arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    every = [*arguments, *options.values()]
    return next((each for each in every if isinstance(each, mlx_lm_cache.ArraysCache)), None)


def rearranged(call: MixerCall, shape: tuple[int, int], change: Callable[[mx.array], mx.array]) -> MixerCall:
    """The call with its token arrays, which begin with `shape`, changed."""

    def changed(value: Any) -> Any:
        is_tokens = isinstance(value, mx.array) and value.ndim >= 2 and value.shape[:2] == shape
        return change(value) if is_tokens else value

    options = {name: changed(each) for name, each in call.options.items()}
    return MixerCall(call.run, call.cache, [changed(each) for each in call.arguments], options)


def _group_rows(array: mx.array, group: RowGroup) -> mx.array:
    """The rows of a group of an array [rows, 1, ..] as [contexts, length, ..]."""
    part = array[group.start : group.rows.stop]
    return mx.reshape(part, (len(group.contexts), group.length, *array.shape[2:]))


def _token_rows(answer: Any) -> Any:
    """An answer [contexts, length, ..], or several, as [rows, 1, ..]."""
    if isinstance(answer, mx.array):
        return mx.reshape(answer, (-1, 1, *answer.shape[2:]))
    return tuple(_token_rows(each) for each in answer)


def _joined(parts: Sequence[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], mx.array):
        return mx.concatenate(list(parts))
    return tuple(_joined(each) for each in zip(*parts, strict=True))

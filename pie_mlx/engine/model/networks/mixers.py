"""Recurrent layers in a step of token rows.

Everything else of a step sees rows [T, 1] of any contexts. A mixer, the module that reads a recurrent layer's state,
must see whole contexts: it computes one group of rows after the other, each of contexts that have equally many tokens.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.library import cache as mlx_lm_cache
from pie_mlx.engine.model.mlx_lm.modules import Module, replaced_calls
from pie_mlx.engine.model.step import Segment, StepInput


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows of a step that a mixer computes at once: `length` tokens of each context, one context behind the other.

    Contexts that begin here (`fresh`) are apart from those that go on: a layer without a state may compute its first
    token in another way than from zeros. `ends` counts the tokens that each context has behind these.
    """

    start: int
    contexts: tuple[int, ...]
    length: int
    fresh: bool
    ends: tuple[int, ...]

    @property
    def rows(self) -> range:
        """Its token rows."""
        return range(self.start, self.start + len(self.contexts) * self.length)


def row_groups(segments: Sequence[Segment]) -> list[RowGroup]:
    """The groups of segments of which alike ones stand side by side."""
    groups: list[RowGroup] = []
    for (count, fresh), each in groupby(segments, key=_group_of):
        alike = list(each)
        contexts, ends = zip(*((segment.context, segment.kv_length) for segment in alike), strict=True)
        groups.append(RowGroup(alike[0].start, contexts, count, fresh, ends))
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


class Mixers:
    """The mixers of a model, which compute the groups of the step that is being built.

    `load` puts the states of a group into a recurrent cache; `only` has adapters add to the rows of a group.
    """

    def __init__(self, modules: Sequence[Module], only: Callable[[range], AbstractContextManager[None]]) -> None:
        self._only = only
        self._groups: Sequence[RowGroup] = ()
        self._load: Callable[[int, Any], None] = _nothing_to_load
        for module in modules:
            self._wrap(cast("Any", module))

    @contextmanager
    def computing(self, groups: Sequence[RowGroup], load: Callable[[int, Any], None]) -> Generator[None, None, None]:
        """Inside, mixers compute `groups`, which cover all rows in order; `load(group, cache)` comes before each."""
        self._groups, self._load = groups, load
        try:
            yield
        finally:
            self._groups, self._load = (), _nothing_to_load

    def _wrap(self, module: Any) -> None:
        original = cast("Any", type(module))

        def call(module: Any, *arguments: Any, **options: Any) -> Any:
            if not self._groups:
                return original.__call__(module, *arguments, **options)
            cache = _recurrent_cache(arguments, options)
            parts = [self._part(place, cache, original, module, arguments, options) for place in range(self._count)]
            return _joined(parts)

        module.__class__ = type(original.__name__, (original,), {"__call__": call})

    @property
    def _count(self) -> int:
        return len(self._groups)

    def _part(self, place: int, cache: Any, original: Any, module: Any, arguments: Any, options: Any) -> Any:
        group = self._groups[place]
        self._load(place, cache)
        if self._count == group.length == 1:
            return original.__call__(module, *arguments, **options)
        last = self._groups[-1].rows.stop
        cut = [_cut(each, group, last) for each in arguments]
        named = {name: _cut(each, group, last) for name, each in options.items()}
        with self._only(group.rows):
            return _token_rows(original.__call__(module, *cut, **named))


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


def _nothing_to_load(_group: int, _cache: Any) -> None:
    return None


def _recurrent_cache(arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    every = [*arguments, *options.values()]
    return next((each for each in every if isinstance(each, mlx_lm_cache.ArraysCache)), None)


def _cut(value: Any, group: RowGroup, rows: int) -> Any:
    """The rows of a group of an array [rows, 1, ..] as [contexts, length, ..]; anything else as it is."""
    if not isinstance(value, mx.array) or value.ndim < 2 or value.shape[:2] != (rows, 1):
        return value
    part = value[group.start : group.rows.stop]
    return mx.reshape(part, (len(group.contexts), group.length, *value.shape[2:]))


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

"""A rule over the rows of one step: a lazy graph of MLX operations, the same for all rows that have it."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.calls import FORBIDDEN, OPERATIONS, RuleArray, RuleNode, RuleUse
from pie_mlx.engine.model.likeliest import likeliest
from pie_mlx.engine.model.rules.checking import reached
from pie_mlx.engine.model.rules.evaluation import (
    CONSTANTS,
    compiled_answer,
    computed,
    held_array,
    probabilities_of,
    sources_of,
)
from pie_mlx.engine.model.rules.repetitions import repetitions
from pie_mlx.engine.model.token_counts import NOTHING, TokenCounts
from pie_mlx.metal.arrays import from_host, integers

_NOTHING_LEFT = FORBIDDEN / 10
"""A row whose largest logit is below this forbids every token."""


class StateRow(NamedTuple):
    """The states that one row carries: `row` of `values` [rows, states] float32, which may still be computed."""

    values: mx.array
    row: int


class RuledRow(NamedTuple):
    """What a rule needs to know of a row besides its logits: the token that the row computes, `previous`, a `random`
    number of [0, 1), the states that the step before leaves, None where the use has them, and, among all logits of the
    step, the rows of `others` and its own `place`."""

    use: RuleUse
    previous: int
    random: float
    before: StateRow | None = None
    others: tuple[int, ...] = ()
    place: int = 0


class RuleRun:
    """One rule over `logits` [rows, vocabulary] float32, in which forbidden tokens are -inf. Rows of other contexts are
    among those of `step`, which have the `hidden` states [rows, width].

    `counts` are those of each row's text; `last` [rows] int32 is what each row computes, where that is still being
    drawn: the rows do not have it yet. `indices` are the rows' places in the caller's list.
    """

    def __init__(
        self,
        logits: mx.array,
        indices: Sequence[int],
        rows: Sequence[RuledRow],
        counts: Sequence[TokenCounts | None],
        last: mx.array | None,
        step: mx.array | None = None,
        hidden: mx.array | None = None,
    ) -> None:
        self.graph, self.indices, self._step = rows[0].use.graph, indices, logits if step is None else step
        self._hidden = hidden
        self._logits, self._rows, self._counts, self._last = mx.maximum(logits, FORBIDDEN), rows, counts, last
        self._values: dict[int, mx.array] = {}
        self._drawn: mx.array | None = None
        self._compiles = current_backend().compiles
        answer = self._compiled_answer() if self._compiles else self._value(self.graph.answer)
        largest = current_backend().largest(answer)  # NaN if one is
        self.failed = mx.squeeze(~(largest < mx.inf), -1)
        """Whether the answer of each row is no number somewhere, [rows] bool."""
        self.answer = self._of_all_tokens(answer, largest > _NOTHING_LEFT, logits)
        """The new logits; the old ones of rows in which nothing would be left."""
        if not self.leaves:
            self._forget_values()

    @property
    def leaves(self) -> bool:
        """Whether a draw leaves something: states, or the end of the text."""
        return bool(self.graph.states) or self.graph.until is not None

    def left_after(self, drawn: mx.array) -> mx.array:
        """What each row leaves, where `drawn` [rows] was drawn from it: its states, float32 [rows, states], and for a
        rule that may end the text one column more, 1 where it does."""
        self._drawn = drawn[:, None].astype(mx.int32)
        places = [place for _, place in self.graph.states]
        if self.graph.until is not None:
            places.append(self.graph.until)
        columns = [self._value(place).astype(mx.float32) for place in places]
        self._forget_values()
        shape = (len(self._rows), 1)
        return mx.concatenate([mx.broadcast_to(column, shape) for column in columns], axis=-1)

    def failed_line(self, row: int) -> int:
        """The line of the first operation of which a row's result is no number; evaluates them one by one."""
        for place in sorted(reached(self.graph, [self.graph.answer])):
            value = self._value(place)
            if value.dtype == mx.float32:
                own = value[row] if value.shape[0] > 1 else value
                if mx.any(mx.isnan(own) | (own == mx.inf)).item():
                    return self.graph.nodes[place].line
        return 0

    def _forget_values(self) -> None:
        """They would hold the memory of every operation's rows."""
        self._values.clear()
        vars(self).pop("_masses", None)

    @cached_property
    def _chosen(self) -> mx.array | None:
        """The ids of the candidates [rows, candidates], the likeliest first, ties to the lowest id; None for all."""
        count = self.graph.candidates
        if not 0 < count < self._logits.shape[-1]:
            return None
        ids = likeliest(self._logits, count)
        order = mx.argsort(-mx.take_along_axis(self._logits, ids, axis=-1), axis=-1)
        return mx.take_along_axis(ids, order, axis=-1).astype(mx.int32)

    def _of_all_tokens(self, answer: mx.array, kept: mx.array, logits: mx.array) -> mx.array:
        """The `answer` [rows, vocabulary or candidates] as rows of the vocabulary, and those of `logits` where it is
        not `kept` [rows, 1]."""
        if (chosen := self._chosen) is None:
            return mx.where(kept, answer, logits)
        answer = mx.where(kept, answer, mx.take_along_axis(logits, chosen, axis=-1))
        return mx.put_along_axis(mx.where(kept, -mx.inf, logits), chosen, answer, axis=-1)

    @cached_property
    def _masses(self) -> tuple[mx.array, mx.array, mx.array]:
        """The largest logit of each row [rows, 1], e to the power of how far each is from it, and the sum of these."""
        top = current_backend().largest(self._logits)
        masses = current_backend().exponential(self._logits - top)
        return top, masses, mx.sum(masses, axis=-1, keepdims=True)

    @cached_property
    def _seen(self) -> mx.array:
        """How often each token was generated [rows, vocabulary] float32, -1 for those that the text does not have."""
        counts = [found or NOTHING for found in self._counts]
        width = max(1, *(len(found.ids) for found in counts))
        ids, often = np.zeros((len(counts), width), np.int32), np.full((len(counts), width), -1, np.float32)
        for row, found in enumerate(counts):
            if len(found.ids):  # shorter rows repeat their first token
                ids[row], often[row] = found.ids[0], found.generated[0]
                ids[row, : len(found.ids)], often[row, : len(found.ids)] = found.ids, found.generated
        seen = mx.put_along_axis(mx.full(self._logits.shape, -1.0), from_host(ids), from_host(often), axis=-1)
        if self._last is None:
            return seen
        last = self._last[:, None]
        once_more = mx.maximum(mx.take_along_axis(seen, last, axis=-1), 0) + 1
        return mx.put_along_axis(seen, last, once_more, axis=-1)

    @cached_property
    def _states(self) -> mx.array:
        """The states that the rows come with, [rows, states]."""
        names = [name for name, _ in self.graph.states]
        known = from_host(np.array([[row.use.state[name] for name in names] for row in self._rows], np.float32))
        sources = [row.before or StateRow(known, index) for index, row in enumerate(self._rows)]
        values = sources[0].values
        if all(source.values is values for source in sources):
            places = [source.row for source in sources]
            return values if places == list(range(values.shape[0])) else values[integers(places)]
        return mx.stack([source.values[source.row, : len(names)] for source in sources])

    def _value(self, place: int) -> mx.array:
        found = self._values.get(place)
        if found is None:
            node = self.graph.nodes[place]
            if not self._compiles and place in probabilities_of(self._rows[0].use.code):
                _, masses, total = self._masses
                found = self._of_candidates(masses) / total
            else:
                found = self._computed(node, [self._value(index) for index in node.inputs])
            self._values[place] = found
        return found

    def _computed(self, node: RuleNode, inputs: Sequence[mx.array]) -> mx.array:
        match node.operation:
            case "parameter":
                return self._parameter(node.name)
            case "integer_parameter":
                return self._parameter(node.name).astype(mx.int32)
            case "state":
                return self._state(node.name)
            case "integer_state":
                return self._state(node.name).astype(mx.int32)
            case "other_logits":
                return self._of_candidates(self._other(node.name))
            case "other_log_total":
                return current_backend().log_sum_exp(self._other(node.name))
            case "other_hidden":
                return self._hidden_states(self._other_rows(node.name))
            case "vector_parameter":
                return self._vectors(node.name)
            case operation if OPERATIONS[operation].inputs or operation in CONSTANTS:
                return computed(self.graph, node, inputs, self._chosen, self._logits.shape[-1])
            case operation:
                return self._source(operation)

    def _compiled_answer(self) -> mx.array:
        """The answer, compiled: for rows up to a power of two, so that few numbers of rows occur."""
        rows, vocabulary = self._logits.shape
        code, chosen = self._rows[0].use.code, self._chosen
        given = [self._value(place) for place in sources_of(code)] + ([] if chosen is None else [chosen])
        more = (1 << (rows - 1).bit_length()) - rows
        padded = [mx.pad(one, [(0, more), (0, 0)]) if more and one.shape[0] == rows else one for one in given]
        answer = compiled_answer(code, chosen is not None, vocabulary)(padded)[:rows]
        self._values[self.graph.answer] = answer  # states may read it
        return answer

    def _source(self, name: str) -> mx.array:
        """What is known of the rows."""
        match name:
            case "logits":
                return self._of_candidates(self._logits)
            case "token":
                every = mx.arange(self._logits.shape[-1], dtype=mx.int32)[None]
                return every if self._chosen is None else self._chosen
            case "generated":
                return mx.maximum(self._of_candidates(self._seen), 0)
            case "seen":
                return self._of_candidates(self._seen) >= 0
            case "repeated":
                last, shape = self._source("previous"), self._logits.shape
                return self._of_candidates(
                    repetitions(self._counts, last, shape, self._last is None, self.graph.breakers)
                )
            case "log_total" if self._compiles:
                return current_backend().log_sum_exp(self._logits)
            case "log_total":
                top, _, total = self._masses
                return top + mx.log(total)
            case "previous":
                last = self._last
                return (integers([row.previous for row in self._rows]) if last is None else last)[:, None]
            case "random":
                return from_host(np.array([[row.random] for row in self._rows], np.float32))
            case "drawn" if self._drawn is not None:
                return self._drawn
            case "hidden":
                return self._hidden_states([row.place for row in self._rows])
            case _:
                raise RuntimeError(f"{name}: the check of the rule should have refused it")

    def _other(self, name: str) -> mx.array:
        """The logits of another context, [rows, vocabulary]."""
        return mx.maximum(self._step[integers(self._other_rows(name))], FORBIDDEN)

    def _other_rows(self, name: str) -> list[int]:
        place = self.graph.others.index(name)
        return [row.others[place] for row in self._rows]

    def _hidden_states(self, rows: Sequence[int]) -> mx.array:
        """Those of some rows of the step [rows, width]."""
        if self._hidden is None:
            raise RuntimeError("hidden states: the check of the rule should have refused them")
        return self._hidden[integers(rows)].astype(mx.float32)

    def _of_candidates(self, row: mx.array) -> mx.array:
        return row if self._chosen is None else mx.take_along_axis(row, self._chosen, axis=-1)

    @cached_property
    def _parameters(self) -> tuple[mx.array, list[str]]:
        """All parameters [rows, parameters] at once, in the order of their names."""
        names = sorted(self._rows[0].use.parameters)
        values = [[row.use.parameters[name] for name in names] for row in self._rows]
        return from_host(np.array(values, np.float32)), names

    def _parameter(self, name: str) -> mx.array:
        values, names = self._parameters
        place = names.index(name)
        return values[:, place : place + 1]

    def _vectors(self, name: str) -> mx.array:
        """A vector of each row [rows, width], or one [1, width] that is the same for all."""
        values = [row.use.vectors[name] for row in self._rows]
        alike = values.count(values[0]) == len(values)
        return mx.concatenate([held_array(RuleArray(len(one) // 4, one)) for one in values[: 1 if alike else None]])

    def _state(self, name: str) -> mx.array:
        place = [own for own, _ in self.graph.states].index(name)
        return self._states[:, place : place + 1]


def run_rules(
    logits: mx.array,
    rules: Sequence[RuledRow | None],
    counts: Sequence[TokenCounts | None],
    last: mx.array | None = None,
    step: mx.array | None = None,
    hidden: mx.array | None = None,
) -> tuple[mx.array, list[RuleRun]]:
    """`logits` [rows, vocabulary] as each row's rule changes them, and one run for each rule; rows without a rule are
    not touched. `step` has all logits of the step, of which rules read rows of other contexts, and `hidden` the hidden
    states of as many rows."""
    groups: dict[bytes, list[int]] = {}
    for index, rule in enumerate(rules):
        if rule is not None:
            groups.setdefault(rule.use.code, []).append(index)
    runs: list[RuleRun] = []
    for indices in groups.values():
        everything = len(indices) == len(rules)
        places = None if everything else integers(indices)
        own = [rule for index in indices if (rule := rules[index]) is not None]
        run = RuleRun(
            logits if places is None else logits[places],
            indices,
            own,
            [counts[index] for index in indices],
            last if last is None or places is None else last[places],
            logits if step is None else step,
            hidden,
        )
        runs.append(run)
    if len(runs) == 1 and len(runs[0].indices) == len(rules):
        return runs[0].answer, runs
    changed = logits + 0  # the caller's rows stay as they are
    for run in runs:
        changed[integers(run.indices)] = run.answer
    return changed, runs

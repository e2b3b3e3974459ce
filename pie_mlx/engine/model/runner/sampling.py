"""From one step's logits to what its contexts asked for: a lazy graph first, host values after one evaluation.

Draws are grouped by what they need: the largest logit; one running sum over the vocabulary; or the most likely tokens
in order. A context's draws whose rule carries states depend on one another, so that they are built in rounds.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.calls import MOST_DRAWS, AnyResult, HiddenMean, HiddenState, Probe, SampledTokens, Sampler
from pie_mlx.engine.model.rules.evaluation import reads_random
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun, StateRow, run_rules
from pie_mlx.engine.model.runner.batch import Draws, EntryResult, LogitsRequest, PackedMask, Reads, SharedDraw
from pie_mlx.engine.model.runner.drawing import from_most_likely, from_whole_row, needs_order
from pie_mlx.engine.model.runner.gang_rows import gangs_of
from pie_mlx.engine.model.runner.penalties import penalized
from pie_mlx.engine.model.runner.probing import Probing, drawn_logprobs, likely_logprobs
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.engine.model.runner.token_watch import LIKELY, WatchedDraw
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.arrays import host_view, integers

_ABOVE_LOGITS = 3e38
"""Larger than any logit, even with one added to it, and finite in float32."""

CANDIDATES = 256
"""Most likely tokens that filtered rows look at first; rows that keep more are sorted whole."""


@dataclass(slots=True)
class _Round:
    """Draws that do not depend on one another, by what they need of their rows."""

    largest: Draws = field(default_factory=Draws)
    whole: Draws = field(default_factory=Draws)
    ordered: Draws = field(default_factory=Draws)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The lazy tokens [draws] of some draws, whether each is `certain`, None for all of them, and the rules' `runs`."""

    draws: Draws
    tokens: mx.array
    certain: mx.array | None
    runs: Sequence[RuleRun]


class Sampling:
    """The draws and probes of one step over `logits` [rows, vocabulary] float32 and, for hidden states, `hidden`
    [rows, width].

    `reads` gives the row of each, context by context. `inputs` are the tokens that the rows compute, an array int32
    [rows] where they are still being drawn; rules and penalties read them. `states` has those that a rule's step before
    leaves, by the place of its context; `scores` are page scores, for each context that reads them. Evaluate `outputs`
    together with the pool, then `collect`.
    """

    def __init__(
        self,
        logits: mx.array,
        reads: Reads,
        hidden: mx.array | None = None,
        inputs: Sequence[int] | mx.array = (),
        states: Mapping[int, StateRow] | None = None,
        scores: Sequence[mx.array] = (),
    ) -> None:
        self._logits, self._reads, self._inputs, self._hidden = logits, reads, inputs, hidden
        self._tokens: list[int] = []
        self._last: list[int | None] = []
        self._logprobs: list[float] = []
        self._redrawn: set[int] = set()
        self._watched: dict[int, LogitsRequest] = {}
        self._states: dict[int, StateRow] = {}
        self._follows: dict[int, int] = {}
        self._gangs = gangs_of(reads) if any([read.gang for own in reads for _, read in own]) else {}
        self._rounds = [_Round()]
        asked: list[tuple[int, Probe]] = []
        for place, own in enumerate(reads):
            before = len(self._tokens)
            self._carried: list[int] = []
            for row, read in own:
                if isinstance(read.read, Sampler):
                    self._add(row, read, read.read, None if states is None else states.get(place))
                elif not isinstance(read.read, SharedDraw):
                    asked.append((row, read.read))
            self._last.append(len(self._tokens) - 1 if len(self._tokens) > before else None)
        for gang in self._gangs.values():
            for place in gang.followers:
                self._last[place] = self._last[gang.first]
        self._groups = [group for one in self._rounds for group in self._build(one)]
        self._scored = self._scores()
        self._likely = self._likely_tokens() if self._watched else []
        self._probing = Probing(logits, asked, hidden, scores) if asked else None
        # A sum is finite iff no entry is NaN or +inf; -inf alone is a masked vocabulary entry of the model.
        # Where only hidden states are read, the head is not computed.
        reads_states = not self._tokens and all([isinstance(probe, HiddenState | HiddenMean) for _, probe in asked])
        checked = logits if hidden is None or not reads_states else hidden.astype(mx.float32)
        self._sums = mx.sum(checked, axis=-1)
        probes = () if self._probing is None else self._probing.outputs
        likely = [array for _, arrays in self._likely for array in arrays]
        drawn = [group.tokens for group in self._groups]
        drawn += [group.certain for group in self._groups if group.certain is not None]
        drawn += [run.failed for group in self._groups for run in group.runs]
        carried = [state.values for state in self._states.values()]
        self.outputs = [self._sums, *drawn, *carried, *[scores for _, scores in self._scored], *likely, *probes]
        """Everything that must be evaluated before `collect`."""

    @property
    def leaves_states(self) -> bool:
        """Whether a draw leaves something for the next one."""
        return bool(self._states)

    def last_tokens(self, contexts: Sequence[int]) -> mx.array:
        """The token that each of `contexts`, by place, draws last, int32 [contexts], before it is known. Each draws at
        least one."""
        groups = self._groups
        drawn = groups[0].tokens if len(groups) == 1 else mx.concatenate([group.tokens for group in groups])
        known = [place for group in groups for place in group.draws.places]
        wanted = [last for context in contexts if (last := self._last[context]) is not None]
        if wanted != known:
            index = {place: index for index, place in enumerate(known)}
            drawn = drawn[integers([index[place] for place in wanted])]
        return drawn.astype(mx.int32)

    def last_states(self, contexts: Sequence[int]) -> dict[int, StateRow]:
        """The states that the last draw of each of `contexts` leaves, by its place among them, before they are known;
        those without states are left out."""
        last = [self._last[context] for context in contexts]
        return {index: self._states[place] for index, place in enumerate(last) if place in self._states}

    def keeps_last(self, context: int) -> bool:
        """Once collected: whether `last_tokens` has the token that was drawn in the end."""
        return self._last[context] not in self._redrawn

    def collect(self) -> list[EntryResult]:
        """The results of every context, in order. Evaluates again only for rows that kept too many tokens."""
        for group in self._groups:
            self._place(group.draws.places, group.tokens)
            if group.certain is not None:
                self._draw_again(group.draws, group.certain)
        for places, scores in self._scored:
            self._place_scores(places, scores)
        for draws, arrays in self._likely:
            self._tell(draws, arrays)
        probed, place = iter(() if self._probing is None else self._probing.collect()), 0
        results: list[EntryResult] = []
        for own in self._reads:
            values: list[AnyResult] = []
            for _, read in own:
                if isinstance(read.read, Sampler):
                    drawn = slice(place, place := place + read.read.draws)
                    scores = self._logprobs[drawn] if read.read.scores else []
                    states, ended = ([], False) if read.read.rule is None else self._left_after(drawn, read.read)
                    values.append(SampledTokens(self._tokens[drawn], scores, states, ended))
                elif not isinstance(read.read, SharedDraw):
                    values.append(next(probed))
            results.append(values)
        sums = host_view(self._sums)
        broken = np.isnan(sums) | (sums == np.inf)
        results = self._without_broken(results, broken.tolist()) if broken.any() else results
        results = self._without_failed(results) if any([group.runs for group in self._groups]) else results
        for gang in self._gangs.values():
            gang.share(results)
        return results

    def _add(self, row: int, read: LogitsRequest, sampler: Sampler, before: StateRow | None) -> None:
        carries = sampler.rule is not None and sampler.carries_states
        kind = self._round() if carries else self._rounds[0]
        group = kind.largest if sampler.is_argmax else kind.ordered if needs_order(sampler) else kind.whole
        for draw in range(sampler.draws):
            number = 0.0 if group is kind.largest else uniform(read.stream, read.counter, draw)
            place = len(self._tokens)
            if read.watch is not None and not draw:  # of several draws at one input the first
                self._watched[place] = read
            rule = None if sampler.rule is None else self._ruled(row, read, sampler, before)
            if carries:
                if self._carried:
                    self._follows[place] = self._carried[-1]
                self._carried.append(place)
            group.add(row, sampler, number, read.mask, read.counts, place, rule)
            self._tokens.append(-1)
            self._logprobs.append(math.nan)

    def _round(self) -> _Round:
        """Where the next draw of a context that carries states belongs: after those whose states it needs."""
        number = len(self._carried)
        while len(self._rounds) <= number:
            self._rounds.append(_Round())
        return self._rounds[number]

    def _ruled(self, row: int, read: LogitsRequest, sampler: Sampler, before: StateRow | None) -> RuledRow | None:
        if sampler.rule is None:
            return None
        inputs = self._inputs
        previous = inputs[row] if not isinstance(inputs, mx.array) and row < len(inputs) else 0
        others = self._gangs[read.gang].rows if read.gang else ()
        random = uniform(read.stream, read.counter, MOST_DRAWS) if reads_random(sampler.rule.code) else 0.0
        return RuledRow(sampler.rule, previous, random, before, others, row)

    def _build(self, one: _Round) -> Iterator[_Drawn]:
        """The draws of a round; the states that they leave are there for the next one."""
        last = self._inputs if isinstance(self._inputs, mx.array) else None
        for draws in (one.largest, one.whole, one.ordered):
            if draws.rows:
                if self._follows:
                    self._follow(draws)
                rows, runs = prepared(draws, self._logits, last, self._hidden)
                certain = None
                if draws is one.largest:
                    tokens = argmax(rows)
                elif draws is one.whole:
                    tokens = from_whole_row(rows, draws)
                else:
                    # What depends on a draw must not see it drawn again.
                    seen = any([run.graph.sees_draws for run in runs])
                    tokens, certain = from_most_likely(rows, draws, rows.shape[-1] if seen else CANDIDATES)
                if runs:
                    self._leave_states(draws, tokens, runs)
                yield _Drawn(draws, tokens, certain, runs)

    def _follow(self, draws: Draws) -> None:
        """Give draws the states that earlier draws of this step leave."""
        for index, place in enumerate(draws.places):
            rule = draws.rules[index]
            if rule is not None and place in self._follows:
                draws.rules[index] = rule._replace(before=self._states[self._follows[place]])

    def _leave_states(self, draws: Draws, tokens: mx.array, runs: Sequence[RuleRun]) -> None:
        for run in runs:
            if run.leaves:
                everything = len(run.indices) == len(draws.rows)
                values = run.left_after(tokens if everything else tokens[integers(run.indices)])
                for row, index in enumerate(run.indices):
                    self._states[draws.places[index]] = StateRow(values, row)

    def _left_after(self, drawn: slice, sampler: Sampler) -> tuple[list[list[float]], bool]:
        """The states that these draws leave, and whether the text ends with one of them."""
        found = [self._states[place] for place in range(drawn.start, drawn.stop) if place in self._states]
        left: list[list[float]] = [host_view(state.values)[state.row].tolist() for state in found]
        if not sampler.ends_text:
            return left, False
        ended = any([values[-1] > 0 for values in left])
        return ([values[:-1] for values in left] if sampler.carries_states else []), ended

    def _scores(self) -> list[tuple[Sequence[int], mx.array]]:
        """The places of the draws that are scored, and their log-probabilities, by group."""
        scored: list[tuple[Sequence[int], mx.array]] = []
        for group in self._groups:
            draws, tokens = group.draws, group.tokens
            wanted = [index for index, sampler in enumerate(draws.samplers) if sampler.scores]
            if wanted:
                drawn = tokens if len(wanted) == len(draws.rows) else tokens[integers(wanted)]
                rows = [draws.rows[index] for index in wanted]
                scored.append(([draws.places[index] for index in wanted], drawn_logprobs(self._logits, rows, drawn)))
        return scored

    def _likely_tokens(self) -> list[tuple[Draws, tuple[mx.array, mx.array]]]:
        """The draws that somebody watches, and their most likely tokens, by group."""
        likely: list[tuple[Draws, tuple[mx.array, mx.array]]] = []
        for group in self._groups:
            wanted = [index for index, place in enumerate(group.draws.places) if place in self._watched]
            if wanted:
                draws, drawn = group.draws.some(wanted), group.tokens[integers(wanted)]
                likely.append((draws, likely_logprobs(self._logits, draws.rows, drawn, LIKELY)))
        return likely

    def _tell(self, draws: Draws, arrays: tuple[mx.array, mx.array]) -> None:
        """Tell the watches of `draws` what is known of them."""
        if not self._redrawn.isdisjoint(draws.places):
            drawn = integers([self._tokens[place] for place in draws.places])
            arrays = likely_logprobs(self._logits, draws.rows, drawn, LIKELY)
        ids, logprobs = (host_view(array).tolist() for array in arrays)
        for place, (token, *others), (logprob, *values) in zip(draws.places, ids, logprobs, strict=True):
            read = self._watched[place]
            if read.watch is not None:
                likely = sorted(zip(others, values, strict=True), key=lambda pair: (-pair[1], pair[0]))
                allowed = 0 if read.mask is None else int(np.bitwise_count(read.mask).sum())
                read.watch.add(read.counter, WatchedDraw(token, logprob, tuple(likely), allowed))

    def _place(self, places: Sequence[int], tokens: mx.array) -> None:
        for place, token in zip(places, host_view(tokens).tolist(), strict=True):
            self._tokens[place] = token

    def _place_scores(self, places: Sequence[int], scores: mx.array) -> None:
        """Except for draws that were repeated, which have their scores."""
        for place, score in zip(places, host_view(scores).tolist(), strict=True):
            if place not in self._redrawn:
                self._logprobs[place] = score

    def _draw_again(self, ordered: Draws, certain: mx.array) -> None:
        again = [index for index, sure in enumerate(host_view(certain).tolist()) if not sure]
        if again:
            draws = ordered.some(again)
            last = self._inputs if isinstance(self._inputs, mx.array) else None
            rows, _ = prepared(draws, self._logits, last, self._hidden)
            tokens, _ = from_most_likely(rows, draws, rows.shape[-1])
            self._place(draws.places, tokens)
            if any(sampler.scores for sampler in draws.samplers):
                self._place_scores(draws.places, drawn_logprobs(self._logits, draws.rows, tokens))
            self._redrawn.update(draws.places)

    def _without_broken(self, results: list[EntryResult], broken: Sequence[bool]) -> list[EntryResult]:
        return [
            _not_numbers() if any(broken[row] for row, _ in own) else result
            for own, result in zip(self._reads, results, strict=True)
        ]

    def _without_failed(self, results: list[EntryResult]) -> list[EntryResult]:
        """An error for each context in which a rule answered something that is no number."""
        failed: dict[int, BatchFailedError] = {}
        for group in self._groups:
            for run in group.runs:
                for row in np.flatnonzero(host_view(run.failed)).tolist():
                    failed[group.draws.places[run.indices[row]]] = _failed_rule(run, row)
        if failed:
            places = iter(range(len(self._tokens)))
            for context, own in enumerate(self._reads):
                for _, read in own:
                    for _draw in range(read.read.draws if isinstance(read.read, Sampler) else 0):
                        results[context] = failed.get(next(places), results[context])
        return results


def _failed_rule(run: RuleRun, row: int) -> BatchFailedError:
    return BatchFailedError(
        f"rule {run.graph.name}: line {run.failed_line(row)}: the result is no number",
        hint="keep divisors and the arguments of log and square root above 0, and exponents small",
        cause="rule",
    )


def _not_numbers() -> BatchFailedError:
    return BatchFailedError(
        "forward: the model gave logits that are not numbers",
        hint="check the weights and the activation dtype (float16 overflows in some models)",
        cause="non-finite logits",
    )


def prepared(
    draws: Draws, logits: mx.array, last: mx.array | None = None, hidden: mx.array | None = None
) -> tuple[mx.array, list[RuleRun]]:
    """The rows that the tokens are drawn from [draws, vocabulary], penalised, changed by rules and masked, of
    `logits` [rows, vocabulary]; and the runs of their rules.

    `last` [rows] int32 is what each row computes, where that is still being drawn; `hidden` [rows, width] has the
    hidden states, which rules may read.
    """
    step = logits
    if draws.rows != list(range(logits.shape[0])):
        rows = integers(draws.rows)
        logits, last = logits[rows], None if last is None else last[rows]
    if draws.counts.count(None) < len(draws.counts) or any([sampler.logit_bias for sampler in draws.samplers]):
        logits = penalized(logits, draws.samplers, draws.counts, last)
    masked = apply_masks(logits, draws.masks)
    if draws.rules.count(None) == len(draws.rules):
        return masked, []
    changed, runs = run_rules(masked, draws.rules, draws.counts, last, step, hidden)
    return _forbidden_again(changed, masked, draws.masks), runs


def _forbidden_again(changed: mx.array, masked: mx.array, masks: Sequence[PackedMask | None]) -> mx.array:
    """`changed` [rows, vocabulary] with -inf where `masked` has it, in rows that have a mask: no bit is read again."""
    rows = [row for row, mask in enumerate(masks) if mask is not None]
    if len(rows) == len(masks):
        return mx.minimum(changed, masked + _ABOVE_LOGITS)
    if rows:
        places = integers(rows)
        changed = changed + 0  # rules gave rows to others as they are
        changed[places] = mx.minimum(changed[places], masked[places] + _ABOVE_LOGITS)
    return changed


def apply_masks(logits: mx.array, masks: Sequence[PackedMask | None]) -> mx.array:
    """`logits` [rows, vocabulary] with forbidden tokens at -inf; rows whose mask is None are not touched."""
    present = [mask for mask in masks if mask is not None]
    if not present:
        return logits
    forbid = current_backend().forbid
    if len(present) == len(masks):
        return forbid(logits, np.array(present))
    rows = mx.array([row for row, mask in enumerate(masks) if mask is not None])
    logits = logits + 0  # the caller's rows stay as they are: probes read them unmasked
    logits[rows] = forbid(logits[rows], np.array(present))
    return logits


def argmax(rows: mx.array) -> mx.array:
    """The largest logit of each of the prepared rows [draws, vocabulary], ties to the lowest id; [draws] uint32."""
    return mx.argmax(rows, axis=-1)

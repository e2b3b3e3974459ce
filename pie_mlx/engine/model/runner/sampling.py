"""From one step's logits to what its contexts asked for: a lazy graph first, host values after one evaluation.

Draws are MLX operations in which every row has its own temperature, filters and random number (L1, L2, L6). A row's
result depends on its own logits and parameters only. Rows are grouped by what they need: the largest logit; one running
sum over the vocabulary; or the most likely tokens in order. `last` [rows of logits] int32 is what each row computes,
where that is still being drawn: the counts of its text do not have it yet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.calls import AnyResult, HiddenMean, HiddenState, Probe, SampledTokens, Sampler
from pie_mlx.engine.model.runner.batch import EntryResult, LogitsRequest, PackedMask, Reads
from pie_mlx.engine.model.runner.penalties import penalized
from pie_mlx.engine.model.runner.probing import Probing, drawn_logprobs, likely_logprobs
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.engine.model.runner.token_counts import TokenCounts
from pie_mlx.engine.model.runner.token_watch import LIKELY, WatchedDraw
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.arrays import host_view, integers

CANDIDATES = 256
"""Most likely tokens that filtered rows look at first; rows that keep more are sorted whole."""


@dataclass(slots=True)
class Draws:
    """Tokens to draw, by columns: each from one of the `rows` of the logits with a random number, of `uniforms`, in
    [0, 1). `counts` are those of the text before it, for a sampler with penalties. `places` are those among all draws
    of a step."""

    rows: list[int] = field(default_factory=list[int])
    samplers: list[Sampler] = field(default_factory=list[Sampler])
    uniforms: list[float] = field(default_factory=list[float])
    masks: list[PackedMask | None] = field(default_factory=list[PackedMask | None])
    counts: list[TokenCounts | None] = field(default_factory=list[TokenCounts | None])
    places: list[int] = field(default_factory=list[int])

    def add(
        self,
        row: int,
        sampler: Sampler,
        uniform: float,
        mask: PackedMask | None = None,
        counts: TokenCounts | None = None,
        place: int = 0,
    ) -> None:
        """One token more."""
        self.rows.append(row)
        self.samplers.append(sampler)
        self.uniforms.append(uniform)
        self.masks.append(mask)
        self.counts.append(counts)
        self.places.append(place)

    def some(self, indices: Sequence[int]) -> "Draws":
        """Those at `indices`, in this order."""
        columns = self.rows, self.samplers, self.uniforms, self.masks, self.counts, self.places
        draws, found = list(zip(*columns, strict=True)), Draws()
        for index in indices:
            found.add(*draws[index])
        return found


class Sampling:
    """The draws and probes of one step over `logits` [rows, vocabulary] float32 and, for hidden states, `hidden`
    [rows, width].

    `reads` gives the row of each, context by context; `last` what each row computes, where that is still being drawn,
    int32 [rows]. Evaluate `outputs` together with the pool, then `collect`.
    """

    def __init__(
        self, logits: mx.array, reads: Reads, hidden: mx.array | None = None, last: mx.array | None = None
    ) -> None:
        self._logits, self._reads, self._last_inputs = logits, reads, last
        self._tokens: list[int] = []
        self._last: list[int | None] = []
        self._logprobs: list[float] = []
        self._redrawn: set[int] = set()
        self._watched: dict[int, LogitsRequest] = {}
        self._largest, self._whole, self._ordered = Draws(), Draws(), Draws()
        asked: list[tuple[int, Probe]] = []
        for own in reads:
            before = len(self._tokens)
            for row, read in own:
                if isinstance(read.read, Sampler):
                    self._add(row, read, read.read)
                else:
                    asked.append((row, read.read))
            self._last.append(len(self._tokens) - 1 if len(self._tokens) > before else None)
        # Those that draw, in the order of their tokens in the graph.
        self._groups = [group for group in (self._largest, self._whole, self._ordered) if group.rows]
        self._graph = self._build()
        self._scored = self._scores()
        self._likely = self._likely_tokens() if self._watched else []
        self._probing = Probing(logits, asked, hidden) if asked else None
        # A sum is finite iff no entry is NaN or +inf; -inf alone is a masked vocabulary entry of the model.
        # Where only hidden states are read, the head is not computed.
        reads_states = not self._tokens and all([isinstance(probe, HiddenState | HiddenMean) for _, probe in asked])
        checked = logits if hidden is None or not reads_states else hidden.astype(mx.float32)
        self._sums = mx.sum(checked, axis=-1)
        probes = () if self._probing is None else self._probing.outputs
        likely = [array for _, arrays in self._likely for array in arrays]
        self.outputs = [self._sums, *self._graph, *[scores for _, scores in self._scored], *likely, *probes]
        """Everything that must be evaluated before `collect`."""

    def last_tokens(self, contexts: Sequence[int]) -> mx.array:
        """The token that each of `contexts`, by place, draws last, int32 [contexts], before it is known. Each draws at
        least one."""
        groups = self._groups
        drawn = self._graph[0] if len(groups) == 1 else mx.concatenate(self._graph[: len(groups)])
        known = [place for group in groups for place in group.places]
        wanted = [last for context in contexts if (last := self._last[context]) is not None]
        if wanted != known:
            index = {place: index for index, place in enumerate(known)}
            drawn = drawn[integers([index[place] for place in wanted])]
        return drawn.astype(mx.int32)

    def keeps_last(self, context: int) -> bool:
        """Once collected: whether `last_tokens` has the token that was drawn in the end."""
        return self._last[context] not in self._redrawn

    def collect(self) -> list[EntryResult]:
        """The results of every context, in order. Evaluates again only for rows that kept too many tokens."""
        for group, tokens in zip(self._groups, self._graph, strict=False):
            self._place(group.places, tokens)
        if self._ordered.rows:
            self._draw_again(self._graph[-1])
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
                    values.append(SampledTokens(self._tokens[drawn], self._logprobs[drawn] if read.read.scores else []))
                else:
                    values.append(next(probed))
            results.append(values)
        sums = host_view(self._sums)
        broken = np.isnan(sums) | (sums == np.inf)
        return self._without_broken(results, broken.tolist()) if broken.any() else results

    def _add(self, row: int, read: LogitsRequest, sampler: Sampler) -> None:
        group = self._ordered if needs_order(sampler) else self._whole
        if sampler.is_argmax:
            group = self._largest
        for draw in range(sampler.draws):
            number = 0.0 if group is self._largest else uniform(read.stream, read.counter, draw)
            if read.watch is not None and not draw:  # of several draws at one input the first
                self._watched[len(self._tokens)] = read
            group.add(row, sampler, number, read.mask, read.counts, len(self._tokens))
            self._tokens.append(-1)
            self._logprobs.append(math.nan)

    def _build(self) -> list[mx.array]:
        graph: list[mx.array] = []
        logits, last = self._logits, self._last_inputs
        if self._largest.rows:
            graph.append(argmax(logits, self._largest, last))
        if self._whole.rows:
            graph.append(from_whole_row(logits, self._whole, last))
        if self._ordered.rows:
            graph += from_most_likely(logits, self._ordered, CANDIDATES, last)
        return graph

    def _scores(self) -> list[tuple[Sequence[int], mx.array]]:
        """The places of the draws that are scored, and their log-probabilities, by group."""
        scored: list[tuple[Sequence[int], mx.array]] = []
        for group, tokens in zip(self._groups, self._graph, strict=False):
            wanted = [index for index, sampler in enumerate(group.samplers) if sampler.scores]
            if wanted:
                drawn = tokens if len(wanted) == len(group.rows) else tokens[integers(wanted)]
                rows = [group.rows[index] for index in wanted]
                scored.append(([group.places[index] for index in wanted], drawn_logprobs(self._logits, rows, drawn)))
        return scored

    def _likely_tokens(self) -> list[tuple[Draws, tuple[mx.array, mx.array]]]:
        """The draws that somebody watches, and their most likely tokens, by group."""
        likely: list[tuple[Draws, tuple[mx.array, mx.array]]] = []
        for group, tokens in zip(self._groups, self._graph, strict=False):
            wanted = [index for index, place in enumerate(group.places) if place in self._watched]
            if wanted:
                draws, drawn = group.some(wanted), tokens[integers(wanted)]
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

    def _draw_again(self, certain: mx.array) -> None:
        again = [index for index, sure in enumerate(host_view(certain).tolist()) if not sure]
        if again:
            draws = self._ordered.some(again)
            tokens, _ = from_most_likely(self._logits, draws, self._logits.shape[-1], self._last_inputs)
            self._place(draws.places, tokens)
            if any(sampler.scores for sampler in draws.samplers):
                self._place_scores(draws.places, drawn_logprobs(self._logits, draws.rows, tokens))
            self._redrawn.update(draws.places)

    def _without_broken(self, results: list[EntryResult], broken: Sequence[bool]) -> list[EntryResult]:
        return [
            _not_numbers() if any(broken[row] for row, _ in own) else result
            for own, result in zip(self._reads, results, strict=True)
        ]


def _not_numbers() -> BatchFailedError:
    return BatchFailedError(
        "forward: the model gave logits that are not numbers",
        hint="check the weights and the activation dtype (float16 overflows in some models)",
        cause="non-finite logits",
    )


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


def _column(values: Sequence[float]) -> mx.array:
    return mx.array(list(values), dtype=mx.float32)[:, None]


def _rows(logits: mx.array, draws: Draws, last: mx.array | None) -> mx.array:
    """The drawn rows [draws, vocabulary], penalised and masked."""
    if draws.rows != list(range(logits.shape[0])):
        rows = integers(draws.rows)
        logits, last = logits[rows], None if last is None else last[rows]
    if draws.counts.count(None) < len(draws.counts) or any([sampler.logit_bias for sampler in draws.samplers]):
        logits = penalized(logits, draws.samplers, draws.counts, last)
    return apply_masks(logits, draws.masks)


def _mass(logits: mx.array, draws: Draws, last: mx.array | None) -> mx.array:
    """In proportion to the probabilities of each row, [draws, vocabulary]."""
    temperature = _column([sampler.temperature for sampler in draws.samplers])
    return current_backend().likelihoods(_rows(logits, draws, last), temperature)


def _first_above(mass: mx.array, draws: Draws) -> mx.array:
    """Index of the first entry whose running sum exceeds uniform × total, [draws, 1].

    A GPU sums in parallel: where the mass is zero its running sum may still rise by a rounding error. A draw that ends
    there, on a forbidden token, takes the largest entry instead.
    """
    running = mx.cumsum(mass, axis=-1)
    target = _column(draws.uniforms) * running[:, -1:]
    # A sum that falls at its end can pass the target nowhere.
    first = mx.minimum(mx.sum(running <= target, axis=-1, keepdims=True), mass.shape[-1] - 1)
    return mx.where(mx.take_along_axis(mass, first, axis=-1) > 0, first, mx.argmax(mass, axis=-1, keepdims=True))


def argmax(logits: mx.array, draws: Draws, last: mx.array | None = None) -> mx.array:
    """The largest logit of each drawn row, ties to the lowest id; [draws] uint32."""
    return mx.argmax(_rows(logits, draws, last), axis=-1)


def from_whole_row(logits: mx.array, draws: Draws, last: mx.array | None = None) -> mx.array:
    """Draws that need no order: the whole row, or what is likely enough against its maximum; [draws] uint32."""
    mass = _mass(logits, draws, last)
    if any(sampler.min_probability for sampler in draws.samplers):
        min_p = _column([sampler.min_probability for sampler in draws.samplers])
        mass = mx.where(mass >= min_p * mx.max(mass, axis=-1, keepdims=True), mass, 0)
    return _first_above(mass, draws)[:, 0].astype(mx.uint32)


def from_most_likely(
    logits: mx.array, draws: Draws, candidates: int, last: mx.array | None = None
) -> tuple[mx.array, mx.array]:
    """Draws filtered by rank or mass, seen among the `candidates` most likely tokens.

    Answers tokens [draws] uint32 and whether each is certain [draws] bool: false where the kept tokens may reach
    beyond the candidates, so that the row must be drawn again among more of them.
    """
    mass = _mass(logits, draws, last)
    probabilities = mass / mx.sum(mass, axis=-1, keepdims=True)
    vocabulary = probabilities.shape[-1]
    count = min(candidates, vocabulary)
    if count < vocabulary:
        # Ascending ids before a stable sort: equal probabilities rank by id.
        ids = mx.sort(mx.argpartition(-probabilities, count - 1, axis=-1)[:, :count], axis=-1)
        found = mx.take_along_axis(probabilities, ids, axis=-1)
    else:
        ids, found = mx.broadcast_to(mx.arange(vocabulary), probabilities.shape), probabilities
    order = mx.argsort(-found, axis=-1)
    falling = mx.take_along_axis(found, order, axis=-1)
    keep = _kept(falling, draws)
    chosen = _first_above(mx.where(keep, falling, 0), draws)
    tokens = mx.take_along_axis(ids, mx.take_along_axis(order, chosen, axis=-1), axis=-1)[:, 0]
    least = mx.take_along_axis(falling, mx.sum(keep, axis=-1, keepdims=True) - 1, axis=-1)
    certain = least[:, 0] > falling[:, -1] if count < vocabulary else mx.ones(len(draws.rows), dtype=mx.bool_)
    return tokens.astype(mx.uint32), certain


def _kept(falling: mx.array, draws: Draws) -> mx.array:
    """Which of the sorted probabilities every filter of the row keeps (L1), [draws, candidates] bool."""
    rank = mx.arange(falling.shape[-1])[None]
    most = np.iinfo(np.int32).max
    k = integers([min(sampler.k or most, most) for sampler in draws.samplers])[:, None]
    before = mx.cumsum(falling, axis=-1) - falling
    enough = before < _column([sampler.p for sampler in draws.samplers])
    # p = 1 keeps everything: rounding must not let the running sum reach 1 early.
    whole = mx.array([sampler.p >= 1.0 for sampler in draws.samplers])[:, None]
    likely = falling >= _column([sampler.min_probability for sampler in draws.samplers]) * falling[:, :1]
    return ((rank < k) & (enough | whole) & likely & (falling > 0)) | (rank == 0)


def needs_order(sampler: Sampler) -> bool:
    """Whether the sampler filters by rank or mass."""
    return sampler.k > 0 or sampler.p < 1.0

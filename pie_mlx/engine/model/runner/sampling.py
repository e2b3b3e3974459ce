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
from pie_mlx.engine.model.runner.probing import Probing, drawn_logprobs
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.engine.model.runner.token_counts import TokenCounts
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.arrays import host_view, integers

CANDIDATES = 256
"""Most likely tokens that filtered rows look at first; rows that keep more are sorted whole."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One token to draw from row `row` of the logits with the random number `uniform` in [0, 1); `counts` are those of
    the text before it, for a sampler with penalties."""

    row: int
    sampler: Sampler
    uniform: float
    mask: PackedMask | None = None
    counts: TokenCounts | None = None


@dataclass(slots=True)
class _Group:
    """Draws of one kind, and their places among all draws."""

    draws: list[Draw] = field(default_factory=list[Draw])
    places: list[int] = field(default_factory=list[int])


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
        self._largest, self._whole, self._ordered = _Group(), _Group(), _Group()
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
        self._groups = [group for group in (self._largest, self._whole, self._ordered) if group.draws]
        self._graph = self._build()
        self._scored = self._scores()
        self._probing = Probing(logits, asked, hidden) if asked else None
        # A sum is finite iff no entry is NaN or +inf; -inf alone is a masked vocabulary entry of the model.
        # Where only hidden states are read, the head is not computed.
        reads_states = not self._tokens and all([isinstance(probe, HiddenState | HiddenMean) for _, probe in asked])
        checked = logits if hidden is None or not reads_states else hidden.astype(mx.float32)
        self._sums = mx.sum(checked, axis=-1)
        probes = () if self._probing is None else self._probing.outputs
        self.outputs = [self._sums, *self._graph, *[scores for _, scores in self._scored], *probes]
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
        if self._ordered.draws:
            self._draw_again(self._graph[-1])
        for places, scores in self._scored:
            self._place_scores(places, scores)
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
            group.draws.append(Draw(row, sampler, number, read.mask, read.counts))
            group.places.append(len(self._tokens))
            self._tokens.append(-1)
            self._logprobs.append(math.nan)

    def _build(self) -> list[mx.array]:
        graph: list[mx.array] = []
        logits, last = self._logits, self._last_inputs
        if self._largest.draws:
            graph.append(argmax(logits, self._largest.draws, last))
        if self._whole.draws:
            graph.append(from_whole_row(logits, self._whole.draws, last))
        if self._ordered.draws:
            graph += from_most_likely(logits, self._ordered.draws, CANDIDATES, last)
        return graph

    def _scores(self) -> list[tuple[Sequence[int], mx.array]]:
        """The places of the draws that are scored, and their log-probabilities, by group."""
        scored: list[tuple[Sequence[int], mx.array]] = []
        for group, tokens in zip(self._groups, self._graph, strict=False):
            wanted = [index for index, draw in enumerate(group.draws) if draw.sampler.scores]
            if wanted:
                drawn = tokens if len(wanted) == len(group.draws) else tokens[integers(wanted)]
                rows = [group.draws[index].row for index in wanted]
                scored.append(([group.places[index] for index in wanted], drawn_logprobs(self._logits, rows, drawn)))
        return scored

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
            draws = [self._ordered.draws[index] for index in again]
            tokens, _ = from_most_likely(self._logits, draws, self._logits.shape[-1], self._last_inputs)
            places = [self._ordered.places[index] for index in again]
            self._place(places, tokens)
            if any(draw.sampler.scores for draw in draws):
                self._place_scores(places, drawn_logprobs(self._logits, [draw.row for draw in draws], tokens))
            self._redrawn.update(places)

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


def _rows(logits: mx.array, draws: Sequence[Draw], last: mx.array | None) -> mx.array:
    """The drawn rows [draws, vocabulary], penalised and masked."""
    wanted = [draw.row for draw in draws]
    if wanted != list(range(logits.shape[0])):
        rows = integers(wanted)
        logits, last = logits[rows], None if last is None else last[rows]
    if any([draw.counts is not None or draw.sampler.logit_bias for draw in draws]):
        logits = penalized(logits, [draw.sampler for draw in draws], [draw.counts for draw in draws], last)
    return apply_masks(logits, [draw.mask for draw in draws])


def _mass(logits: mx.array, draws: Sequence[Draw], last: mx.array | None) -> mx.array:
    """In proportion to the probabilities of each row, [draws, vocabulary]."""
    temperature = _column([draw.sampler.temperature for draw in draws])
    return current_backend().likelihoods(_rows(logits, draws, last), temperature)


def _first_above(mass: mx.array, draws: Sequence[Draw]) -> mx.array:
    """Index of the first entry whose running sum exceeds uniform × total, [draws, 1].

    A GPU sums in parallel: where the mass is zero its running sum may still rise by a rounding error. A draw that ends
    there, on a forbidden token, takes the largest entry instead.
    """
    running = mx.cumsum(mass, axis=-1)
    target = _column([draw.uniform for draw in draws]) * running[:, -1:]
    # A sum that falls at its end can pass the target nowhere.
    first = mx.minimum(mx.sum(running <= target, axis=-1, keepdims=True), mass.shape[-1] - 1)
    return mx.where(mx.take_along_axis(mass, first, axis=-1) > 0, first, mx.argmax(mass, axis=-1, keepdims=True))


def argmax(logits: mx.array, draws: Sequence[Draw], last: mx.array | None = None) -> mx.array:
    """The largest logit of each drawn row, ties to the lowest id; [draws] uint32."""
    return mx.argmax(_rows(logits, draws, last), axis=-1)


def from_whole_row(logits: mx.array, draws: Sequence[Draw], last: mx.array | None = None) -> mx.array:
    """Draws that need no order: the whole row, or what is likely enough against its maximum; [draws] uint32."""
    mass = _mass(logits, draws, last)
    if any(draw.sampler.min_probability for draw in draws):
        min_p = _column([draw.sampler.min_probability for draw in draws])
        mass = mx.where(mass >= min_p * mx.max(mass, axis=-1, keepdims=True), mass, 0)
    return _first_above(mass, draws)[:, 0].astype(mx.uint32)


def from_most_likely(
    logits: mx.array, draws: Sequence[Draw], candidates: int, last: mx.array | None = None
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
    certain = least[:, 0] > falling[:, -1] if count < vocabulary else mx.ones(len(draws), dtype=mx.bool_)
    return tokens.astype(mx.uint32), certain


def _kept(falling: mx.array, draws: Sequence[Draw]) -> mx.array:
    """Which of the sorted probabilities every filter of the row keeps (L1), [draws, candidates] bool."""
    rank = mx.arange(falling.shape[-1])[None]
    most = np.iinfo(np.int32).max
    k = integers([min(draw.sampler.k or most, most) for draw in draws])[:, None]
    before = mx.cumsum(falling, axis=-1) - falling
    enough = before < _column([draw.sampler.p for draw in draws])
    # p = 1 keeps everything: rounding must not let the running sum reach 1 early.
    whole = mx.array([draw.sampler.p >= 1.0 for draw in draws])[:, None]
    likely = falling >= _column([draw.sampler.min_probability for draw in draws]) * falling[:, :1]
    return ((rank < k) & (enough | whole) & likely & (falling > 0)) | (rank == 0)


def needs_order(sampler: Sampler) -> bool:
    """Whether the sampler filters by rank or mass."""
    return sampler.k > 0 or sampler.p < 1.0

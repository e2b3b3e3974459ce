"""From one batch's logits to what its works asked for: a lazy graph first, host values after one evaluation."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import mlx.core as mx

from pie_mlx.calls import AnyResult, SampledTokens, Sampler
from pie_mlx.engine.model.runner import sampling
from pie_mlx.engine.model.runner.batch import LogitsRequest, WorkResult
from pie_mlx.engine.model.runner.probing import HostValues, Probe, Probing, drawn_logprobs, host_values
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.engine.model.runner.sampling import Draw
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.arrays import integers


@dataclass(slots=True)
class Drawn:
    """Draws of one kind, and their tokens once the graph is evaluated."""

    draws: list[Draw] = field(default_factory=list[Draw])
    places: list[int] = field(default_factory=list[int])

    def add(self, draw: Draw, place: int) -> None:
        self.draws.append(draw)
        self.places.append(place)


class Sampling:
    """The readings of one batch over `logits` [rows, vocabulary] float32 and, where asked for, `hidden` [rows, width].

    `rows` gives the logits row of each read, work by work. Evaluate `outputs` together with the pool, then `collect`.
    """

    def __init__(
        self, logits: mx.array, reads: Sequence[Sequence[tuple[int, LogitsRequest]]], hidden: mx.array | None = None
    ) -> None:
        self._logits = logits
        self._reads = reads
        self._tokens: list[int] = []
        self._last: list[int | None] = []
        self._logprobs: list[float] = []
        self._redrawn: set[int] = set()
        self._largest, self._whole, self._ordered = Drawn(), Drawn(), Drawn()
        self._asked: list[tuple[int, Probe]] = []
        # A sum is finite iff no entry is NaN or +inf; -inf alone is a masked vocabulary entry of the model.
        self._sums = mx.sum(logits, axis=-1)
        for work in reads:
            before = len(self._tokens)
            for row, read in work:
                self._plan(row, read)
            self._last.append(len(self._tokens) - 1 if len(self._tokens) > before else None)
        self._graph = self._build()
        self._scored = self._scores()
        self._probing = Probing(logits, self._asked, hidden)

    @property
    def outputs(self) -> list[mx.array]:
        """Everything that must be evaluated before `collect`."""
        return [self._sums, *self._graph, *(scores for _, scores in self._scored), *self._probing.outputs]

    def last_tokens(self, works: Sequence[int]) -> mx.array:
        """The token that each of `works` draws last, int32 [works], before it is known. Each draws at least one."""
        groups = self._groups()
        drawn = self._graph[0] if len(groups) == 1 else mx.concatenate(self._graph[: len(groups)])
        place = {place: index for index, place in enumerate(place for group in groups for place in group.places)}
        wanted = [place[last] for work in works if (last := self._last[work]) is not None]
        return (drawn if wanted == list(range(drawn.shape[0])) else drawn[integers(wanted)]).astype(mx.int32)

    def keeps_last(self, work: int) -> bool:
        """Once collected: whether `last_tokens` told the token that was drawn in the end."""
        return self._last[work] not in self._redrawn

    def _plan(self, row: int, read: LogitsRequest) -> None:
        if not isinstance(read.read, Sampler):
            self._asked.append((row, read.read))
            return
        group = self._group(read.read)
        for draw in range(read.read.draws):
            number = 0.0 if group is self._largest else uniform(read.stream, read.counter, draw)
            group.add(Draw(row, read.read, number, read.mask), len(self._tokens))
            self._tokens.append(-1)
            self._logprobs.append(math.nan)

    def _groups(self) -> list[Drawn]:
        """Those that draw, in the order of their tokens in the graph."""
        return [group for group in (self._largest, self._whole, self._ordered) if group.draws]

    def _group(self, sampler: Sampler) -> Drawn:
        if sampler.is_argmax:
            return self._largest
        return self._ordered if sampling.needs_order(sampler) else self._whole

    def _build(self) -> list[mx.array]:
        graph: list[mx.array] = []
        if self._largest.draws:
            graph.append(sampling.argmax(self._logits, self._largest.draws))
        if self._whole.draws:
            graph.append(sampling.from_whole_row(self._logits, self._whole.draws))
        if self._ordered.draws:
            graph += sampling.from_most_likely(self._logits, self._ordered.draws, sampling.CANDIDATES)
        return graph

    def _scores(self) -> list[tuple[Sequence[int], mx.array]]:
        """The places of the draws that are scored, and their log-probabilities, by group."""
        scored: list[tuple[Sequence[int], mx.array]] = []
        for group, tokens in zip(self._groups(), self._graph, strict=False):
            wanted = [index for index, draw in enumerate(group.draws) if draw.sampler.scores]
            if wanted:
                drawn = tokens if len(wanted) == len(group.draws) else tokens[integers(wanted)]
                rows = [group.draws[index].row for index in wanted]
                scored.append(([group.places[index] for index in wanted], drawn_logprobs(self._logits, rows, drawn)))
        return scored

    def collect(self) -> list[WorkResult]:
        """The results of every work, in order. Evaluates again only for rows that kept too many tokens."""
        graph = iter(self._graph)
        for group in (self._largest, self._whole):
            if group.draws:
                self._place(group.places, next(graph))
        if self._ordered.draws:
            self._place(self._ordered.places, next(graph))
            self._draw_again(host_values(next(graph)))
        for places, scores in self._scored:
            self._place_scores(places, scores)
        sums = host_values(self._sums)
        drawn, probed = iter(zip(self._tokens, self._logprobs, strict=True)), iter(self._probing.collect())
        return [_work_result(work, sums, drawn, probed) for work in self._reads]

    def _place(self, places: Sequence[int], tokens: mx.array) -> None:
        for place, token in zip(places, host_values(tokens).tolist(), strict=True):
            self._tokens[place] = token

    def _place_scores(self, places: Sequence[int], scores: mx.array) -> None:
        """But for those that were drawn again, which have theirs."""
        for place, score in zip(places, host_values(scores).tolist(), strict=True):
            if place not in self._redrawn:
                self._logprobs[place] = score

    def _draw_again(self, certain: HostValues) -> None:
        again = [index for index, sure in enumerate(certain.tolist()) if not sure]
        if again:
            draws = [self._ordered.draws[index] for index in again]
            tokens, _ = sampling.from_most_likely(self._logits, draws, self._logits.shape[-1])
            places = [self._ordered.places[index] for index in again]
            self._place(places, tokens)
            if any(draw.sampler.scores for draw in draws):
                self._place_scores(places, drawn_logprobs(self._logits, [draw.row for draw in draws], tokens))
            self._redrawn.update(places)


def _work_result(
    work: Sequence[tuple[int, LogitsRequest]],
    sums: HostValues,
    drawn: Iterator[tuple[int, float]],
    probed: Iterator[AnyResult],
) -> WorkResult:
    results = [_result(read, drawn, probed) for _, read in work]
    broken = [row for row, _ in work if math.isnan(sums[row]) or sums[row] == math.inf]
    if broken:
        return BatchFailedError(
            "forward: the model gave logits that are not numbers",
            hint="check the weights and the activation dtype (float16 overflows in some models)",
            cause="non-finite logits",
        )
    return results


def _result(read: LogitsRequest, drawn: Iterator[tuple[int, float]], probed: Iterator[AnyResult]) -> AnyResult:
    if not isinstance(read.read, Sampler):
        return next(probed)
    tokens, logprobs = zip(*islice(drawn, read.read.draws), strict=True)
    return SampledTokens(list(tokens), list(logprobs) if read.read.scores else [])

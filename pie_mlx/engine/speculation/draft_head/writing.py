"""Guesses of the draft head for some contexts, on the MLX thread: first it reads, then it guesses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mlx.core as mx

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.heads.chain import ChainBinding
from pie_mlx.engine.model.loaded import HeadModel
from pie_mlx.engine.model.runner.batch import BatchEntry, LogitsRequest, step_input
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.engine.speculation.draft_head.books import Pairs
from pie_mlx.metal.arrays import begin_evaluation, to_host
from pie_mlx.metal.faults import DEVICE_ERRORS

GREEDY = Sampler.argmax()

MANY = 8
"""Pairs of a context of which all but the last are read apart: only their keys and values are computed."""


@dataclass(frozen=True, slots=True)
class HeadRow:
    """A context's part: `pairs` to read after the `first` pairs known, and up to `most` guesses, drawn as `drawn` is.

    `slots` are those of the pairs.
    """

    pairs: Pairs
    first: int
    slots: Sequence[int]
    table: Sequence[int]
    most: int
    drawn: LogitsRequest

    def entry(self, number: int, start: int, stop: int, *, draws: bool) -> BatchEntry:
        """The pairs from `start` to `stop`; `draws` after the last one."""
        return BatchEntry(
            context=number,
            tokens=self.pairs.tokens[start:stop],
            positions=self.pairs.places[start:stop],
            slots=self.slots[start:stop],
            block_table=self.table,
            kv_length=self.first + stop,
            reads=(self.read(stop - start - 1, 0),) if draws else (),
        )

    def read(self, index: int, guess: int) -> LogitsRequest:
        """What is drawn at a row as guess number `guess`. Only the first, 0, is drawn under a mask; later ones are as
        if the guesses before them counted for no penalty."""
        return replace(
            self.drawn,
            index=index,
            counter=self.drawn.counter + guess,
            mask=None if guess else self.drawn.mask,
            watch=None,
        )


def write(head: HeadModel, rows: Sequence[HeadRow]) -> list[list[int]]:
    """The guesses of each context."""
    try:
        return head.model.attempt(lambda: _written(head, rows), lambda: None)
    except DEVICE_ERRORS:
        head.model.recover()
        raise


def _written(head: HeadModel, rows: Sequence[HeadRow]) -> list[list[int]]:
    lasts = [len(row.pairs.places) for row in rows]
    starts = [last - 1 if last > MANY else 0 for last in lasts]
    if any(starts):
        _read(head, rows, [0] * len(rows), starts, draws=False)
        head.model.compute()
    logits = _read(head, rows, starts, lasts, draws=True)
    lengths = [row.first + len(row.pairs.places) for row in rows]
    binding = ChainBinding(head.model.pool, [row.table for row in rows], lengths)
    tokens = [_drawn(head, logits, rows, 0, [row.pairs.tokens[-1] for row in rows])]
    for guess in range(1, max(row.most for row in rows)):
        if head.model.pool.ordered:  # MLX's CPU backend would hold the thread until it is nearly done
            begin_evaluation([tokens[-1]])
        binding.begin([row.pairs.places[-1] + guess for row in rows])
        logits = head.follow(tokens[-1], head.left(), binding)
        tokens.append(_drawn(head, logits, rows, guess, tokens[-1]))
    head.model.compute(*tokens)
    drawn = [to_host(each).tolist() for each in tokens]
    return [[each[number] for each in drawn[: row.most]] for number, row in enumerate(rows)]


def _drawn(
    head: HeadModel, logits: mx.array, rows: Sequence[HeadRow], guess: int, inputs: Sequence[int] | mx.array
) -> mx.array:
    """The next guess of each context int32 [rows], lazily. Rules read the head's hidden states as the model's."""
    reads = [row.read(0, guess) for row in rows]
    if all(_is_largest(read) for read in reads):
        return mx.argmax(logits, axis=-1).astype(mx.int32)
    sampling = Sampling(logits, [[(number, read)] for number, read in enumerate(reads)], head.left(), inputs)
    return sampling.last_tokens(range(len(rows)))


def _is_largest(read: LogitsRequest) -> bool:
    sampler = read.read
    return sampler == GREEDY and read.mask is None and read.counts is None


def _read(
    head: HeadModel, rows: Sequence[HeadRow], starts: Sequence[int], stops: Sequence[int], *, draws: bool
) -> mx.array:
    """Read some of the pairs of each context; logits after the last of these, if it `draws`."""
    spans = [(row, start, stop) for row, start, stop in zip(rows, starts, stops, strict=True) if start < stop]
    entries = [row.entry(number, start, stop, draws=draws) for number, (row, start, stop) in enumerate(spans)]
    step, _, _ = step_input(entries)
    return head.forward(step, _joined([_hidden(row, start, stop) for row, start, stop in spans]))


def _hidden(row: HeadRow, start: int, stop: int) -> mx.array:
    """The hidden states of the pairs from `start` to `stop` [pairs, width]."""
    return _joined([array[first:last] for array, first, last in row.pairs.hidden])[start:stop]


def _joined(parts: Sequence[mx.array]) -> mx.array:
    return parts[0] if len(parts) == 1 else mx.concatenate(list(parts))

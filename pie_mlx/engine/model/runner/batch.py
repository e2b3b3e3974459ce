"""What one tick hands to the runner, the ragged step that becomes of it, and what comes back: no tensors of ours."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import mlx.core as mx
import msgspec
import numpy as np
import numpy.typing as npt

from pie_mlx.calls import AnyResult, AttentionScores, Probe, SampledTokens, Sampler
from pie_mlx.engine.kv import PageCopy
from pie_mlx.engine.kv.masks import trim_pages
from pie_mlx.engine.model.rules.run import RuledRow
from pie_mlx.engine.model.runner.hidden_trail import HiddenTrail
from pie_mlx.engine.model.runner.token_watch import TokenWatch
from pie_mlx.engine.model.step import AdapterUse, Segment, StepInput
from pie_mlx.engine.model.token_counts import TokenCounts
from pie_mlx.errors import BatchFailedError

PackedMask = npt.NDArray[np.uint32]
"""Allowed tokens, bit i of word i // 32, one row of ceil(vocabulary / 32) words."""


class SharedDraw(msgspec.Struct, frozen=True):
    """The row of a context that follows the first one of its gang: the rule reads it as the row number `place`,
    0-based, and the context continues with the token that the first one draws."""

    place: int
    draws: int = 1


@dataclass(frozen=True, slots=True)
class LogitsRequest:
    """One reading of the logits at token `index` of a context's BatchEntry.

    `stream` and `counter` key the random draw (L6); `mask` restricts samplers only, probes see the plain logits (F9).
    `counts` are those of the text up to this row, for a sampler with penalties (L7). `watch` learns what is drawn.
    `gang` is the first context of those whose rows a rule joins; 0 for a context alone.
    """

    index: int
    read: Sampler | Probe | SharedDraw
    stream: int = 0
    counter: int = 0
    mask: PackedMask | None = None
    counts: TokenCounts | None = field(default=None, compare=False)
    watch: TokenWatch | None = None
    gang: int = 0

    def after(self, states: Sequence[float]) -> "LogitsRequest":
        """The same request, whose rule gets the `states` that the draw before left; unchanged without states."""
        return replace(self, read=self.read.after(states)) if states and isinstance(self.read, Sampler) else self


@dataclass(slots=True)
class Draws:
    """Tokens to draw, by columns: each from one of the `rows` of the logits with a random number, of `uniforms`, in
    [0, 1). `counts` are those of the text before it, for a sampler that counts tokens; `rules` what changes the row.
    `places` are those among all draws of a step."""

    rows: list[int] = field(default_factory=list[int])
    samplers: list[Sampler] = field(default_factory=list[Sampler])
    uniforms: list[float] = field(default_factory=list[float])
    masks: list[PackedMask | None] = field(default_factory=list[PackedMask | None])
    counts: list[TokenCounts | None] = field(default_factory=list[TokenCounts | None])
    places: list[int] = field(default_factory=list[int])
    rules: list[RuledRow | None] = field(default_factory=list[RuledRow | None])

    def add(
        self,
        row: int,
        sampler: Sampler,
        uniform: float,
        mask: PackedMask | None = None,
        counts: TokenCounts | None = None,
        place: int = 0,
        rule: RuledRow | None = None,
    ) -> None:
        """Add one token to draw."""
        self.rows.append(row)
        self.samplers.append(sampler)
        self.uniforms.append(uniform)
        self.masks.append(mask)
        self.counts.append(counts)
        self.places.append(place)
        self.rules.append(rule)

    def some(self, indices: Sequence[int]) -> "Draws":
        """The draws at `indices`, in this order."""
        columns = self.rows, self.samplers, self.uniforms, self.masks, self.counts, self.places, self.rules
        draws, found = list(zip(*columns, strict=True)), Draws()
        for index in indices:
            found.add(*draws[index])
        return found


class BatchEntry(msgspec.Struct, frozen=True):
    """One context's tokens of this tick.

    `slots` are physical (page * page size + offset); `kv_length` counts the slots held after these tokens are written;
    `masks` has one BRLE row per token over KV slots, None for causal. `adapters` has what each token is computed with;
    None when no token has any. Tokens of steps after the batch go to `further_slots`, which the block table covers.
    The last `drafts` tokens may leave the context right after the batch. `scored` tells whether its attention is read.
    `trail` gets the hidden states of all.
    """

    context: int
    tokens: Sequence[int]
    positions: Sequence[int]
    slots: Sequence[int]
    block_table: Sequence[int]
    kv_length: int
    masks: Sequence[Sequence[int]] | None = None
    reads: tuple[LogitsRequest, ...] = ()
    adapters: Sequence[AdapterUse] | None = None
    further_slots: Sequence[int] = ()
    drafts: int = 0
    scored: bool = False
    trail: HiddenTrail | None = None


class StopCondition(Protocol):
    """Decides after each step whether another one follows. Each context of the batch draws one token, at its last
    input."""

    def advance(self, drawn: Sequence[int]) -> bool:
        """Note the token that every context drew; returns whether another step is wanted. Raises PieError if
        unknown."""
        ...

    def pauses(self) -> bool:
        """Whether the next step is for a later batch: the device is another model's until then."""
        ...

    def masks(self) -> Sequence[PackedMask | None]:
        """What each context may draw in the next step. Raises PieError if unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """One ragged batch; `copies` are done before anything of it is computed.

    Up to `further` steps are committed after it, as long as its `continuation` wants them. All `entries` have slots for
    these, and a slot more if a step may be in flight after the last one. If the batch `claims`, its entries are rows of
    the step in flight. If it `prefetches`, contexts may go on from any of its steps.
    """

    entries: tuple[BatchEntry, ...]
    copies: tuple[PageCopy, ...] = ()
    continuation: StopCondition | None = None
    further: int = 0
    claims: bool = False
    prefetches: bool = False

    @property
    def tokens(self) -> int:
        return sum(len(entry.tokens) for entry in self.entries)


class Outcome(msgspec.Struct, frozen=True):
    """The results of a batch, one for each of its entries, and the seconds it took.

    `steps` counts the batch and the steps committed after it, which took `further_seconds`. The entries `in_flight` are
    being computed already, each on the token that its context drew last.
    """

    results: "Sequence[EntryResult]"
    seconds: float
    steps: int = 1
    further_seconds: float = 0.0
    in_flight: Sequence[BatchEntry] = ()


EntryResult = list[AnyResult] | BatchFailedError
"""Results in the order of `BatchEntry.reads`, or why this entry alone failed."""


def drawn_of(result: EntryResult) -> list[SampledTokens]:
    """What the samplers of a context drew."""
    return [] if isinstance(result, BatchFailedError) else [one for one in result if isinstance(one, SampledTokens)]


def last_drawn(result: EntryResult) -> list[int]:
    """The last token that a context drew, if it drew any."""
    return [value.tokens[-1] for value in drawn_of(result)][-1:]


def last_states(result: EntryResult) -> list[float]:
    """The states that the rule of a context's last draw left; none without them."""
    drawn = drawn_of(result)
    return drawn[-1].states[-1] if drawn and drawn[-1].states else []


Reads = Sequence[Sequence[tuple[int, LogitsRequest]]]
"""For every context of a step, what is read of it, each with its row among the logits."""

_NO_ADAPTER: AdapterUse = (0, 0, 0)


def step_input(
    entries: Sequence[BatchEntry], trimmed_page_size: int | None = None
) -> tuple[StepInput, Reads, list[int]]:
    """The ragged arrays of a batch, what is read of them, and the tokens of the rows that are read.

    Reads of one token share a row: the head runs once per distinct token, and for all tokens whose attention is read at
    the last of them. With `trimmed_page_size`, the tokens of a
    page, pages that masks hide wholly are not read at all; None where layers count the slots they see (F8).
    """
    segments: list[Segment] = []
    logit_rows: list[int] = []
    reads: list[list[tuple[int, LogitsRequest]]] = []
    tokens: list[int] = []
    positions: list[int] = []
    slots: list[int] = []
    kept_rows: list[int] = []
    for entry in entries:
        start = len(tokens)
        segments.append(_segment(entry, start, trimmed_page_size))
        rows: dict[int, int] = {}
        own: list[tuple[int, LogitsRequest]] = []
        last = _scored(entry)[-1] if entry.scored else -1
        for read in entry.reads:
            index = last if entry.scored and isinstance(read.read, AttentionScores) else read.index
            if index not in rows:
                rows[index] = len(logit_rows)
                logit_rows.append(start + index)
            own.append((rows[index], read))
        reads.append(own)
        if entry.trail is not None:
            kept_rows += range(start, start + len(entry.tokens))
        tokens += entry.tokens
        positions += entry.positions
        slots += entry.slots
    step = StepInput(tokens, positions, slots, segments, logit_rows, _adapters(entries), kept_rows=kept_rows)
    return step, reads, [tokens[row] for row in logit_rows]


def next_step_input(entries: Sequence[BatchEntry], drawn: int, tokens: Sequence[int] | mx.array) -> StepInput:
    """The step that computes `tokens`, the last of those `drawn` by each of `entries`; all of its logits are wanted."""
    return StepInput(
        tokens=tokens,
        positions=[entry.positions[-1] + drawn for entry in entries],
        slots=[entry.further_slots[drawn - 1] for entry in entries],
        segments=[
            Segment(entry.context, row, 1, entry.block_table, entry.kv_length + drawn)
            for row, entry in enumerate(entries)
        ],
        logit_rows=range(len(entries)),
        adapters=None
        if all([entry.adapters is None for entry in entries])
        else [entry.adapters[-1] if entry.adapters else _NO_ADAPTER for entry in entries],
    )


def next_reads(entry: BatchEntry, drawn: int, known: Sequence[int]) -> list[LogitsRequest]:
    """What a context that goes on as before would read of that step, without a mask. Of the tokens that it drew, those
    `known` are counted."""
    return [
        LogitsRequest(
            0,
            read.read,
            read.stream,
            read.counter + drawn if isinstance(read.read, Sampler) else 0,
            counts=read.counts and read.counts.after(known),
            watch=read.watch,
            gang=read.gang,
        )
        for read in entry.reads
    ]


def _segment(entry: BatchEntry, start: int, trimmed_page_size: int | None) -> Segment:
    table, length, masks = entry.block_table, entry.kv_length, entry.masks
    if entry.scored:  # of all pages
        places = _scored(entry)
        scored = places[0], len(places)
        return Segment(entry.context, start, len(entry.tokens), table, length, masks, entry.drafts, scored)
    if masks is not None and trimmed_page_size is not None:
        pages, masks = trim_pages(masks, length, trimmed_page_size)
        length -= (-(-length // trimmed_page_size) - len(pages)) * trimmed_page_size
        table = [table[page] for page in pages]
    return Segment(entry.context, start, len(entry.tokens), table, length, masks, entry.drafts)


def _scored(entry: BatchEntry) -> list[int]:
    """The tokens whose attention is read, in order."""
    return sorted(read.index for read in entry.reads if isinstance(read.read, AttentionScores))


def _adapters(entries: Sequence[BatchEntry]) -> list[AdapterUse] | None:
    if all([entry.adapters is None for entry in entries]):
        return None
    return [use for entry in entries for use in entry.adapters or [_NO_ADAPTER] * len(entry.tokens)]

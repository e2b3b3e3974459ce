"""Attention over pages against the definition, written down row by row."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pie_mlx.metal import AttentionPlan, KvPool, LayerShape, PageMemory, PageScores, RunSlice, attend
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool
from pie_mlx.metal.kernels.references.kv_quantised import dense, quantise
from pie_mlx.metal.quantisation import Quantisation
from pie_mlx.metal.runs import expanded
from tests.addresses import addresses

HEADS, KV_HEADS, KEY_DIM, VALUE_DIM = 4, 2, 8, 6
PAGE_SIZE = 4
SCALE = 0.3
PLAIN = LayerShape(KV_HEADS, KEY_DIM, VALUE_DIM)
LATENT = LayerShape(1, 12, 4, latent=True)
QUANTISED = (
    LayerShape(KV_HEADS, 64, 64, quantisation=Quantisation(8, 64)),
    LayerShape(KV_HEADS, 32, 96, quantisation=Quantisation(4, 32)),
    LayerShape(1, 64, 32, latent=True, quantisation=Quantisation(8, 32)),
)


@dataclass
class Tokens:
    """Slots of one context with what they hold, as it is read."""

    pages: list[int] = field(default_factory=list[int])
    keys: list[np.ndarray] = field(default_factory=list[np.ndarray])
    values: list[np.ndarray] = field(default_factory=list[np.ndarray])
    name: int = field(default_factory=itertools.count().__next__)


@dataclass
class RowRun:
    context: int
    start: int
    count: int
    block_table: list[int]
    kv_length: int
    masks: Sequence[Sequence[int]] | None = None


class World:
    """A pool with one layer, contexts on it, and the definition of attention."""

    kind: type[KvPool] = KvPool

    def __init__(self, pages: int = 64, shape: LayerShape = PLAIN) -> None:
        self.shape = shape
        pool = self.kind([shape], pages=pages, page_size=PAGE_SIZE, dtype=mx.float32)
        self.memory = PageMemory(pool)
        self.random = np.random.default_rng(0)
        self.free = self.random.permutation(pages).tolist()
        self.scores: tuple[list[np.ndarray], list[np.ndarray]] = [], []

    def draw(self, *shape: int) -> np.ndarray:
        return self.random.standard_normal(shape, np.float32)

    def as_read(self, rows: np.ndarray) -> np.ndarray:
        """What pages give back of rows that were written."""
        kind = self.shape.quantisation
        if kind is None:
            return rows
        words = mx.array(quantise(mx.array(rows), kind))[None]
        return dense(QuantisedPool(words, kind))[0].astype(np.float32)

    def fork(self, source: Tokens) -> Tokens:
        full, rows = divmod(len(source.keys), PAGE_SIZE)
        child = Tokens(source.pages[:full], list(source.keys), list(source.values))
        if rows:
            child.pages.append(self.free.pop())
            self.memory.pool.copy_pages([(source.pages[full], child.pages[full], rows)])
        return child

    def truncate(self, sequence: Tokens, length: int) -> None:
        del sequence.keys[length:], sequence.values[length:]

    def step(
        self,
        work: Sequence[tuple[Tokens, int]],
        *,
        masks: Sequence[Sequence[Sequence[int]] | None] | None = None,
        window: int | None = None,
        sinks: np.ndarray | None = None,
        cap: float = 0.0,
        scored: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Append tokens to sequences and attend from each: what the plan gives and what the definition gives.

        The same of the page scores of the last `scored` rows of each goes to `scores`."""
        runs: list[RowRun] = []
        slots: list[int] = []
        written: list[tuple[np.ndarray, np.ndarray]] = []
        for index, (sequence, count) in enumerate(work):
            start, heads = len(sequence.keys), self.shape.kv_heads
            new = self.draw(count, heads, self.shape.key_dim), self.draw(count, heads, self.shape.value_dim)
            written.append(new)
            sequence.keys += list(self.as_read(new[0]))
            sequence.values += list(self.as_read(new[1]))
            while len(sequence.pages) * PAGE_SIZE < len(sequence.keys):
                sequence.pages.append(self.free.pop())
            masked = masks[index] if masks else None
            runs.append(RowRun(sequence.name, len(slots), count, list(sequence.pages), len(sequence.keys), masked))
            slots += [sequence.pages[s // PAGE_SIZE] * PAGE_SIZE + s % PAGE_SIZE for s in range(start, start + count)]
        latent = self.shape.latent
        queries = self.draw(len(slots), HEADS, self.shape.key_dim + latent * self.shape.value_dim)
        last = [RunSlice(run, max(0, run.count - scored), min(run.count, scored)) for run in runs]
        scores = PageScores(last, PAGE_SIZE) if scored else None
        plan = AttentionPlan(runs, slots, self.memory, scores)
        keys, values = (np.concatenate(parts) for parts in zip(*written, strict=True))
        plan.store(0, mx.array(keys), mx.array(values))
        sink = None if sinks is None else mx.array(sinks)
        out = attend(mx.array(queries), 0, plan, scale=SCALE, window=window, sinks=sink, cap=cap)
        mx.eval(out, self.memory.arrays())
        pairs = list(zip(work, runs, strict=True))
        expected = [row for (s, _), run in pairs for row in definition(queries, s, run, window, sinks, cap, latent)]
        if scores is not None:
            marked = [by_page(sequence, latent) for sequence, _ in work]
            rows = [definition(queries, s, run, window, sinks, cap, False) for s, run in zip(marked, runs, strict=True)]
            heads = [np.sum(own[-scored:], axis=0).reshape(self.shape.kv_heads, -1, own[0].shape[-1]) for own in rows]
            self.scores = [np.array(found) for found in scores.result()], [own.mean(1) for own in heads]
        return np.array(out), np.stack(expected)


def by_page(sequence: Tokens, latent: bool) -> Tokens:
    """The same keys with values that tell their page: what attention gives for those are the page's weights."""
    keys, values = np.stack(sequence.keys).astype(np.float64), np.stack(sequence.values)
    pages = np.eye(len(sequence.pages))[np.arange(len(keys)) // PAGE_SIZE]
    marks = np.broadcast_to(pages[:, None], (*keys.shape[:2], len(sequence.pages)))
    return Tokens(keys=list(np.concatenate([keys, values], axis=-1) if latent else keys), values=list(marks))


def definition(
    queries: np.ndarray,
    sequence: Tokens,
    run: RowRun,
    window: int | None,
    sinks: np.ndarray | None,
    cap: float,
    latent: bool,
) -> list[np.ndarray]:
    """Softmax over the slots each row sees, head by head; zeros for a row that sees nothing."""
    rows: list[np.ndarray] = []
    keys, values = np.stack(sequence.keys), np.stack(sequence.values)
    if latent:
        keys, values = np.concatenate([keys, values], axis=-1), keys
    for token in range(run.count):
        own = run.kv_length - run.count + token
        seen = np.arange(run.kv_length) <= own
        if window is not None:
            seen &= np.arange(run.kv_length) > own - window
        if run.masks is not None:
            seen &= expanded(run.masks[token], 0, run.kv_length)
        out = np.zeros((HEADS, values.shape[-1]), values.dtype)
        for head in range(HEADS if seen.any() else 0):
            kv_head = head // (HEADS // keys.shape[1])
            scores = keys[seen, kv_head] @ queries[run.start + token, head] * SCALE
            scores = cap * np.tanh(scores / cap) if cap else scores
            top = scores.max() if sinks is None else max(scores.max(), sinks[head])
            weights = np.exp(scores - top)
            total = weights.sum() + (0 if sinks is None else np.exp(sinks[head] - top))
            out[head] = weights @ values[seen, kv_head] / total
        rows.append(out)
    return rows


def assert_close(pair: tuple[np.ndarray, np.ndarray], atol: float = 2e-6) -> None:
    np.testing.assert_allclose(pair[0], pair[1], atol=atol)


windows = st.one_of(st.none(), st.integers(1, 12))


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=5), windows, st.booleans())
def test_ragged_steps_are_attention_by_definition(steps: list[list[int]], window: int | None, with_sinks: bool) -> None:
    world = World()
    sequences = [Tokens() for _ in range(4)]
    sinks = world.draw(HEADS) if with_sinks else None
    for counts in steps:
        work = [(sequence, count) for sequence, count in zip(sequences, counts, strict=True) if count]
        if work:
            assert_close(world.step(work, window=window, sinks=sinks))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 14)), max_size=4), windows)
@example([(0, 2)], None)
def test_decoding_sees_every_change_of_its_pages(changes: list[tuple[int, int]], window: int | None) -> None:
    world = World()
    sequences = [Tokens() for _ in range(4)]
    world.step([(sequence, 5 + 3 * index) for index, sequence in enumerate(sequences)])
    for index, length in [*changes, (0, 0)]:
        for _ in range(2):
            assert_close(world.step([(sequence, 1) for sequence in sequences], window=window))
        kept = max(1, len(sequences[index].keys) - length)
        world.truncate(sequences[index], kept)
        world.step([(sequences[index], 2)])


@settings(max_examples=25)
@given(st.integers(14, 30), st.integers(2, 5), st.integers(0, 3))
def test_forks_share_their_prefix(prefix: int, forks: int, others: int) -> None:
    world = World()
    source = Tokens()
    world.step([(source, prefix)])
    children = [world.fork(source) for _ in range(forks)]
    strangers = [Tokens() for _ in range(others)]
    if strangers:
        world.step([(stranger, 3) for stranger in strangers])
    for _ in range(6):
        assert_close(world.step([(sequence, 1) for sequence in [*strangers, *children, source]]))


@settings(max_examples=25)
@given(st.data(), windows)
def test_masks_are_anded_with_causality_and_window(data: st.DataObject, window: int | None) -> None:  # F7
    world = World()
    first, second = Tokens(), Tokens()
    world.step([(first, 9), (second, 4)])
    runs = st.lists(st.integers(0, 6), max_size=5)
    masks = [[data.draw(runs)], [data.draw(runs) for _ in range(3)]]
    assert_close(world.step([(first, 1), (second, 3)], masks=masks, window=window))


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4), st.booleans())
def test_a_latent_is_attended_to_as_key_and_as_value(steps: list[list[int]], bounded: bool) -> None:
    world = World(shape=LATENT)
    source = Tokens()
    world.step([(source, 18)])
    sequences = [Tokens(), world.fork(source), source]
    for counts in steps:
        work = [(sequence, count) for sequence, count in zip(sequences, counts, strict=True) if count]
        if work:
            assert_close(world.step(work, cap=0.5 * bounded))
        assert_close(world.step([(sequence, 1) for sequence in sequences], masks=[None, [[2, 30]], None]))


@pytest.mark.parametrize("shape", QUANTISED, ids=["8 bits", "4 bits", "latent"])
@settings(max_examples=8)
@given(steps=st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=4), window=windows)
def test_quantised_pages_are_attended_to_as_they_read(
    shape: LayerShape, steps: list[list[int]], window: int | None
) -> None:
    world = World(shape=shape)
    source = Tokens()
    assert_close(world.step([(source, 19)]), 1e-5)  # of a step's own tokens too
    sequences = [Tokens(), world.fork(source), world.fork(source), source]
    for counts in steps:
        work = [(sequence, count) for sequence, count in zip(sequences, counts, strict=True) if count]
        for each in (work, [(sequence, 1) for sequence in sequences], [(source, 1)]):
            if each:
                assert_close(world.step(each, window=window), 1e-5)
        world.truncate(source, 17)


@pytest.mark.parametrize("count", [1, 5])
def test_scores_are_bounded_before_they_are_masked(count: int) -> None:
    world = World()
    first, second = Tokens(), Tokens()
    assert_close(world.step([(first, 9), (second, 4)], cap=0.5))
    masks = [[[1, 8 + count]] * count, None]
    assert_close(world.step([(first, count), (second, count)], masks=masks, window=6, cap=0.5))


def test_a_row_that_sees_nothing_contributes_zeros() -> None:  # F7
    world = World()
    sequence = Tokens()
    world.step([(sequence, 9)])
    out, _ = world.step([(sequence, 1)], masks=[[[0, 2, 8]]], window=3)
    assert not out.any()


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_no_number_stays_with_its_owner(count: int) -> None:
    world = World(pages=8)
    healthy, broken = Tokens(), Tokens()
    world.step([(healthy, 2), (broken, 14)])
    pool = world.memory.pool
    content = pool.read_pages(broken.pages)
    pool.write_pages(broken.pages, [(keys * np.nan, values * np.nan) for keys, values in content])
    out, expected = world.step([(healthy, count), (broken, count)])
    np.testing.assert_allclose(out[:count], expected[:count], atol=2e-6)


def test_decoding_moves_no_array() -> None:
    world = World()
    sequences = [Tokens() for _ in range(3)]
    world.step([(sequence, 6) for sequence in sequences])
    world.step([(sequence, 1) for sequence in sequences])
    before = addresses(world.memory.arrays())
    for _ in range(20):
        world.step([(sequence, 1) for sequence in sequences])
    assert addresses(world.memory.arrays()) == before


@settings(max_examples=40)
@given(st.lists(st.sets(st.integers(0, 8), min_size=1), min_size=4, max_size=12), windows)
def test_rows_come_and_go(steps: list[set[int]], window: int | None) -> None:
    world = World(pages=96)
    sequences = [Tokens() for _ in range(9)]
    world.step([(sequence, 3 + index) for index, sequence in enumerate(sequences)])
    for chosen in steps:
        assert_close(world.step([(sequences[index], 1) for index in sorted(chosen)], window=window))


def test_rows_come_back_without_moving_an_array() -> None:
    world = World()
    staying, coming = [Tokens() for _ in range(4)], Tokens()
    world.step([(sequence, 6) for sequence in [*staying, coming]])
    world.step([(sequence, 1) for sequence in [*staying, coming]])
    before = addresses(world.memory.arrays())
    world.step([(sequence, 1) for sequence in staying])
    assert_close(world.step([(sequence, 1) for sequence in [*staying, coming]]))
    assert addresses(world.memory.arrays()) == before


def test_a_seat_keeps_nothing_of_who_sat_there() -> None:
    world = World()
    broken, healthy, later = Tokens(), Tokens(), Tokens()
    world.step([(broken, 14), (healthy, 3), (later, 3)])
    content = world.memory.pool.read_pages(broken.pages)
    world.memory.pool.write_pages(broken.pages, [(keys * np.nan, values * np.nan) for keys, values in content])
    world.step([(broken, 1), (healthy, 1)])
    assert_close(world.step([(later, 1), (healthy, 1)]))


def test_a_seat_keeps_nothing_of_who_sat_there_for_one_without_a_past() -> None:
    world = World()
    broken, healthy, later = Tokens(), Tokens(), Tokens()
    world.step([(broken, 14), (healthy, 3)])
    content = world.memory.pool.read_pages(broken.pages)
    world.memory.pool.write_pages(broken.pages, [(keys * np.nan, values * np.nan) for keys, values in content])
    world.step([(broken, 1), (healthy, 1)])
    assert_close(world.step([(later, 1), (healthy, 1)]))

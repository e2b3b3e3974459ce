"""The cases in which every kernel is compared with its reference: by tests on the emulator, by `pie doctor` on a
Mac."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import doubles, from_host, host_view
from pie_mlx.metal.kernels import page_moves
from pie_mlx.metal.kernels.attention_rows import AttentionRows, attention_rows
from pie_mlx.metal.kernels.kv_quantised import Pool, QuantisedPool, kv_write_quantised
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.lora_batched import group_rows, lora_batched
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, paged_attention, scored_attention
from pie_mlx.metal.kernels.paged_prefill import paged_prefill
from pie_mlx.metal.kernels.references import kv_quantised as kv_quantised_reference
from pie_mlx.metal.kernels.references import kv_write as kv_write_reference
from pie_mlx.metal.kernels.references import lora_batched as lora_batched_reference
from pie_mlx.metal.kernels.references import page_moves as page_moves_reference
from pie_mlx.metal.kernels.references import paged_attention as paged_attention_reference
from pie_mlx.metal.kernels.references import sample_rows as sample_rows_reference
from pie_mlx.metal.kernels.requirements import first_fence
from pie_mlx.metal.kernels.sample_rows import SamplerRows, sample_rows
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_scores import strip_shares
from pie_mlx.metal.quantisation import Quantisation

FLOAT32_TOLERANCE = 1e-5
HALF_TOLERANCE = 2e-3
BFLOAT_TOLERANCE = 4e-3
"""Half a unit in the last place of a bfloat16 result is 2**-8 of it."""

Expected = npt.NDArray[Any]
Pairs = list[tuple[mx.array | Expected, Expected]]
"""Results of a kernel, each with the reference's result.

References use numpy, mostly float64: a GPU may multiply float32 with fewer bits (TF32 on an M5, macOS 26.2), and an MLX
reference there would fail good kernels.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison. The largest difference, relative to the largest expected value, must be at most `tolerance`."""

    kernel: str
    label: str
    tolerance: float
    run: Callable[[KernelLauncher], Pairs]

    def error(self, launcher: KernelLauncher) -> float:
        """Runs the case and returns its error. Raises what a launch raises."""
        return max(relative_error(actual, expected) for actual, expected in self.run(launcher))


def relative_error(actual: mx.array | Expected, expected: Expected) -> float:
    """Largest difference divided by the largest expected magnitude. NaN counts as infinite."""
    wide = doubles(actual) if isinstance(actual, mx.array) else actual
    if not np.isfinite(wide).all():
        return float("inf")
    return float(np.abs(wide - expected).max() / max(np.abs(expected).max(), 1e-6))


def tolerance_of(dtype: mx.Dtype) -> float:
    """The tolerance for results of a type."""
    if dtype == mx.bfloat16:
        return BFLOAT_TOLERANCE
    return FLOAT32_TOLERANCE if dtype == mx.float32 else HALF_TOLERANCE


def _normal(random: np.random.Generator, shape: Sequence[int], dtype: mx.Dtype) -> mx.array:
    array = mx.array(random.standard_normal(tuple(shape), dtype=np.float32)).astype(dtype)
    mx.eval(array)
    return array


@dataclass(frozen=True, slots=True)
class AttentionCase:
    """A ragged batch: the last `rows` rows of contexts of `lengths` keys."""

    lengths: tuple[int, ...] = (1, 37, 75)
    dtype: mx.Dtype = mx.float32
    key_size: int = 64
    value_size: int = 64
    heads: int = 2
    group: int = 2
    page_size: int = 16
    rows: int = 1
    window: int = 0
    cap: float = 0.0
    sinks: bool = False
    masked: bool = False
    quantisation: Quantisation | None = None
    latent: bool = False

    @property
    def label(self) -> str:
        default = AttentionCase()
        changed = [name for name in self.__slots__ if getattr(self, name) != getattr(default, name)]
        return " ".join(f"{name}={getattr(self, name)}" for name in changed) or "plain"


@dataclass(frozen=True, slots=True)
class AttentionInputs:
    """The arrays of an AttentionCase on the device. `held` marks the slots that hold tokens, bool [pages, page
    size]."""

    queries: mx.array
    k_pool: Pool
    v_pool: Pool
    rows: AttentionRows
    options: AttentionOptions
    held: np.ndarray = field(repr=False)


def attention_inputs(case: AttentionCase, seed: int = 7) -> AttentionInputs:
    """Random pools and queries. Pages are in descending order; page 0 is never used."""
    random = np.random.default_rng(seed)
    tables: list[list[int]] = []
    next_page = 1
    for length in case.lengths:
        count = -(-length // case.page_size)
        tables.append(list(range(next_page + count - 1, next_page - 1, -1)))
        next_page += count
    held = np.zeros((next_page, case.page_size), dtype=bool)
    row_seq: list[int] = []
    row_len: list[int] = []
    for context, length in enumerate(case.lengths):
        for slot in range(length):
            held[tables[context][slot // case.page_size], slot % case.page_size] = True
        visible = range(max(1, length - case.rows + 1), length + 1)
        row_seq += [context] * len(visible)
        row_len += list(visible)
    masks = [_mask(random, length) if index % 3 else None for index, length in enumerate(row_len)]
    slots = (next_page, case.page_size, case.heads)
    query_heads = case.heads * case.group
    stored = (case.value_size, case.key_size - case.value_size) if case.latent else (case.key_size, case.value_size)
    return AttentionInputs(
        queries=_normal(random, (len(row_len), query_heads, case.key_size), case.dtype),
        k_pool=_pool(_normal(random, (*slots, stored[0]), case.dtype), case.quantisation),
        v_pool=_pool(_normal(random, (*slots, stored[1]), case.dtype), case.quantisation),
        rows=attention_rows(tables, row_seq, row_len, masks=masks if case.masked else None, rows_per_window=case.rows),
        options=AttentionOptions(
            scale=case.key_size**-0.5,
            window=case.window,
            cap=case.cap,
            sinks=_normal(random, (query_heads,), mx.float32) if case.sinks else None,
            latent=case.latent,
        ),
        held=held,
    )


def _mask(random: np.random.Generator, length: int) -> np.ndarray:
    """Half of the keys at random, one stretch of 32 hidden, the own key always visible."""
    mask = random.random(length) < 0.5
    mask[32:64] = False
    mask[-1] = True
    return mask


def _pool(dense: mx.array, kind: Quantisation | None) -> Pool:
    if kind is None:
        return dense
    words = from_host(kv_quantised_reference.quantise(dense, kind))
    mx.eval(words)
    return QuantisedPool(words, kind)


def expected_attention(inputs: AttentionInputs) -> Expected:
    """The result of the reference on the same values."""
    return paged_attention_reference.paged_attention(
        inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options
    )


def _attention_pairs(case: AttentionCase, kernel: str, launcher: KernelLauncher) -> Pairs:
    inputs = attention_inputs(case)
    launch = paged_attention if kernel == "paged_attention" else paged_prefill
    arrays = (inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options)
    actual, done = launch(launcher, *arrays, first_fence())
    return [(actual, expected_attention(inputs)), (done, FENCE)]


def _scored_pairs(case: AttentionCase, launcher: KernelLauncher) -> Pairs:
    inputs = attention_inputs(case)
    arrays = (inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options)
    actual, strips, done = scored_attention(launcher, *arrays, first_fence())
    shares = strip_shares(strips, host_view(inputs.rows.row_len)[: inputs.rows.count], inputs.options)
    shares = mx.sum(mx.unflatten(shares, -1, (inputs.rows.tables.shape[1], -1)), axis=-1)
    expected = paged_attention_reference.page_shares(*arrays)
    return [(actual, expected_attention(inputs)), (shares, expected), (done, FENCE)]


def attention_case(case: AttentionCase, kernel: str) -> Case:
    """The comparison of one ragged batch on `paged_attention` or `paged_prefill`."""
    tolerance = tolerance_of(case.dtype)
    return Case(kernel, case.label, tolerance, partial(_attention_pairs, case, kernel))


def scored_case(case: AttentionCase) -> Case:
    """The comparison of one ragged batch on `paged_attention`, with the attention that each page gets."""
    return Case("paged_attention", f"scored {case.label}", tolerance_of(case.dtype), partial(_scored_pairs, case))


FENCE = np.array([1])
"""The fence that every launch returns after the first fence."""

DECODE = (
    AttentionCase(),
    *(AttentionCase(key_size=size, value_size=size) for size in (80, 96, 128, 192, 256)),
    *(AttentionCase(dtype=dtype, group=4) for dtype in (mx.float16, mx.bfloat16)),
    *(AttentionCase(dtype=dtype, key_size=128, value_size=128, heads=1) for dtype in (mx.float16, mx.bfloat16)),
    *(AttentionCase(page_size=size, sinks=True) for size in (8, 32)),
    *(AttentionCase(group=group, heads=1) for group in (1, 8, 12)),
    AttentionCase(key_size=192, value_size=128, heads=1),
    AttentionCase(key_size=80, value_size=96, window=20, page_size=8),
    AttentionCase(window=33, sinks=True, cap=4.0),
    AttentionCase(masked=True, sinks=True, lengths=(3, 70, 100)),
    AttentionCase(rows=4),
    AttentionCase(rows=4, masked=True, group=4, dtype=mx.float16, lengths=(2, 70, 100)),
    AttentionCase(rows=3, window=16, group=1, cap=2.0),
    AttentionCase(lengths=(600, 1, 513)),
    AttentionCase(lengths=(1100, 512, 20), window=530, sinks=True),
    AttentionCase(lengths=(1300, 600), rows=2, masked=True),
    AttentionCase(lengths=(4096,), heads=1, dtype=mx.float16),
    *(
        AttentionCase(key_size=128, value_size=128, heads=1, quantisation=Quantisation(bits, group_size))
        for bits in (8, 4)
        for group_size in (32, 64)
    ),
    AttentionCase(dtype=mx.float16, key_size=64, value_size=128, quantisation=Quantisation(8, 64), window=40),
    AttentionCase(dtype=mx.bfloat16, quantisation=Quantisation(4, 32), lengths=(20, 530)),
    AttentionCase(latent=True, key_size=576, value_size=512, heads=1, group=20, dtype=mx.bfloat16),
    AttentionCase(latent=True, key_size=576, value_size=512, heads=1, group=128, dtype=mx.float16, lengths=(40,)),
    AttentionCase(latent=True, key_size=320, value_size=256, heads=1, group=6, lengths=(5, 600), masked=True),
    AttentionCase(latent=True, key_size=24, value_size=16, heads=1, group=4, rows=4, masked=True),
)

SCORED = (
    AttentionCase(),
    AttentionCase(page_size=8, rows=3, masked=True, sinks=True, lengths=(3, 70, 100)),
    AttentionCase(page_size=64, window=33, cap=4.0, dtype=mx.float16),
    AttentionCase(lengths=(1100, 512, 20), window=530, sinks=True, rows=2),
    AttentionCase(lengths=(1300, 600), masked=True, group=12, heads=1),
    AttentionCase(dtype=mx.bfloat16, quantisation=Quantisation(8, 32), lengths=(20, 530)),
    AttentionCase(latent=True, key_size=320, value_size=256, heads=1, group=6, lengths=(5, 600), masked=True),
)
"""Cases of batches whose attention is summed by page."""

PREFILL = (
    AttentionCase(rows=32),
    *(AttentionCase(rows=32, key_size=size, value_size=size, heads=1, lengths=(9, 40)) for size in (80, 96)),
    *(AttentionCase(rows=16, key_size=size, value_size=size, heads=1, lengths=(9, 40)) for size in (192, 256)),
    AttentionCase(rows=32, key_size=128, value_size=128, heads=1, dtype=mx.float16),
    AttentionCase(rows=20, dtype=mx.bfloat16, page_size=8, group=1),
    AttentionCase(rows=32, key_size=80, value_size=96, heads=1, window=17, sinks=True, cap=5.0),
    AttentionCase(rows=32, masked=True, page_size=32, lengths=(100, 5)),
    AttentionCase(rows=32, key_size=192, value_size=128, heads=1, dtype=mx.float16, lengths=(50,)),
    *(AttentionCase(rows=32, dtype=mx.float16, quantisation=Quantisation(bits, 32)) for bits in (8, 4)),
)


def _slots(tokens: int, capacity: int, random: np.random.Generator) -> mx.array:
    slots = random.permutation(capacity)[:tokens].astype(np.int32)
    slots[tokens // 2] = -1
    return mx.array(slots)


def _write_pairs(dtype: mx.Dtype, heads: int, key_size: int, value_size: int, launcher: KernelLauncher) -> Pairs:
    random = np.random.default_rng(3)
    k_pool, v_pool = (_normal(random, (4, 8, heads, size), dtype) for size in (key_size, value_size))
    k_new, v_new = (_normal(random, (5, heads, size), dtype) for size in (key_size, value_size))
    slots = _slots(5, 32, random)
    expected = kv_write_reference.kv_write(k_new, v_new, k_pool, v_pool, slots)
    fence = kv_write(launcher, k_new, v_new, k_pool, v_pool, slots, first_fence())
    mx.eval(fence)
    return [(k_pool, expected[0]), (v_pool, expected[1]), (fence, FENCE)]


def _quantised_write_pairs(
    dtype: mx.Dtype, kind: Quantisation, sizes: tuple[int, int], launcher: KernelLauncher
) -> Pairs:
    random = np.random.default_rng(4)
    pools = [_pool(_normal(random, (4, 8, 3, size), dtype), kind) for size in sizes]
    k_pool, v_pool = (pool for pool in pools if isinstance(pool, QuantisedPool))
    k_new, v_new = (_normal(random, (5, 3, size), dtype) for size in sizes)
    slots = _slots(5, 32, random)
    pairs = ((k_new, k_pool), (v_new, v_pool))
    expected = [kv_quantised_reference.kv_write_quantised(new, pool, slots) for new, pool in pairs]
    fence = kv_write_quantised(launcher, k_new, v_new, k_pool, v_pool, slots, first_fence())
    mx.eval(fence)
    found = [host_view(pool.words).astype(np.float64) for pool in (k_pool, v_pool)]
    return [*zip(found, expected, strict=True), (fence, FENCE)]


def _move_pairs(name: str, dtype: mx.Dtype, sizes: tuple[int, int], launcher: KernelLauncher) -> Pairs:
    random = np.random.default_rng(5)
    shapes = [(pages, 8, 3, size) for pages in (6, 2) for size in sizes]
    keys, values, k_new, v_new = (mx.abs(100 * _normal(random, each, mx.float32)).astype(dtype) for each in shapes)
    mx.eval(keys, values)
    rows = [3, 8]
    if name == "page_gather":
        gathered = page_moves.page_gather(launcher, keys, values, [5, 2], rows, first_fence())
        wanted = page_moves_reference.page_gather(keys, values, [5, 2], rows)
        return [*zip(gathered[:2], wanted, strict=True), (gathered[2], FENCE)]
    if name == "page_copy":
        expected = page_moves_reference.page_copy(keys, values, [0, 1], [5, 4], rows)
        fence = page_moves.page_copy(launcher, keys, values, [0, 1], [5, 4], rows, first_fence())
    else:
        expected = page_moves_reference.page_scatter(k_new, v_new, keys, values, [5, 4], rows)
        fence = page_moves.page_scatter(launcher, k_new, v_new, keys, values, [5, 4], rows, first_fence())
    mx.eval(fence)
    return [(keys, expected[0]), (values, expected[1]), (fence, FENCE)]


def _lora_pairs(dtype: mx.Dtype, rank: int, out: int, launcher: KernelLauncher) -> Pairs:
    random = np.random.default_rng(6)
    rows = _normal(random, (11, 48), dtype)
    a_stack, b_stack = _normal(random, (4, 48, rank), dtype), _normal(random, (4, rank, out), dtype)
    scale = _normal(random, (4,), mx.float32)
    slots = [0, *([1] * 9), 3]
    actual = lora_batched(launcher, rows, a_stack, b_stack, scale, group_rows(slots))
    return [(actual, lora_batched_reference.lora_batched(rows, a_stack, b_stack, scale, slots))]


def sampler_rows(count: int, vocabulary: int, masked: bool, random: np.random.Generator) -> SamplerRows:
    """All combinations of temperature, filters, masks and random numbers."""
    words = random.integers(0, 2**32, (3, -(-vocabulary // 32)), dtype=np.uint32)
    return SamplerRows(
        temperature=mx.array(random.choice([0.0, 0.6, 1.0, 2.5], count).astype(np.float32)),
        top_k=mx.array(random.choice([0, 1, 5, 40], count).astype(np.int32)),
        top_p=mx.array(random.choice([0.0, 0.5, 0.95, 1.0], count).astype(np.float32)),
        min_p=mx.array(random.choice([0.0, 0.1], count).astype(np.float32)),
        uniform=mx.array((random.integers(0, 2**23, count) / 2**23).astype(np.float32)),
        mask_bits=mx.array(words) if masked else None,
        row_mask=mx.array(random.integers(-1, 3, count).astype(np.int32)) if masked else None,
    )


def _sample_pairs(rows_count: int, vocabulary: int, spread: float, masked: bool, launcher: KernelLauncher) -> Pairs:
    """Integer logits if the spread is below 1, so that many are equal."""
    random = np.random.default_rng(8)
    logits = _normal(random, (rows_count, vocabulary), mx.float32) * max(spread, 2.0)
    logits = mx.round(logits) if spread < 1 else logits
    rows = sampler_rows(rows_count, vocabulary, masked, random)
    tokens, logprobs = sample_rows(launcher, logits, rows)
    possible = sample_rows_reference.possible_tokens(logits, rows)
    drawn = host_view(tokens).astype(np.int64)
    expected = np.where((possible == drawn).any(0), drawn, possible[possible.shape[0] // 2])
    return [(tokens, expected), (logprobs, sample_rows_reference.log_probabilities(logits, expected))]


def check_cases() -> Iterator[Case]:
    """Every comparison, kernel by kernel."""
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        yield Case("kv_write", f"{dtype} 2x80/64", 0.0, partial(_write_pairs, dtype, 2, 80, 64))
    yield Case("kv_write", "1x128/256", 0.0, partial(_write_pairs, mx.float32, 1, 128, 256))
    for bits, group_size, dtype in (
        (8, 32, mx.float32),
        (8, 64, mx.float16),
        (4, 32, mx.bfloat16),
        (4, 64, mx.float32),
    ):
        kind = Quantisation(bits, group_size)
        run = partial(_quantised_write_pairs, dtype, kind, (64, 128))
        yield Case("kv_write_quantised", f"{dtype} {bits} bits, groups of {group_size}", 0.0, run)
    for name in ("page_copy", "page_gather", "page_scatter"):
        for dtype in (mx.float32, mx.float16):
            yield Case(name, str(dtype), 0.0, partial(_move_pairs, name, dtype, (80, 60)))
        yield Case(name, "rows of words", 0.0, partial(_move_pairs, name, mx.uint32, (9, 18)))
    for case in DECODE:
        yield attention_case(case, "paged_attention")
    yield from map(scored_case, SCORED)
    for case in PREFILL:
        yield attention_case(case, "paged_prefill")
    for dtype, rank, out in ((mx.float32, 16, 300), (mx.float16, 8, 96), (mx.bfloat16, 64, 40), (mx.float32, 4, 4100)):
        yield Case(
            "lora_batched",
            f"{dtype} rank {rank} out {out}",
            tolerance_of(dtype),
            partial(_lora_pairs, dtype, rank, out),
        )
    for count, vocabulary, spread, masked in ((24, 1003, 3.0, False), (40, 1003, 8.0, True), (200, 100, 0.0, False)):
        label = f"{count}x{vocabulary} spread {spread}{', masked' * masked}"
        run = partial(_sample_pairs, count, vocabulary, spread, masked)
        yield Case("sample_rows", label, FLOAT32_TOLERANCE, run)

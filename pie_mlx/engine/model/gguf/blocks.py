"""GGUF's blocks as MLX's groups: weights are scale * code + bias there, with codes of some bits in groups of 32."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.engine.model.gguf.header import Tensor, refused
from pie_mlx.metal.arrays import floats

Array = npt.NDArray[Any]
GROUP = 32
"""Weights in a group: the fewest that MLX has."""
FLOATS = {"F64", "F32", "F16", "BF16"}
_REQUANTISED_BITS = {"Q2_K": 5, "Q3_K": 6}
"""Fewer bits than 8 where the file's own error is so much larger that they add less than a tenth to it."""
_MEASURED_ROWS = 64
CHUNK = 1 << 24
"""Weights that are converted at once."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """A matrix as MLX stores it; `scales` alone are a matrix that is not quantised. `bias` is None in mxfp4.

    `error` is the root mean square of what conversion changed, relative to that of the weights.
    """

    scales: mx.array
    codes: mx.array | None = None
    biases: mx.array | None = None
    settings: tuple[int, int, str] = (GROUP, 0, "")
    error: float = 0.0


def read_tensor(tensor: Tensor, dtype: mx.Dtype, *, order: Array | None, dequantise: bool) -> Grouped:
    """A tensor, with rows in `order` where that is given; matrices [rows, columns].

    Raises ModelLoadError for a file that was cut meanwhile.
    """
    blocks = _blocks(tensor)
    if len(tensor.shape) == 1:
        values = _floats(tensor, blocks).reshape(-1)
        return Grouped(mx.array(values if order is None else values[order]).astype(dtype))
    if order is not None:
        blocks = blocks[order]
    if tensor.kind in FLOATS or dequantise:
        whole = [mx.array(_floats(tensor, part)).astype(dtype) for part in _chunks(tensor, blocks)]
        return Grouped(mx.concatenate(whole))
    parts = [_grouped(tensor, part, dtype) for part in _chunks(tensor, blocks)]
    return Grouped(
        mx.concatenate([part.scales for part in parts]),
        _joined([part.codes for part in parts]),
        _joined([part.biases for part in parts]),
        parts[0].settings,
        float(np.sqrt(np.mean([part.error**2 for part in parts]))),
    )


def _joined(parts: list[mx.array | None]) -> mx.array | None:
    there = [part for part in parts if part is not None]
    return mx.concatenate(there) if there else None


def floats_of(tensor: Tensor) -> Array:
    """The values of a small tensor, as float32."""
    return _floats(tensor, _blocks(tensor)).reshape(tensor.shape)


def _blocks(tensor: Tensor) -> Array:
    """Bytes [rows, bytes of a row]."""
    try:
        data = np.fromfile(tensor.path, np.uint8, tensor.size_bytes, offset=tensor.offset)
    except OSError as error:
        raise refused(tensor.path, error.strerror or "it cannot be read", "check its permissions") from None
    if len(data) < tensor.size_bytes:
        raise refused(tensor.path, f"it ends within the tensor {tensor.name!r:.80}")
    rows = int(np.prod(tensor.shape[:-1])) if len(tensor.shape) > 1 else 1
    return data.reshape(rows, -1)


def _chunks(tensor: Tensor, blocks: Array) -> list[Array]:
    rows = max(1, CHUNK // tensor.shape[-1])
    return [blocks[begin : begin + rows] for begin in range(0, len(blocks), rows)]


def _floats(tensor: Tensor, blocks: Array) -> Array:
    from gguf import quants
    from gguf.constants import GGMLQuantizationType

    try:
        return quants.dequantize(blocks, GGMLQuantizationType[tensor.kind]).astype(np.float32)
    except NotImplementedError:
        raise refused(
            tensor.path, f"{tensor.name!r:.80} is of the type {tensor.kind}", "choose another quantization"
        ) from None


def _grouped(tensor: Tensor, blocks: Array, dtype: mx.Dtype) -> Grouped:
    if tensor.kind == "MXFP4":
        return _mxfp4(blocks)
    if tensor.kind in _UNPACKED:
        codes, scales, biases, bits = _UNPACKED[tensor.kind](blocks.reshape(len(blocks), -1, _block_bytes(tensor.kind)))
        packed = mx.array(_packed(codes.reshape(len(blocks), -1), bits))
        scales, biases = (mx.array(one.reshape(len(blocks), -1)).astype(dtype) for one in (scales, biases))
    else:
        bits = _REQUANTISED_BITS.get(tensor.kind, 8)
        packed, scales, biases = mx.quantize(mx.array(_floats(tensor, blocks)), group_size=GROUP, bits=bits)
        scales, biases = scales.astype(dtype), biases.astype(dtype)
    settings = GROUP, bits, "affine"
    return Grouped(scales, packed, biases, settings, _error(tensor, blocks, packed, scales, biases, bits))


def _error(tensor: Tensor, blocks: Array, codes: mx.array, scales: mx.array, biases: mx.array, bits: int) -> float:
    """Measured on some rows: the gguf package takes longer for all of them than everything else together."""
    some = slice(None, None, -(-len(blocks) // _MEASURED_ROWS))
    exact = _floats(tensor, blocks[some])
    parts = codes[some], scales[some].astype(mx.float32), biases[some].astype(mx.float32)
    again = mx.dequantize(*parts, group_size=GROUP, bits=bits)
    changed = floats(again) - exact
    return float(np.sqrt(np.square(changed).mean() / max(np.square(exact).mean(), 1e-30)))


def _block_bytes(kind: str) -> int:
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    return GGML_QUANT_SIZES[GGMLQuantizationType[kind]][1]


def _packed(codes: Array, bits: int) -> Array:
    """Codes [rows, columns] as uint32 [rows, columns * bits / 32], the first in the lowest bits."""
    if bits == 4:
        return np.ascontiguousarray(codes[:, ::2] | codes[:, 1::2] << 4).view("<u4")
    if bits == 8:
        return np.ascontiguousarray(codes).view("<u4")
    eight = codes.reshape(len(codes), -1, 8)
    joined = np.zeros(eight.shape[:2], "<u8")
    for place in range(8):
        joined |= eight[..., place].astype("<u8") << (place * bits)
    data = joined.view(np.uint8).reshape(*joined.shape, 8)[..., :bits]
    return np.ascontiguousarray(data).reshape(len(codes), -1).view("<u4")


def _mxfp4(blocks: Array) -> Grouped:
    """The same format in both, but for the order of the codes."""
    parts = blocks.reshape(len(blocks), -1, 17)
    packed = _packed(_nibbles(parts[..., 1:]).reshape(len(blocks), -1), 4)
    return Grouped(mx.array(np.ascontiguousarray(parts[..., 0])), mx.array(packed), settings=(GROUP, 4, "mxfp4"))


Unpacked = tuple[Array, Array, Array, int]
"""Codes [rows, blocks, weights], scales and biases [rows, blocks, groups], bits."""


def _half(blocks: Array, begin: int) -> Array:
    return np.ascontiguousarray(blocks[..., begin : begin + 2]).view("<f2").astype(np.float32)


def _nibbles(data: Array) -> Array:
    """The lower halves of all bytes, then the upper ones."""
    return np.concatenate([data & 15, data >> 4], axis=-1)


def _fifth_bits(data: Array) -> Array:
    return np.unpackbits(np.ascontiguousarray(data), axis=-1, bitorder="little") << 4


def _q4_0(blocks: Array) -> Unpacked:
    scale = _half(blocks, 0)
    return _nibbles(blocks[..., 2:]), scale, -8 * scale, 4


def _q4_1(blocks: Array) -> Unpacked:
    return _nibbles(blocks[..., 4:]), _half(blocks, 0), _half(blocks, 2), 4


def _q5_0(blocks: Array) -> Unpacked:
    scale = _half(blocks, 0)
    return _nibbles(blocks[..., 6:]) | _fifth_bits(blocks[..., 2:6]), scale, -16 * scale, 5


def _q5_1(blocks: Array) -> Unpacked:
    codes = _nibbles(blocks[..., 8:]) | _fifth_bits(blocks[..., 4:8])
    return codes, _half(blocks, 0), _half(blocks, 2), 5


def _q8_0(blocks: Array) -> Unpacked:
    scale = _half(blocks, 0)
    return blocks[..., 2:] ^ 128, scale, -128 * scale, 8


def _super_block(blocks: Array) -> tuple[Array, Array]:
    """Scales and biases of the eight groups in a block of Q4_K or Q5_K: six bits each, in twelve bytes."""
    six = blocks[..., 4:16].reshape(*blocks.shape[:-1], 3, 4)
    first, second, third = six[..., 0, :], six[..., 1, :], six[..., 2, :]
    scales = np.concatenate([first & 63, (third & 15) | (first >> 6 << 4)], axis=-1)
    least = np.concatenate([second & 63, (third >> 4) | (second >> 6 << 4)], axis=-1)
    return _half(blocks, 0) * scales, -_half(blocks, 2) * least


def _halves(data: Array) -> Array:
    """Bytes [..., 128]: of each 32 the lower halves are a group, and the upper ones the next."""
    four = data.reshape(*data.shape[:-1], 4, 32)
    return _nibbles(four).reshape(*data.shape[:-1], 256)


def _q4_k(blocks: Array) -> Unpacked:
    return _halves(blocks[..., 16:]), *_super_block(blocks), 4


def _q5_k(blocks: Array) -> Unpacked:
    fifth = blocks[..., None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None] & 1  # a bit per group
    codes = _halves(blocks[..., 48:]) | (fifth << 4).reshape(*blocks.shape[:-1], 256)
    return codes, *_super_block(blocks), 5


_UNPACKED: dict[str, Callable[[Array], Unpacked]] = {
    "Q4_0": _q4_0, "Q4_1": _q4_1, "Q5_0": _q5_0, "Q5_1": _q5_1, "Q8_0": _q8_0, "Q4_K": _q4_k, "Q5_K": _q5_k,
}  # fmt: skip
"""Types whose weights are scale * code + bias by 32: only scales and biases are rounded, to the type of activations."""

"""Philox-4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a counter-based generator, and normal numbers from it (Z3)."""

import math

import mlx.core as mx

ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_MASK = 0xFFFFFFFF
_SMALLEST = 1e-7

Words = tuple[mx.array, mx.array, mx.array, mx.array]


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """Four uint32 [n] of random bits for each of n counters of four uint32."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        high0, low0 = _product(c0, _MULTIPLIERS[0])
        high1, low1 = _product(c2, _MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ _word(k0), low1, high0 ^ c3 ^ _word(k1), low0
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return c0, c1, c2, c3


def normals(blocks: mx.array, layers: mx.array, numbers: mx.array, seed: int) -> mx.array:
    """Independent normal numbers, float32 [4 n], for n counters (block, layer, number of the matrix, 0).

    Element e of a matrix is number e % 4 of its block e // 4. The key is the seed, a signed 64-bit integer. Box-Muller
    on pairs of words, with u = word / 2**32 and u1 at least 1e-7.
    """
    zeros = mx.zeros_like(blocks)
    words = philox((blocks, layers, numbers, zeros), (seed & _MASK, seed >> 32 & _MASK))
    first = _pair(words[0], words[1])
    second = _pair(words[2], words[3])
    return mx.stack([*first, *second], axis=-1).flatten()


def _pair(first: mx.array, second: mx.array) -> tuple[mx.array, mx.array]:
    radius = mx.sqrt(-2 * mx.log(mx.maximum(_uniform(first), _SMALLEST)))
    angle = 2 * math.pi * _uniform(second)
    return radius * mx.cos(angle), radius * mx.sin(angle)


def _uniform(word: mx.array) -> mx.array:
    return word.astype(mx.float32) * (1 / (1 << 32))


def _product(word: mx.array, multiplier: int) -> tuple[mx.array, mx.array]:
    """High and low half of the 64-bit product."""
    whole = word.astype(mx.uint64) * mx.array(multiplier, mx.uint64)
    return (whole >> mx.array(32, mx.uint64)).astype(mx.uint32), whole.astype(mx.uint32)


def _word(value: int) -> mx.array:
    return mx.array(value, mx.uint32)

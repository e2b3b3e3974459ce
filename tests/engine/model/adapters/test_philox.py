"""The counter-based generator against its published answers, and the normal numbers made of it."""

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.engine.model.adapters.philox import normals, philox

# Known answers of Random123 1.14 (kat_vectors: philox4x32, 10 rounds).
ANSWERS = [
    ([0, 0, 0, 0], (0, 0), [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, (0xFFFFFFFF, 0xFFFFFFFF), [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        (0xA4093822, 0x299F31D0),
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def noise(count: int, seed: int, layer: int = 0, number: int = 0, first: int = 0) -> np.ndarray:
    blocks = mx.arange(first, first + count, dtype=mx.uint32)
    return np.array(normals(blocks, mx.full((count,), layer, mx.uint32), mx.full((count,), number, mx.uint32), seed))


@pytest.mark.parametrize(("counter", "key", "expected"), ANSWERS)
def test_philox_gives_the_published_numbers(
    counter: list[int], key: tuple[int, int], expected: list[int]
) -> None:  # Z3
    words = philox(tuple(mx.array([word], mx.uint32) for word in counter), key)  # type: ignore[arg-type]
    assert [word.item() for word in words] == expected


def test_the_smallest_word_gives_no_infinite_number(monkeypatch: pytest.MonkeyPatch) -> None:  # Z3
    zeros = mx.zeros((1,), mx.uint32)
    monkeypatch.setattr("pie_mlx.engine.model.adapters.philox.philox", lambda counter, key: (zeros,) * 4)
    largest = np.sqrt(-2 * np.log(1e-7))
    assert np.allclose(noise(1, 1), [largest, 0, largest, 0], atol=1e-5)


def test_the_numbers_are_normal() -> None:  # Z3
    values = noise(50_000, 7)
    assert np.isfinite(values).all()
    assert abs(values.mean()) < 0.01
    assert abs(values.std() - 1) < 0.01
    assert abs((np.abs(values) < 1).mean() - 0.6827) < 0.005
    assert abs(np.corrcoef(values[0::4], values[1::4])[0, 1]) < 0.02


def test_a_number_depends_on_its_own_counter_only() -> None:  # Z3
    assert (noise(10, 5)[12:20] == noise(2, 5, first=3)).all()


@pytest.mark.parametrize("other", [{"seed": 2}, {"seed": -1}, {"seed": 1 + (1 << 32)}, {"layer": 1}, {"number": 1}])
def test_seed_layer_and_matrix_each_change_the_numbers(other: dict[str, int]) -> None:  # Z3
    assert (noise(4, **({"seed": 1} | other)) != noise(4, 1)).all()

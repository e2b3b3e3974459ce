"""Fast matrix products on Linux."""

import mlx.core as mx
import numpy as np

from pie_mlx.backends.cpu.blas import blas


def test_what_is_in_use_has_a_name_and_multiplies_right() -> None:
    assert blas().name
    random = np.random.default_rng(3)
    a, b = random.standard_normal((130, 70), np.float32), random.standard_normal((70, 90), np.float32)
    np.testing.assert_allclose(np.array(mx.array(a) @ mx.array(b)), a @ b, atol=1e-4)

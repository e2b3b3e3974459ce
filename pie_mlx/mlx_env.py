"""Settings of MLX's Metal backend that it reads from the environment once, when it is imported."""

import os
import sys
from collections.abc import MutableMapping

from pie_mlx.system import memory_bytes

MAX_OPS = 2000
"""Operations per command buffer. The default of 20 to 50 ends one every few layers; the gain levels off here."""

SPARE_MEBI_ELEMENTS = 64
"""Elements that a command buffer may touch besides the page pool, in 2^20."""


def set_mlx_variables(environment: MutableMapping[str, str], memory_bytes: int) -> None:
    """Let a whole decode step fit one command buffer. What the user has set stays.

    MLX ends a command buffer when the arrays it touches have more than MLX_MAX_MB_PER_BUFFER × 2^20 elements in sum
    (elements, whatever its name says): with the default of 40 or 50 every attention over a large pool would end one.
    The pool's size is not known yet; it may reach half of `memory_bytes`, in elements of two bytes.
    """
    environment.setdefault("MLX_MAX_OPS_PER_BUFFER", str(MAX_OPS))
    pool_elements = memory_bytes // 4
    environment.setdefault("MLX_MAX_MB_PER_BUFFER", str((pool_elements >> 20) + SPARE_MEBI_ELEMENTS))


def prepare_for_mlx() -> None:
    """`set_mlx_variables` on a Mac; elsewhere MLX has no such variables."""
    if sys.platform == "darwin":
        set_mlx_variables(os.environ, memory_bytes())

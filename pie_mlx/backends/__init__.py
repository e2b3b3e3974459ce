"""Compute devices: one interface, and one implementation per device. No other room asks which device it is."""

from pie_mlx.backends.base import Backend
from pie_mlx.backends.choice import current_backend, using

__all__ = ["Backend", "current_backend", "using"]

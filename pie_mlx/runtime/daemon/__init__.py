"""Programs that answer HTTP: each request runs in a process of its own."""

from pie_mlx.runtime.daemon.exchange import Exchange, Head
from pie_mlx.runtime.daemon.program import builtin_program
from pie_mlx.runtime.daemon.resident import resident_entry
from pie_mlx.runtime.daemon.shared_loop import SharedLoop

__all__ = ["Exchange", "Head", "SharedLoop", "builtin_program", "resident_entry"]

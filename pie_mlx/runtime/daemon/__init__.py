"""Programs that answer HTTP: each request runs in a process of its own."""

from pie_mlx.runtime.daemon.builtin_programs import builtin_program, install_builtins
from pie_mlx.runtime.daemon.exchange import Head, HttpExchange, WakeupBatcher
from pie_mlx.runtime.daemon.resident import ResidentProgram, SharedLoop

__all__ = [
    "Head",
    "HttpExchange",
    "ResidentProgram",
    "SharedLoop",
    "WakeupBatcher",
    "builtin_program",
    "install_builtins",
]

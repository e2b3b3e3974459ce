"""Programs that answer HTTP: a process per request, and the exchange that joins it to the server."""

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

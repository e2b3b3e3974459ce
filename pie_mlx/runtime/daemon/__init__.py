"""Programs that answer HTTP: each request runs in a process of its own."""

from pie_mlx.runtime.daemon.builtin_programs import builtin_program, install_builtins
from pie_mlx.runtime.daemon.exchange import Exchange, Head, Postbox
from pie_mlx.runtime.daemon.resident import Resident, SharedLoop

__all__ = ["Exchange", "Head", "Postbox", "Resident", "SharedLoop", "builtin_program", "install_builtins"]

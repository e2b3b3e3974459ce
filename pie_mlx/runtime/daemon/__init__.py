"""Programs that answer HTTP: each request runs in a process of its own."""

from pie_mlx.runtime.daemon.exchange import Exchange, Head
from pie_mlx.runtime.daemon.postbox import Postbox
from pie_mlx.runtime.daemon.program import builtin_program, install_builtins
from pie_mlx.runtime.daemon.resident import Resident
from pie_mlx.runtime.daemon.shared_loop import SharedLoop

__all__ = ["Exchange", "Head", "Postbox", "Resident", "SharedLoop", "builtin_program", "install_builtins"]

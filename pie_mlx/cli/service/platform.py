"""The supervisor of this platform."""

import os
import sys
from pathlib import Path

from pie_mlx.cli.service.launchd import Launchd
from pie_mlx.cli.service.supervisor import Supervisor, run
from pie_mlx.cli.service.systemd import Systemd
from pie_mlx.errors import ProcessError


def supervisor_here(platform: str = sys.platform) -> Supervisor:
    """Raises ProcessError where there is none."""
    user_home = Path.home()
    if platform == "darwin":
        return Launchd(user_home / "Library" / "LaunchAgents", user_home / "Library" / "Logs", os.getuid(), run)
    if platform == "linux":
        configuration = Path(os.environ.get("XDG_CONFIG_HOME") or user_home / ".config")
        return Systemd(configuration / "systemd" / "user", run)
    raise ProcessError(f"service: {platform} is not supported", hint="start the engine with 'pie serve'")

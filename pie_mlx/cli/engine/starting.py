"""What a command must know of the running engine before it uses it: whether it starts up, and with which settings."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from pie_mlx.cli.options import Common
from pie_mlx.client.discovery import is_home_in_use, local_engine
from pie_mlx.config import setting_variables

POLL_SECONDS = 0.05


def await_starting(home: Path, common: Common) -> None:
    """Wait for an engine that loads its model, and for one that ends. Others are there, or are not."""
    if not is_home_in_use(home) or local_engine(home) is not None:
        return
    if not common.quiet:
        print(f"pie: the engine on {home} is starting or ending: waiting for it", file=sys.stderr, flush=True)
    while is_home_in_use(home) and local_engine(home) is None:
        time.sleep(POLL_SECONDS)


def warn_of_unused_settings(home: Path, common: Common, environment: Mapping[str, str] = os.environ) -> None:
    """Name the settings of the environment that the engine of `home`, or the one at an address, does not have."""
    mine = setting_variables(environment)
    if common.quiet or not mine:
        return
    named = common.url or environment.get("PIE_URL")
    engine = None if named else local_engine(home)
    theirs = engine.variables if engine is not None else {}
    if unused := [name for name in mine if mine[name] != theirs.get(name)]:
        print(
            f"pie: warning: {', '.join(unused)}: without effect on an engine that runs already: set "
            f"{'it' if len(unused) == 1 else 'them'} for 'pie serve', or start another engine with --one-shot",
            file=sys.stderr,
        )

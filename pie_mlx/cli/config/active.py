"""The configuration in effect."""

import os
import sys
from pathlib import Path

from pie_mlx.cli.options import Common
from pie_mlx.config import LoadedConfig, load_config, pie_home


def active_config(common: Common) -> LoadedConfig:
    """Load the configuration, and warn of keys without effect. Raises ConfigError."""
    loaded = load_config(common.config)
    if not common.quiet:
        for warning in loaded.warnings:
            print(f"pie: warning: {warning}", file=sys.stderr)
    return loaded


def home() -> Path:
    """`$PIE_HOME`."""
    return pie_home(os.environ)

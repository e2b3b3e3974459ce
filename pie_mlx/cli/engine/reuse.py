"""Whether a running engine serves the model that a command names."""

import os
import sys
from pathlib import Path

from pie_mlx.client.discovery import Address, LocalEngine, local_engine
from pie_mlx.engine.model.loading.sources import model_identity
from pie_mlx.engine.settings import EngineSettings

DUMMY = "random tokens"
"""What an engine without weights serves."""


def served_source(settings: EngineSettings) -> str:
    """The identity of the model with these settings, whatever its name."""
    return DUMMY if settings.dummy else model_identity(settings.model, settings.revision)


def reusable_engine(wanted: str, settings: EngineSettings, home: Path, *, quiet: bool) -> Address | None:
    """The running engine, if it serves the model `wanted` with these settings.

    If it serves another one, a line on standard error says that a second engine starts.
    """
    if url := os.environ.get("PIE_URL"):
        theirs = f"the model of {url} is unknown"
    elif (found := local_engine(home)) is None:
        return None
    elif _serves(found, wanted, settings):
        return Address(found.url, found.socket)
    else:
        theirs = f"the running one serves {_described(found)}"
    if not quiet:
        print(f"pie: a second engine is started for {wanted}: {theirs}", file=sys.stderr)
    return None


def _serves(engine: LocalEngine, wanted: str, settings: EngineSettings) -> bool:
    source = served_source(settings)
    # A name that is neither a directory nor a model here may be the engine's own name for its model.
    is_its_name = wanted == engine.model == source and engine.source != DUMMY
    return source == engine.source or is_its_name


def _described(engine: LocalEngine) -> str:
    return DUMMY if engine.source == DUMMY else engine.model or "another model"

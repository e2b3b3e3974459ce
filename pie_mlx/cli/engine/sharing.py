"""Whether the engine that runs serves the model a command names."""

import os
import sys
from pathlib import Path

from pie_mlx.client.discovery import Address, LocalEngine, local_engine
from pie_mlx.engine.model.sources import model_identity
from pie_mlx.engine.settings import EngineSettings

DUMMY = "random tokens"
"""What an engine without weights serves."""


def served_source(settings: EngineSettings) -> str:
    """What an engine with these settings serves, whatever it is called."""
    return DUMMY if settings.dummy else model_identity(settings.model, settings.revision)


def engine_with(wanted: str, settings: EngineSettings, home: Path, *, quiet: bool) -> Address | None:
    """The engine that runs, if it serves the model called `wanted`, which has these settings.

    Where one runs that does not, a line on standard error says that there will be two.
    """
    if url := os.environ.get("PIE_URL"):
        theirs = f"what {url} serves is not known"
    elif (found := local_engine(home)) is None:
        return None
    elif _serves(found, wanted, settings):
        return Address(found.url, found.socket)
    else:
        theirs = f"the one that runs serves {_told(found)}"
    if not quiet:
        print(f"pie: a second engine is started for {wanted}: {theirs}", file=sys.stderr)
    return None


def _serves(engine: LocalEngine, wanted: str, settings: EngineSettings) -> bool:
    source = served_source(settings)
    # A name that means nothing here, neither a directory nor a model of ours, can be what the engine calls its model.
    is_its_name = wanted == engine.model == source and engine.source != DUMMY
    return source == engine.source or is_its_name


def _told(engine: LocalEngine) -> str:
    return DUMMY if engine.source == DUMMY else engine.model or "another model"

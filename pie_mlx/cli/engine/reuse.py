"""Whether a running engine serves the model that a command names."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.client.discovery import Address, LocalEngine, local_engine
from pie_mlx.engine.model.loading.sources import model_identity
from pie_mlx.engine.settings import EngineSettings

DUMMY = "random tokens"
"""What an engine without weights serves."""


def served_source(settings: EngineSettings) -> str:
    """The identity of the model with these settings, whatever its name."""
    return DUMMY if settings.dummy else model_identity(settings.model, settings.revision)


@dataclass(frozen=True, slots=True)
class Serving:
    """An engine that runs, and which of its models is wanted: "" is its default one."""

    address: Address
    model: str = ""


def reusable_engine(wanted: str, settings: EngineSettings, home: Path, *, quiet: bool) -> Serving | None:
    """The running engine, if it serves the model `wanted` with these settings.

    If it does not, a line on standard error says that a second engine starts.
    """
    if url := os.environ.get("PIE_URL"):
        theirs = f"the model of {url} is unknown"
    elif (found := local_engine(home)) is None:
        return None
    else:
        source, models = served_source(settings), {found.model: found.source, **found.others}
        if served := [name for name in models if _is(wanted, source, name, models[name])]:
            name = wanted if wanted in served else served[0]
            return Serving(Address(found.url, found.socket), "" if name == found.model else name)
        theirs = f"the running one serves {_described(found)}"
    if not quiet:
        print(f"pie: a second engine is started for {wanted}: {theirs}", file=sys.stderr)
    return None


def _is(wanted: str, source: str, its_name: str, its_source: str) -> bool:
    # A name that is neither a directory nor a model here may be the engine's own name for its model.
    return source == its_source or (wanted == its_name == source and its_source != DUMMY)


def _described(engine: LocalEngine) -> str:
    first = DUMMY if engine.source == DUMMY else engine.model or "another model"
    return ", ".join([first, *engine.others])

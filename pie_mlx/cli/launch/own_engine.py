"""An engine in a process of its own, for as long as a client runs."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager

from pie_mlx.cli.config.active import active_config
from pie_mlx.cli.engine.spawning import await_engine, end_engine, spawn_engine
from pie_mlx.cli.options import Common


@contextmanager
def own_engine(model: str | None, common: Common) -> Generator[str]:
    """The address of a new engine on any free port, which ends with the block. Raises ConfigError if it cannot start.

    Ctrl-C in the client's terminal does not reach it, and what it prints does not disturb the client.
    """
    active_config(common)  # says what is wrong with it before anything starts
    with tempfile.TemporaryFile() as output:
        process = spawn_engine(engine_words(model), output, common)
        try:
            yield await_engine(process, output, common).url
        finally:
            end_engine(process)


def engine_words(model: str | None) -> list[str]:
    words = ["--port", "0", "--quiet"]
    return [*words, "--model", model] if model is not None else words

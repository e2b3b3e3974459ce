"""What `pie auth trust` does."""

import json
import os
from pathlib import Path

from pie_mlx.cli.engine.connection import key_in_use
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.interrupts import run_interruptible
from pie_mlx.client import connect
from pie_mlx.client.known_engines import KnownEngines
from pie_mlx.login import fingerprint


def trust_engine(common: Common, url: str, file: Path | None) -> None:
    """Write down which engine is at an address. Raises EngineKeyError where it does not prove its key."""

    async def ask(protect: object) -> bytes:
        del protect
        async with await connect(url) as client:
            return await client.engine_key()

    key = run_interruptible(ask)
    known = KnownEngines(file) if file else KnownEngines.beside(key_in_use(os.environ))
    known.trust(url, key)
    print(json.dumps({"url": url, "fingerprint": fingerprint(key)}) if common.json else fingerprint(key))

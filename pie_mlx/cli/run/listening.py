"""`pie run --port`: on an engine of its own that other clients can reach while the program runs."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from pie_mlx.cli.engine.model_settings import model_name
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.remote import RemoteRun
from pie_mlx.cli.terminal.interrupts import Protect
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.client import Address
from pie_mlx.config import pie_home
from pie_mlx.config.schema import Config
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.events import Event


@dataclass(frozen=True, slots=True)
class ListeningRun:
    """The program runs like that of any client, so that other clients see it.

    The engine is not announced in its home directory: it ends with the program, and other commands must not find it.
    """

    program: Callable[[Address], RemoteRun]
    settings: EngineSettings
    config: Config
    port: int
    observers: Sequence[Callable[[Event], None]]
    common: Common

    async def run(self, protect: Protect) -> int:
        with progress_line(self.common) as (progress, loaded):
            # Loads MLX and the model libraries, so the command line is checked first.
            from pie_mlx.server import Server
            from pie_mlx.server.configured import engine_maker, registry_limits, server_settings, user_keys

            home, change = pie_home(os.environ), msgspec.structs.replace
            config = change(self.config, server=change(self.config.server, port=self.port))
            server = Server(
                server_settings(config),
                engine_maker(config, [self.settings], home, progress=progress),
                home=home,
                model=model_name(self.settings),
                keys=user_keys(config, home),
                limits=registry_limits(config),
                announces=False,
                observers=self.observers,
            )
            async with server:
                protect()
                loaded()
                if not self.common.quiet:
                    print(f"pie: listening at {server.url}", file=sys.stderr, flush=True)
                return await self.program(Address(server.url, token=server.token)).run(protect)

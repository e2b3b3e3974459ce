"""From the configuration to a server."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from pie_mlx.config.authorized_users import AuthorizedUsers, authorized_users_file
from pie_mlx.config.schema import Config
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import ConfigError
from pie_mlx.events import Event
from pie_mlx.runtime.children import ResolveName
from pie_mlx.runtime.configured import launch_limits, mcp_servers, worker_settings
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.registry import KeptLimits, RegistryLimits
from pie_mlx.server.server import EngineMaker
from pie_mlx.server.settings import ServerSettings


def server_settings(config: Config) -> ServerSettings:
    """Where to listen, and how much to take on."""
    server = config.server
    return ServerSettings(
        host=server.host,
        port=server.port,
        connections=server.max_connections,
        origins=tuple(server.allowed_origins),
        frame_bytes=server.max_frame_mb << 20,
        upload_bytes=config.runtime.max_upload_mb << 20,
        authentication=config.auth.enabled,
        trusted_owners=tuple(config.auth.trusted_owners),
        challenge_seconds=config.auth.challenge_timeout_secs,
        failures=config.auth.max_failures,
        mcp_seconds=config.runtime.mcp_timeout_secs,
        stop_seconds=config.model[0].engine.shutdown_timeout_s if config.model else ServerSettings().stop_seconds,
    )


def registry_limits(config: Config) -> RegistryLimits:
    """How many processes run, and how much is kept of them."""
    server = config.server
    return RegistryLimits(
        concurrent=server.max_concurrent_processes,
        finished_grace_seconds=server.finished_grace_secs,
        detached_seconds=server.detached_timeout_secs,
        kept=dataclasses.replace(KeptLimits(), events=server.detached_buffer_events),
    )


def user_keys(config: Config, home: Path) -> AuthorizedUsers | None:
    """None when authentication is off. Raises ConfigError when it is on and nobody could connect."""
    if not config.auth.enabled:
        return None
    users = AuthorizedUsers(authorized_users_file(config, home))
    if not any(users.users().values()):
        raise ConfigError(
            f"auth: {users.file}: there is no key, so nobody could connect", hint="add one with 'pie auth add'"
        )
    return users


def engine_maker(
    config: Config, settings: EngineSettings, home: Path, *, progress: Callable[[str], None]
) -> EngineMaker:
    """Makes the engine a server serves. Raises ConfigError for programs inside of the server's own process."""
    runtime = config.runtime
    if runtime.isolation == "inline":
        raise ConfigError(
            "runtime.isolation = 'inline': a server keeps programs out of its own process",
            hint="set it to 'process'; 'inline' is for tests and notebooks",
        )

    def make(on_event: Callable[[Event], None], resolve: ResolveName) -> Engine:
        return Engine(
            settings,
            on_event=on_event,
            progress=progress,
            isolation="process",
            workers=worker_settings(runtime, home),
            mcp=mcp_servers(config.mcp),
            mcp_timeout_seconds=runtime.mcp_timeout_secs,
            launch_limits=launch_limits(runtime),
            resolve=resolve,
        )

    return make

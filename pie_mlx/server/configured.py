"""A server's settings, made from the configuration."""

import dataclasses
from collections.abc import Callable, Sequence
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
from pie_mlx.telemetry.configured import content_details


def server_settings(config: Config) -> ServerSettings:
    """Address and limits of a server."""
    server = config.server
    return ServerSettings(
        host=server.host,
        port=server.port,
        connections=server.max_connections,
        origins=tuple(server.allowed_origins),
        host_names=tuple(name.lower() for name in server.allowed_hosts),
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
    """Limits on processes and on their kept events."""
    server = config.server
    return RegistryLimits(
        concurrent=server.max_concurrent_processes,
        finished_grace_seconds=server.finished_grace_secs,
        detached_seconds=server.detached_timeout_secs,
        kept=dataclasses.replace(KeptLimits(), events=server.detached_buffer_events),
    )


def user_keys(config: Config, home: Path) -> AuthorizedUsers | None:
    """The users' keys; None if authentication is off. Raises ConfigError if it is on and there is no key."""
    if not config.auth.enabled:
        return None
    users = AuthorizedUsers(authorized_users_file(config, home))
    if not any(users.users().values()):
        raise ConfigError(
            f"auth: {users.file}: there is no key, so no client could connect", hint="add one with 'pie auth add'"
        )
    return users


def engine_maker(
    config: Config, settings: Sequence[EngineSettings], home: Path, *, progress: Callable[[str], None]
) -> EngineMaker:
    """A function that makes the engine. Raises ConfigError if programs would run in the server's process."""
    runtime = config.runtime
    if runtime.isolation == "inline":
        raise ConfigError(
            "runtime.isolation = 'inline': not allowed for a server",
            hint="set it to 'process'; 'inline' is for tests and notebooks",
        )

    def make(on_event: Callable[[Event], None], resolve: ResolveName) -> Engine:
        return Engine(
            settings,
            aliases=config.aliases,
            on_event=on_event,
            progress=progress,
            isolation="process",
            workers=worker_settings(runtime, home),
            mcp=mcp_servers(config.mcp),
            mcp_timeout_seconds=runtime.mcp_timeout_secs,
            launch_limits=launch_limits(runtime),
            resolve=resolve,
            details=content_details(config.telemetry),
            joins_traces=config.telemetry.enabled,
        )

    return make

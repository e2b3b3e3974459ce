"""Settings of a server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`port` 0 means any free port. `origins` of web pages that may connect: `scheme://host[:port]`.

    `host_names`: lower-case names besides this machine's own by which clients may call an engine on loopback.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    connections: int = 256
    unauthenticated: int = 128
    origins: tuple[str, ...] = ()
    host_names: tuple[str, ...] = ()
    frame_bytes: int = 16 << 20
    upload_bytes: int = 256 << 20
    upload_pause_seconds: float = 60.0
    authentication: bool = False
    trusted_owners: tuple[str, ...] = ()
    challenge_seconds: float = 60.0
    authentication_seconds: float = 30.0
    failures: int = 5
    slow_reader_seconds: float = 10.0
    pong_seconds: float = 5.0
    mcp_seconds: float = 120.0
    stop_seconds: float = 5.0

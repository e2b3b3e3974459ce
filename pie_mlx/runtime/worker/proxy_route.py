"""How a worker reaches its proxy, and how its program learns of it."""

import base64
import os
import secrets
import socket
import ssl
import sys
from collections.abc import Callable, Sequence
from typing import Literal

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.worker.frames.messages import LaunchSpec

Route = Literal["closed", "namespace", "port"]
"""Programs reach nothing; or a proxy in a network of their own (Linux); or one on a port of this machine."""

ProxyListener = socket.socket | OSError | None

_USER = "pie"
_HOST = "127.0.0.1"
_CERTIFICATES = (
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/usr/share/ca-certificates",
    "/private/etc/ssl",
)
"""Where systems keep the authorities that https trusts."""


def new_password() -> str:
    """For a proxy on a port of this machine, which others can see too."""
    return secrets.token_urlsafe(24)


def authorization(password: str) -> str:
    """What a client with the variables of `proxy_variables` presents."""
    return "Basic " + base64.b64encode(f"{_USER}:{password}".encode()).decode()


def open_listener() -> socket.socket:
    """A socket for a proxy, on any free port of loopback. Raises OSError."""
    return socket.create_server((_HOST, 0))


def leave_network() -> socket.socket | OSError:
    """Leave the machine's network for one of this process's own; a socket there for a proxy, or why there is none."""
    from pie_mlx.runtime.sandbox.namespace import enter_network_namespace

    try:
        enter_network_namespace()
        return open_listener()
    except OSError as error:
        return error


def set_up_route(spec: LaunchSpec, listener: ProxyListener, hand_over: Callable[[socket.socket], None]) -> int | None:
    """Make the proxy reachable for this process, and say so in its environment. Answers its port, None without one.

    `hand_over` gives the listener that `leave_network` answered to the engine. Raises LaunchError.
    """
    if spec.route == "closed":
        if sys.platform == "darwin":
            # Otherwise urllib asks the system for its proxies, in a library that a forked process must not use.
            os.environ["no_proxy"] = "*"
        return None
    port = spec.proxy_port
    if spec.route == "namespace":
        port = _given(listener, hand_over)
    os.environ.update(proxy_variables(port, spec.proxy_password))
    return port


def certificate_paths() -> Sequence[str]:
    """What a program must read to check certificates."""
    usual = ssl.get_default_verify_paths()
    own = (usual.cafile, usual.capath, usual.openssl_cafile, usual.openssl_capath)
    return [os.path.realpath(path) for path in (*_CERTIFICATES, *own) if path and os.path.exists(path)]


def proxy_variables(port: int, password: str) -> dict[str, str]:
    """What the usual libraries obey."""
    credentials = f"{_USER}:{password}@" if password else ""
    url = f"http://{credentials}{_HOST}:{port}"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), url)
    return proxies | {"NO_PROXY": "", "no_proxy": ""}


def _given(listener: ProxyListener, hand_over: Callable[[socket.socket], None]) -> int:
    """The port of a listener that is the engine's now."""
    if not isinstance(listener, socket.socket):
        raise LaunchError(
            f"network: this worker has none of its own: {listener}", hint="see the network line of 'pie doctor'"
        )
    with listener:
        hand_over(listener)
        return listener.getsockname()[1]

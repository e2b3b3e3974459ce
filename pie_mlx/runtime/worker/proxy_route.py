"""How a worker reaches its proxy, and the variables that tell its program."""

import base64
import os
import secrets
import socket
import ssl
import sys
from collections.abc import Callable, Sequence
from typing import Literal

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.worker.frames.messages import LaunchSpec, Listening

Route = Literal["closed", "namespace", "port"]
"""No network; or a proxy in a network namespace of their own (Linux); or a proxy on a port of this machine."""

ProxyListener = socket.socket | OSError | None
HandOver = Callable[[socket.socket, Listening], None]

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
"""Where systems keep certificate authorities."""


def new_password() -> str:
    """A password for a proxy on a port of this machine, which other processes can reach."""
    return secrets.token_urlsafe(24)


def authorization(password: str) -> str:
    """The Proxy-Authorization value of clients that use `proxy_variables`."""
    return "Basic " + base64.b64encode(f"{_USER}:{password}".encode()).decode()


def open_listener() -> socket.socket:
    """A listening socket for a proxy, on a free loopback port. Raises OSError."""
    return socket.create_server((_HOST, 0))


def leave_network() -> socket.socket | OSError:
    """Move to a network namespace of its own; returns a listening socket in it, or the error."""
    from pie_mlx.runtime.sandbox.namespace import enter_network_namespace

    try:
        enter_network_namespace()
        return open_listener()
    except OSError as error:
        return error


def set_up_route(spec: LaunchSpec, listener: ProxyListener, hand_over: HandOver) -> int | None:
    """Make the proxy reachable and set this process's environment variables. Returns its port, None without one.

    `hand_over` passes the listener of `leave_network` to the engine. Raises LaunchError.
    """
    if spec.route == "closed":
        if sys.platform == "darwin":
            # Otherwise urllib queries the system proxies, through a library that is unsafe after a fork.
            os.environ["no_proxy"] = "*"
        return None
    port = spec.proxy_port
    if spec.route == "namespace":
        port = _given(listener, hand_over)
    os.environ.update(proxy_variables(port, spec.proxy_password))
    return port


def certificate_paths() -> Sequence[str]:
    """Paths a program must read to verify certificates."""
    usual = ssl.get_default_verify_paths()
    own = (usual.cafile, usual.capath, usual.openssl_cafile, usual.openssl_capath)
    return [os.path.realpath(path) for path in (*_CERTIFICATES, *own) if path and os.path.exists(path)]


def proxy_variables(port: int, password: str) -> dict[str, str]:
    """The proxy variables that common libraries use."""
    credentials = f"{_USER}:{password}@" if password else ""
    url = f"http://{credentials}{_HOST}:{port}"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), url)
    return proxies | {"NO_PROXY": "", "no_proxy": ""}


def _given(listener: ProxyListener, hand_over: HandOver) -> int:
    """Pass the listener to the engine; returns its port."""
    if not isinstance(listener, socket.socket):
        raise LaunchError(
            f"network: the worker has no network namespace: {listener}", hint="see the network line of 'pie doctor'"
        )
    with listener:
        hand_over(listener, Listening())
        return listener.getsockname()[1]

"""What a worker is given before it becomes Node."""

import sys

from pie_mlx.runtime.javascript.command import loaders
from pie_mlx.runtime.sandbox import Policy
from pie_mlx.runtime.worker.frames.messages import NodeStart

NODE_LINK = 3
"""The descriptor of the link in Node."""


def node_policy(start: NodeStart, proxy_port: int | None) -> Policy:
    """The walls of Node: nothing but it and the loader may be executed."""
    executable = (start.command[0], *(loaders() if sys.platform == "linux" else ()))
    isolated = proxy_port is not None and start.spec.route == "namespace"
    return Policy((*start.readable,), (start.spec.workspace,), proxy_port, isolated, executable)


def node_variables(*, proxied: bool) -> dict[str, str]:
    """Environment variables of Node, besides those of the program."""
    # A configuration of OpenSSL may name libraries to load.
    return {"OPENSSL_CONF": "/dev/null"} | ({"NODE_USE_ENV_PROXY": "1"} if proxied else {})

"""The process that `probe_node` starts: confines itself, then executes Node, which tries what is forbidden."""

import os
import socket
from collections.abc import Sequence

from pie_mlx.runtime.javascript.command import JAVASCRIPT, loaders, node_paths
from pie_mlx.runtime.javascript.node import find_node
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.confinement import confine
from pie_mlx.runtime.sandbox.policy import Policy

_ATTEMPTS = JAVASCRIPT / "worker" / "attempts.mjs"


def main(arguments: Sequence[str]) -> None:
    """`arguments`: a file that must be closed, and a directory that must be open. Node prints the findings."""
    secret, own = arguments
    listener = socket.create_server(("127.0.0.1", 0))
    listener.set_inheritable(True)
    node = find_node()
    os.chdir(own)
    drop_capabilities()
    confinement = confine(Policy((*node_paths(node),), (own,), executable=(node.path, *loaders())))
    port = listener.getsockname()[1]
    # Without the permissions: the walls alone are tried.
    command = [node.path, str(_ATTEMPTS), secret, own, str(port), confinement.text]
    os.execve(command[0], command, {"OPENSSL_CONF": "/dev/null"})

"""Ports of this machine that nobody listens on."""

import random
import socket


def free_port() -> int:
    """One below those that systems give to connections: a connection of a test beside this one would take it."""
    while True:
        port = random.SystemRandom().randint(20_000, 30_000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue

"""HTTP answers of the proxy to requests it does not carry."""

import http
from dataclasses import dataclass

KEY = "[runtime] network_allowed_hosts"


@dataclass(frozen=True, slots=True)
class Rejection:
    """`reason` is put in the status line: clients show nothing else of a refused tunnel."""

    status: int
    text: str
    reason: str = ""

    def encoded(self) -> bytes:
        """The complete answer."""
        body = f"pie-mlx: {self.text}\n".encode()
        challenge = 'Proxy-Authenticate: Basic realm="pie-mlx"\r\n' if self.status == 407 else ""
        head = (
            f"HTTP/1.1 {self.status} {self.reason or http.HTTPStatus(self.status).phrase}\r\n{challenge}"
            f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + body


def forbidden(host: str, port: int, why: str, *, nameable: bool = False) -> Rejection:
    """The 403 for a destination, with the deciding key; `nameable`: `--allow-network` may name it."""
    option = f"--allow-network={host}" if nameable else ""
    run_with = f", or run it with {option}" if option else ""
    text = f"{host} port {port}: {why}: to allow it, add it to {KEY} in the engine's config.toml{run_with}"
    return Rejection(403, text, f"Forbidden by {KEY}" + (f", {option} allows it" if option else ""))

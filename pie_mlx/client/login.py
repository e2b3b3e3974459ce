"""Log in with a key, by a signature that is valid for one engine only."""

import base64
import json
import secrets
from pathlib import Path

from pie_mlx.client.connection import Connection
from pie_mlx.client.keys import sign
from pie_mlx.client.known_engines import KnownEngines
from pie_mlx.errors import AuthError, EngineKeyError, PieError, SessionClosedError
from pie_mlx.login import CHALLENGE_BYTES, NONCE_BYTES, PUBLIC_KEY_BYTES, anyone_can_sign, engine_message, login_message

DISABLED = "Authenticated (Engine disabled authentication)"


async def log_in(
    connection: Connection, url: str, username: str, key_file: Path | None, *, allow_unbound: bool = False
) -> None:
    """Raises AuthError where the engine asks for a key and there is none, or refuses it, and EngineKeyError where the
    engine is not the one known at `url`.

    `allow_unbound` signs the bare challenge of an engine that has no key to bind the signature to. The server at `url`
    can use such a signature to log in elsewhere.
    """
    answer = await connection.ask("auth_identify", username=username)
    if answer == DISABLED:
        return
    challenge = _decoded(answer, CHALLENGE_BYTES, "challenge")
    if key_file is None:
        raise AuthError(f"the engine asks for a key of user '{username}'", hint="name the file of its private key")
    known = KnownEngines.beside(key_file)
    try:
        engine_key = await proved_key(connection)
    except EngineKeyError:
        if not allow_unbound or known.knows(url):
            raise
        message = challenge
    else:
        known.check(url, engine_key)
        message = login_message(engine_key, challenge, username)
    await connection.ask("auth_prove", signature=sign(key_file, message))


async def proved_key(connection: Connection) -> bytes:
    """The public key of the engine, with proof that it has the private one. Raises EngineKeyError without proof."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    try:
        answer = await connection.ask("auth_engine", nonce=base64.b64encode(nonce).decode())
    except SessionClosedError:
        raise
    except PieError as error:
        raise EngineKeyError(
            f"the engine does not prove which one it is: {error.message}",
            hint="update it; PIE_UNBOUND_LOGIN=1 logs in to an old engine, which could then log in elsewhere as you",
        ) from None
    return _proved(answer, nonce)


def _proved(answer: str, nonce: bytes) -> bytes:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        found = json.loads(answer)
        key = _decoded(found["key"], PUBLIC_KEY_BYTES, "key")
        Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(found["proof"]), engine_message(nonce))
        proved = not anyone_can_sign(key)
    except (ValueError, TypeError, KeyError, RecursionError, InvalidSignature):
        proved, key = False, b""
    if not proved:
        raise EngineKeyError("the engine has no proof of the public key that it sent", hint="check the address")
    return key


def _decoded(text: str, size_bytes: int, what: str) -> bytes:
    """The bytes of base64 text. Raises AuthError for anything but `size_bytes` bytes."""
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        found = b""
    if len(found) != size_bytes:
        raise AuthError(f"the {what} of the server is not {size_bytes} bytes of base64", hint="is it a pie engine?")
    return found

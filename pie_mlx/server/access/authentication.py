"""Authenticates connections."""

import base64
import binascii
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pie_mlx.config.user_names import RESERVED_USER, user_name_problem
from pie_mlx.errors import AuthError
from pie_mlx.login import CHALLENGE_BYTES, NONCE_BYTES, login_message
from pie_mlx.runtime.registry import User
from pie_mlx.server.access.engine_key import EngineKey

DISABLED = "Authenticated (Engine disabled authentication)"
"""Clients compare this text; with any other they authenticate with a key."""
AUTHENTICATED = "Authenticated"
TOKEN_BYTES = 48


class Keys(Protocol):
    """The public keys of this engine's users."""

    def verifies(self, user: str, message: bytes, signature: bytes) -> bool:
        """Whether one of the user's keys made the signature."""
        ...


def new_token() -> str:
    """A new internal token of 64 characters, which grants all rights."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The credentials that connections are checked against. `keys` None: authentication is off. Monotonic seconds."""

    token: str
    keys: Keys | None = None
    challenge_seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic
    engine_key: EngineKey | None = None

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


@dataclass(frozen=True, slots=True)
class _Challenge:
    username: str
    secret: bytes
    until_seconds: float


class Identity:
    """The authentication state of a connection. `trusted` ones (Unix socket) need no key and have admin rights."""

    def __init__(self, authenticator: Authenticator, *, trusted: str | None = None) -> None:
        self._authenticator = authenticator
        self._trusted = trusted is not None
        self._challenge: _Challenge | None = None
        self._by_token = False
        self.failures = 0
        self.claimed = ""
        """The user name of the last attempt."""
        self.user: User | None = None
        if trusted is not None:
            self.user = User(trusted, admin=True)
        elif authenticator.keys is None:
            self.user = User("local")

    def identify(self, username: str) -> str:
        """`DISABLED` if no key is needed, else a challenge in base64, also for unknown users.

        Raises AuthError.
        """
        if problem := user_name_problem(username):
            raise self._failure(problem, "choose another name")
        keys = self._authenticator.keys
        if self._trusted or keys is None:
            self.user = User(username, admin=self._trusted or self._by_token)
            return DISABLED
        if self.user is not None and self.user.name != username:
            raise AuthError(f"Already authenticated as '{self.user.name}'", hint="open another connection")
        self.claimed = username
        secret = secrets.token_bytes(CHALLENGE_BYTES)
        until_seconds = self._authenticator.clock() + self._authenticator.challenge_seconds
        self._challenge = _Challenge(username, secret, until_seconds)
        return base64.b64encode(secret).decode()

    def show_engine(self, nonce: str) -> str:
        """The engine's public key and its signature of a nonce, as JSON. Raises AuthError."""
        engine_key = self._authenticator.engine_key
        if engine_key is None:
            raise AuthError("authentication is off, so the engine has no key", hint="send auth_identify")
        try:
            raw = base64.b64decode(nonce, validate=True)
        except ValueError:
            raw = b""
        if len(raw) != NONCE_BYTES:
            raise self._failure("Invalid nonce", f"send {NONCE_BYTES} bytes in standard base64")
        shown = {"key": engine_key.public, "proof": engine_key.prove(raw)}
        return json.dumps({name: base64.b64encode(value).decode() for name, value in shown.items()})

    def prove(self, signature: str) -> str:
        """Check a signature of the challenge, bound to this engine or bare, as the published client signs it.

        Raises AuthError. A challenge can be used once.
        """
        challenge, self._challenge = self._challenge, None
        keys = self._authenticator.keys
        if challenge is None or keys is None or challenge.until_seconds < self._authenticator.clock():
            raise self._failure("No pending authentication", "send auth_identify first")
        try:
            raw = base64.b64decode(signature, validate=True)
        except (binascii.Error, ValueError):
            raise self._failure("Invalid signature encoding: not base64", "send standard base64") from None
        if not any(keys.verifies(challenge.username, message, raw) for message in self._messages(challenge)):
            raise self._failure("Signature verification failed", "add the user's key with 'pie auth add'")
        self.user = User(challenge.username)
        return AUTHENTICATED

    def authenticate_by_token(self, token: str, username: str | None) -> str:
        """Raises AuthError for a wrong token; the caller delays that answer."""
        if self._by_token:
            return "Already authenticated"
        if not self._authenticator.is_token(token):
            raise self._failure("Invalid token", "each start of the engine makes a new token")
        if username is not None and (problem := user_name_problem(username)):
            raise self._failure(problem, "choose another name")
        self._by_token = True
        self.user = User(username or RESERVED_USER, admin=True)
        return AUTHENTICATED

    def _messages(self, challenge: _Challenge) -> Iterator[bytes]:
        if self._authenticator.engine_key is not None:
            yield login_message(self._authenticator.engine_key.public, challenge.secret, challenge.username)
        yield challenge.secret

    def _failure(self, what: str, hint: str) -> AuthError:
        self.failures += 1
        return AuthError(what, hint=hint)

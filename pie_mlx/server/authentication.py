"""Who a connection acts for."""

import base64
import binascii
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pie_mlx.config.user_names import RESERVED_USER, user_name_problem
from pie_mlx.errors import AuthError
from pie_mlx.runtime.registry import User

DISABLED = "Authenticated (Engine disabled authentication)"
"""Clients compare this text: with any other they want a key."""
AUTHENTICATED = "Authenticated"
CHALLENGE_BYTES = TOKEN_BYTES = 48


class Keys(Protocol):
    """The public keys of the users of this engine."""

    def knows(self, user: str) -> bool: ...

    def verifies(self, user: str, message: bytes, signature: bytes) -> bool:
        """Whether one of the user's keys made the signature."""
        ...


def new_token() -> str:
    """A fresh internal token: 64 characters that open everything."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """What all connections are checked against. `keys` None: authentication is off. Times are monotonic seconds."""

    token: str
    keys: Keys | None = None
    challenge_seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


@dataclass(frozen=True, slots=True)
class _Challenge:
    username: str
    secret: bytes
    until_seconds: float


class Identity:
    """The state of one connection. `trusted` connections (the Unix socket) need no key and have admin rights."""

    def __init__(self, doorkeeper: Doorkeeper, *, trusted: str | None = None) -> None:
        self._doorkeeper = doorkeeper
        self._trusted = trusted is not None
        self._challenge: _Challenge | None = None
        self._by_token = False
        self.failures = 0
        self.user: User | None = None
        if trusted is not None:
            self.user = User(trusted, admin=True)
        elif doorkeeper.keys is None:
            self.user = User("local")

    def identify(self, username: str) -> str:
        """The literal when no key is wanted, else a challenge in base64. Raises AuthError."""
        if problem := user_name_problem(username):
            raise self._failure(problem, "choose another name")
        keys = self._doorkeeper.keys
        if self._trusted or keys is None:
            self.user = User(username, admin=self._trusted or self._by_token)
            return DISABLED
        if self.user is not None and self.user.name != username:
            raise AuthError(f"Already authenticated as '{self.user.name}'", hint="open another connection")
        if not keys.knows(username):
            raise self._failure(f"User '{username}' is not authorized", "add a key of the user with 'pie auth add'")
        secret = secrets.token_bytes(CHALLENGE_BYTES)
        until_seconds = self._doorkeeper.clock() + self._doorkeeper.challenge_seconds
        self._challenge = _Challenge(username, secret, until_seconds)
        return base64.b64encode(secret).decode()

    def prove(self, signature: str) -> str:
        """Raises AuthError; the challenge is gone in any case."""
        challenge, self._challenge = self._challenge, None
        keys = self._doorkeeper.keys
        if challenge is None or keys is None or challenge.until_seconds < self._doorkeeper.clock():
            raise self._failure("No pending authentication", "send auth_identify first")
        try:
            raw = base64.b64decode(signature, validate=True)
        except (binascii.Error, ValueError):
            raise self._failure("Invalid signature encoding: not base64", "send standard base64") from None
        if not keys.verifies(challenge.username, challenge.secret, raw):
            raise self._failure("Signature verification failed", "sign the challenge's 48 bytes with a registered key")
        self.user = User(challenge.username)
        return AUTHENTICATED

    def take_token(self, token: str, username: str | None) -> str:
        """Raises AuthError for a wrong token; whoever asks delays the answer."""
        if self._by_token:
            return "Already authenticated"
        if not self._doorkeeper.is_token(token):
            raise self._failure("Invalid token", "the token is new at each start of the engine")
        if username is not None and (problem := user_name_problem(username)):
            raise self._failure(problem, "choose another name")
        self._by_token = True
        self.user = User(username or RESERVED_USER, admin=True)
        return AUTHENTICATED

    def _failure(self, what: str, hint: str) -> AuthError:
        self.failures += 1
        return AuthError(what, hint=hint)

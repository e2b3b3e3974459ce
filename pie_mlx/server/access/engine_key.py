"""The key that identifies an engine to clients."""

import base64
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pie_mlx.config.authorized_users import file_problem
from pie_mlx.errors import ConfigError
from pie_mlx.login import engine_message

FILE_NAME = "engine_key"
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class EngineKey:
    """An Ed25519 key pair."""

    private: Ed25519PrivateKey

    @classmethod
    def of_home(cls, home: Path) -> Self:
        """The key in `home`, created if missing. Raises ConfigError if others can read or change it."""
        file = home / FILE_NAME
        try:
            if not file.exists():
                _write_new(file)
            if problem := file_problem(file):
                raise ConfigError(f"auth: {problem[0]}", hint=problem[1])
            return cls(Ed25519PrivateKey.from_private_bytes(base64.b64decode(file.read_bytes())))
        except (OSError, ValueError) as error:
            hint = "remove it to create a new one, which clients must trust again"
            raise ConfigError(f"auth: {file}: {error}", hint=hint) from None

    @property
    def public(self) -> bytes:
        return self.private.public_key().public_bytes_raw()

    def prove(self, nonce: bytes) -> bytes:
        return self.private.sign(engine_message(nonce))


def _write_new(file: Path) -> None:
    """Link the file into place, so that two engines starting at once read the same key."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
    try:
        os.link(temporary, file)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()

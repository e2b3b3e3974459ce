"""authorized_users.toml: users that may connect, and their keys."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import tomlkit

from pie_mlx.config.public_keys import PublicKey, parse_public_key
from pie_mlx.config.schema import Config
from pie_mlx.config.user_names import key_user_problem
from pie_mlx.documents import toml_document
from pie_mlx.errors import ConfigError, InvalidArgumentError
from pie_mlx.files import disk_hint, make_private, write_file

_MODE = 0o600

Users = Mapping[str, Mapping[str, PublicKey]]
"""Keys by user and by key name."""


def authorized_users_file(config: Config, home: Path) -> Path:
    """The file of the keys."""
    return Path(config.auth.authorized_users or home / "authorized_users.toml").expanduser()


def file_problem(file: Path) -> tuple[str, str] | None:
    """Why other accounts could change the file, and the command that mends it."""
    status, folder = file.stat(), file.parent.stat()
    if status.st_uid != os.geteuid():
        return f"{file}: it belongs to another user", f"chown {os.geteuid()} {file}"
    if stat.S_IMODE(status.st_mode) != _MODE:
        return f"{file}: its mode is {stat.S_IMODE(status.st_mode):04o}, not 0600", f"chmod 600 {file}"
    if stat.S_IMODE(folder.st_mode) & 0o022:
        return f"{file.parent}: others can write in it", f"chmod go-w {file.parent}"
    return None


class AuthorizedUsers:
    """The file, read again when it has changed. A missing file has no users."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._seen: tuple[int, int, int] | None = None
        self._users: Users = {}

    def users(self) -> Users:
        """Raises ConfigError for a file that others can change or that is invalid."""
        try:
            status = self.file.stat()
        except FileNotFoundError:
            return {}
        seen = status.st_ino, status.st_mtime_ns, status.st_size
        if seen != self._seen:
            self._users = self._read()
            self._seen = seen
        return self._users

    def verifies(self, user: str, message: bytes, signature: bytes) -> bool:
        """Whether one of the user's keys made the signature. Raises ConfigError."""
        return any(key.verifies(message, signature) for key in self.users().get(user, {}).values())

    def add(self, user: str, key_name: str, text: str) -> PublicKey:
        """Raises InvalidArgumentError for a refused or existing name or key, and ConfigError."""
        if problem := key_user_problem(user):
            raise InvalidArgumentError(f"user {user!r}: {problem}", hint="choose another name")
        if not key_name.strip() or len(key_name) > 64 or not key_name.isprintable():
            raise InvalidArgumentError(f"key {key_name!r}: 1 to 64 printable characters", hint="choose another name")
        key = parse_public_key(text)
        theirs = self.users().get(user, {})
        if key_name in theirs:
            raise InvalidArgumentError(f"user {user!r}: there is a key {key_name!r}", hint="choose another name")
        for name, other in theirs.items():
            if other.fingerprint == key.fingerprint:
                raise InvalidArgumentError(f"user {user!r}: key {name!r} is the same one", hint="add another key")
        document = self._document()
        keys = _inner(_inner(_inner(document, "users"), user), "keys")
        keys[key_name] = key.text
        self._write(document)
        return key

    def remove(self, user: str, key_name: str | None = None) -> list[str]:
        """Remove one key, or the user with all keys. Returns the names of the keys. Raises InvalidArgumentError."""
        found = self.users().get(user)
        if found is None:
            raise InvalidArgumentError(f"user {user!r}: there is none", hint="'pie auth list' shows all")
        if key_name is not None and key_name not in found:
            raise InvalidArgumentError(f"user {user!r}: no key {key_name!r}", hint="'pie auth list' shows all")
        document = self._document()
        users = _inner(document, "users")
        if key_name is None or list(found) == [key_name]:
            del users[user]
        else:
            del users[user]["keys"][key_name]
        self._write(document)
        return list(found) if key_name is None else [key_name]

    def _read(self) -> Users:
        if problem := file_problem(self.file):
            raise ConfigError(f"auth: {problem[0]}", hint=problem[1])
        try:
            document = toml_document(self.file.read_text(encoding="utf-8"))
        except (InvalidArgumentError, UnicodeDecodeError) as error:
            raise ConfigError(f"auth: {self.file}: {error}", hint="correct the file") from None
        for section in document:
            if section != "users":
                raise ConfigError(f"auth: {self.file}: [{section}]: unknown section", hint="write [users.NAME.keys]")
        return {user: self._keys(user, table) for user, table in _table(document.get("users", {})).items()}

    def _keys(self, user: str, table: object) -> dict[str, PublicKey]:
        where = f"auth: {self.file}: [users.{user}]"
        if problem := key_user_problem(user):
            raise ConfigError(f"{where}: {problem}", hint="correct the file")
        if list(_table(table)) not in ([], ["keys"]):
            raise ConfigError(f"{where}: expected keys alone", hint=f"write [users.{user}.keys]")
        return {
            name: self._key(f"{where} {name}", text) for name, text in _table(_table(table).get("keys", {})).items()
        }

    def _key(self, where: str, text: object) -> PublicKey:
        try:
            return parse_public_key(text if isinstance(text, str) else "")
        except InvalidArgumentError as error:
            raise ConfigError(f"{where}: {error.message}", hint="'pie auth add' checks keys before it writes") from None

    def _document(self) -> tomlkit.TOMLDocument:
        return tomlkit.parse(self.file.read_text(encoding="utf-8") if self.file.exists() else "")

    def _write(self, document: tomlkit.TOMLDocument) -> None:
        text = tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]
        try:
            make_private(self.file.parent)
            write_file(self.file, text.encode(), _MODE)
        except OSError as error:
            hint = disk_hint(error, "check its permissions")
            raise ConfigError(f"auth: {self.file}: {error.strerror}", hint=hint) from None
        self._seen = None


def _inner(table: Any, name: str) -> Any:
    if name not in table:
        table[name] = tomlkit.table(is_super_table=name != "keys")
    return table[name]


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {"": value}

"""cli_config.toml: the engine's address and the user, for `pie client`."""

import getpass
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pie_mlx.cli.options import Common
from pie_mlx.client import Address
from pie_mlx.documents import toml_document
from pie_mlx.errors import ConfigError, InvalidArgumentError
from pie_mlx.files import disk_hint, make_private, write_file

FILE_NAME = "cli_config.toml"


class ClientConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The whole file. With `enable_auth` False no key is used, even if one is named."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=1, le=65535)] = 8080
    username: str | None = None
    private_key_path: str | None = None
    enable_auth: bool = True


def file_of(common: Common, path: Path | None) -> Path:
    """`path`, `--config`, or the file in `$PIE_CLI_HOME` or `~/.pie`."""
    home = os.environ.get("PIE_CLI_HOME") or "~/.pie"
    return (path or common.config or Path(home) / FILE_NAME).expanduser()


def address(common: Common, where: Mapping[str, Any]) -> Address:
    """The address from the command line, else the file, else the defaults. Raises ConfigError."""
    given = {name: value for name, value in where.items() if value is not None}
    found = msgspec.structs.replace(_read(file_of(common, None), required=common.config is not None), **given)
    host = f"[{found.host}]" if ":" in found.host else found.host
    key = found.private_key_path if found.enable_auth else None
    return Address(
        common.url or f"ws://{host}:{found.port}",
        username=found.username or getpass.getuser(),
        key_file=None if key is None else Path(key).expanduser(),
    )


def write_first(file: Path, *, enable_auth: bool) -> None:
    """Write the defaults and the user's name. Raises ConfigError where the file exists."""
    if file.exists():
        raise ConfigError(f"{file}: it exists already", hint="change it with 'pie client config update'")
    _write(file, {**_complete(ClientConfig()), "username": getpass.getuser(), "enable_auth": enable_auth})
    print(file)


def change(file: Path, changes: Mapping[str, Any]) -> None:
    """Change what is not None. Raises ConfigError."""
    given = {name: value for name, value in changes.items() if value is not None}
    _write(file, _complete(msgspec.structs.replace(_read(file, required=False), **given)))
    print(file)


def show(file: Path) -> None:
    """Print the file. Raises ConfigError when there is none."""
    _read(file, required=True)
    print(file.read_text(), end="")


def _read(file: Path, *, required: bool) -> ClientConfig:
    if not required and not file.exists():
        return ClientConfig()
    try:
        return msgspec.convert(toml_document(file.read_text(encoding="utf-8")), ClientConfig)
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}", hint="write it with 'pie client config init'") from None
    except (InvalidArgumentError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ConfigError(f"{file}: {error}", hint="host, port, username, private_key_path, enable_auth") from None


def _complete(config: ClientConfig) -> dict[str, Any]:
    return {name: value for name in config.__struct_fields__ if (value := getattr(config, name)) is not None}


def _write(file: Path, values: Mapping[str, Any]) -> None:
    import tomlkit

    text = tomlkit.dumps(values)  # pyright: ignore[reportUnknownMemberType]
    try:
        make_private(file.parent)
        write_file(file, text.encode())
    except OSError as error:
        hint = disk_hint(error, "check its permissions, or name another file with --path")
        raise ConfigError(f"{file}: {error.strerror}", hint=hint) from None

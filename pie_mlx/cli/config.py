"""`pie config`"""

import json
import os
from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.config import LoadedConfig, config_file, load_config
from pie_mlx.config.schema import KEYS
from pie_mlx.errors import ConfigError


@click.group
@common_options
def command() -> None:
    """Show and change the configuration."""


@command.command
@common_options
@click.pass_obj
def show(common: Common) -> None:
    """Print every value with its origin."""
    loaded = load_config(common.config)
    if common.json:
        print(json.dumps({path: {"value": s.value, "origin": s.origin} for path, s in loaded.settings.items()}))
        return
    width = max(map(len, loaded.settings))
    for path, setting in loaded.settings.items():
        print(f"{path:<{width}}  {_shown(setting.value):<20}  {setting.origin}")


@command.command
@click.argument("key")
@common_options
@click.pass_obj
def get(common: Common, key: str) -> None:
    """Print one value, such as model.0.hf_repo or model.NAME.hf_repo."""
    loaded = load_config(common.config)
    path = numbered(key, loaded)
    if path not in loaded.settings:
        raise ConfigError(f"config: {key}: no such key", hint="'pie config show' lists all of them")
    value = loaded.settings[path].value
    print(json.dumps(value) if common.json else _shown(value))


@command.command("set")
@click.argument("key")
@click.argument("value")
@common_options
@click.pass_obj
def set_value(common: Common, key: str, value: str) -> None:
    """Change one value in the file, keeping its comments; nothing is written unless the whole result holds."""
    from pie_mlx.config.writing import with_setting

    file = common.config or config_file(os.environ)
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    path = numbered(key, load_config(common.config if file.exists() else None))
    _write(file, with_setting(text, path, value, str(file)))
    print(f"{file}: {path} = {value}")


@command.command
@click.option("--path", type=click.Path(path_type=Path), metavar="PATH", help="Write it there.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@common_options
@click.pass_obj
def init(common: Common, path: Path | None, force: bool) -> None:
    """Write a commented file with every key and its default."""
    from pie_mlx.config.writing import commented_file

    file = path or common.config or config_file(os.environ)
    if file.exists() and not force:
        raise ConfigError(f"config: {file}: exists", hint="overwrite it with --force")
    _write(file, commented_file())
    print(file)


@command.command
@common_options
@click.pass_obj
def schema(common: Common) -> None:
    """Print every key with its default and meaning."""
    if common.json:
        print(json.dumps({k.path: {"default": k.default, "description": k.description} for k in KEYS.values()}))
        return
    width = max(map(len, KEYS))
    for key in KEYS.values():
        default = "required" if key.required else _shown(key.default)
        print(f"{key.path:<{width}}  {default:<10}  {key.description}")


def numbered(key: str, loaded: LoadedConfig) -> str:
    """`model.NAME.x` as `model.0.x`."""
    parts = key.split(".")
    names = [model.name for model in loaded.config.model]
    if len(parts) > 2 and parts[0] == "model" and parts[1] in names:
        parts[1] = str(names.index(parts[1]))
    return ".".join(parts)


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_name(f".{file.name}.new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)
    except OSError as error:
        raise ConfigError(f"config: {file}: {error.strerror}", hint="check its permissions") from None


def _shown(value: object) -> str:
    return "unset" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

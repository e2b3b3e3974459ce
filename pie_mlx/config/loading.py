"""The configuration of this run: defaults < file < environment < flags."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import msgspec

from pie_mlx.config.schema import KEYS, Config
from pie_mlx.config.values import Setting, problem, read_text
from pie_mlx.errors import ConfigError

FILE_NAME = "config.toml"
DEFAULT_MODEL = "pie-tiny"
"""What is served without any `[[model]]`."""

Settings = dict[str, Setting]


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The checked configuration, and every value by its path with its origin."""

    config: Config
    settings: Settings


def pie_home(environment: Mapping[str, str]) -> Path:
    """`$PIE_HOME`, or `.pie` in the home directory."""
    return Path(environment.get("PIE_HOME") or Path.home() / ".pie")


def config_file(environment: Mapping[str, str]) -> Path:
    """Where the configuration is kept unless a flag says otherwise."""
    return pie_home(environment) / FILE_NAME


def load_config(file: Path | None = None, environment: Mapping[str, str] | None = None) -> LoadedConfig:
    """Read `file`, which must exist, or the default one, which need not.

    Raises ConfigError that lists everything wrong.
    """
    environment = os.environ if environment is None else environment
    path = file or config_file(environment)
    document = _document(path, must_exist=file is not None)
    return resolve(flatten(document, str(path)), _from_environment(environment))


def resolve(from_file: Settings, overrides: Settings) -> LoadedConfig:
    """Merge, fill in the defaults and check every value. Raises ConfigError that lists everything wrong."""
    has_models = any(path.startswith("model.") for path in from_file)
    settings = {**({} if has_models else _default_model(overrides)), **from_file, **overrides}
    problems = [*_problems(settings), *_missing(settings)]
    if problems:
        lines = "\n     ".join(problems)
        raise ConfigError(f"config: {lines}", hint="correct these; 'pie config schema' lists all keys")
    settings = {path: setting for path, setting in settings.items() if not _is_empty_table(path, setting)}
    complete = {**_defaults(settings), **settings}
    config = msgspec.convert(nested({path: setting.value for path, setting in settings.items()}), Config)
    return LoadedConfig(config, dict(sorted(complete.items())))


def flatten(document: Mapping[str, Any], origin: str) -> Settings:
    """A TOML document as values by dotted path; list places are numbers."""
    return {path: Setting(value, origin) for path, value in _leaves(document, "")}


def nested(values: Mapping[str, Any]) -> Any:
    """The reverse of `flatten`: numbered tables become lists."""
    document: dict[str, Any] = {}
    for path, value in values.items():
        *parents, last = path.split(".")
        table = document
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value
    return _listed(document)


def schema_path(path: str) -> str:
    """The path with 0 in place of list indices, as `KEYS` has it."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "0", path)


def _default_model(overrides: Settings) -> Settings:
    """A model named after what it is, so that overriding the repo alone gives it the right name."""
    repo = str(overrides["model.0.hf_repo"].value) if "model.0.hf_repo" in overrides else DEFAULT_MODEL
    name = repo.rstrip("/").rpartition("/")[2]
    return {"model.0.name": Setting(name, "default"), "model.0.hf_repo": Setting(repo, "default")}


def _document(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if must_exist:
            raise ConfigError(f"config: {path}: no such file", hint="create it with 'pie config init'") from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"config: {path}: not TOML: {error}", hint="correct the file") from None
    except OSError as error:
        raise ConfigError(f"config: {path}: {error.strerror}", hint="check its permissions") from None


def _from_environment(environment: Mapping[str, str]) -> Settings:
    found: Settings = {}
    for name, text in environment.items():
        if name.startswith("PIE_") and "__" in name:
            path = name.removeprefix("PIE_").replace("__", ".").lower()
            key = KEYS.get(schema_path(path))
            found[path] = Setting(read_text(key.type, text) if key else text, name)
    return found


def _problems(settings: Settings) -> Iterator[str]:
    for path, setting in settings.items():
        key = KEYS.get(schema_path(path))
        if _is_empty_table(path, setting):
            continue
        if key is None:
            close = get_close_matches(schema_path(path), KEYS, n=1)
            yield f"{path} ({setting.origin}): unknown key" + (f", did you mean {close[0]!r}?" if close else "")
        elif why := problem(key.type, setting.value):
            yield f"{path} = {setting.value!r} ({setting.origin}): {why} ({key.description})"


def _is_empty_table(path: str, setting: Setting) -> bool:
    return setting.value == {} and any(key.startswith(f"{schema_path(path)}.") for key in KEYS)


def _missing(settings: Settings) -> Iterator[str]:
    numbers = _model_numbers(settings)
    for place, number in enumerate(numbers):
        if place != number:
            yield f"model.{number}: there is no model.{place}"
        for key in KEYS.values():
            path = key.path.replace("model.0.", f"model.{number}.", 1)
            if key.required and path not in settings:
                yield f"{path}: missing ({key.description})"


def _defaults(settings: Settings) -> Settings:
    return {
        key.path.replace("model.0.", f"model.{number}.", 1): Setting(key.default, "default")
        for number in _model_numbers(settings)
        for key in KEYS.values()
    }


def _model_numbers(settings: Settings) -> list[int]:
    return sorted({int(path.split(".")[1]) for path in settings if re.match(r"model\.\d+(\.|$)", path)})


def _leaves(value: object, path: str) -> Iterator[tuple[str, Any]]:
    match value:
        case dict() if value:
            for name, inner in cast("dict[str, object]", value).items():
                yield from _leaves(inner, f"{path}.{name}" if path else name)
        case list() if value and all(isinstance(item, dict) for item in cast("list[object]", value)):
            for place, inner in enumerate(cast("list[object]", value)):
                yield from _leaves(inner, f"{path}.{place}")
        case _:
            if path:
                yield path, value


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    table = {name: _listed(inner) for name, inner in cast("dict[str, Any]", value).items()}
    return [table[name] for name in sorted(table, key=int)] if table and all(map(str.isdigit, table)) else table

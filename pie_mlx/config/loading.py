"""The configuration of this run: defaults < file < environment < flags."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import msgspec

from pie_mlx.config.deprecated_keys import ignored, replaced
from pie_mlx.config.rules import broken_rules
from pie_mlx.config.schema import KEYS, TABLE_LISTS, Config, EngineConfig, Key, key_of
from pie_mlx.config.values import Setting, problem, read_text
from pie_mlx.documents import toml_document
from pie_mlx.errors import ConfigError, InvalidArgumentError

FILE_NAME = "config.toml"
DEFAULT_MODEL = "pie-tiny"
ALIKE = 0.75
"""Least similarity of an unknown key and the key that an error suggests."""

KEPT_DOT = "\u2024"
"""Stands in paths for a dot that is a part of a name."""

Settings = dict[str, Setting]

_SHARE = "kv_memory_fraction"
_MLX = Setting("mlx", "default")

DEFAULT_MODELS = {"model.0.hf_repo": Setting(DEFAULT_MODEL, "default")}
"""The model without any `[[model]]`."""


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The checked configuration, every value by its path with its origin, and keys without effect."""

    config: Config
    settings: Settings
    warnings: tuple[str, ...] = ()


def pie_home(environment: Mapping[str, str]) -> Path:
    """`$PIE_HOME`, or `.pie` in the home directory."""
    return Path(environment.get("PIE_HOME") or Path.home() / ".pie")


def config_file(environment: Mapping[str, str]) -> Path:
    """The file of the configuration, unless a flag names another."""
    return pie_home(environment) / FILE_NAME


def load_config(file: Path | None = None, environment: Mapping[str, str] | None = None) -> LoadedConfig:
    """Read `file`, which must exist, or the default one, which need not.

    Raises a ConfigError that lists all faults.
    """
    environment = os.environ if environment is None else environment
    path = file or config_file(environment)
    document = _document(path, must_exist=file is not None)
    return resolve(flatten(document, str(path)), _from_environment(environment))


def resolve(from_file: Settings, overrides: Settings) -> LoadedConfig:
    """Merge, fill in the defaults and check every value. Raises a ConfigError that lists all faults."""
    has_models = any(path.startswith("model.") for path in from_file)
    settings = {**({} if has_models else DEFAULT_MODELS), **from_file, **overrides}
    settings = {**_names(settings), **_shares(settings), **settings}
    warnings = {path: warning for path, setting in settings.items() if (warning := ignored(path, setting))}
    settings = {path: s for path, s in settings.items() if path not in warnings or key_of(schema_path(path))}
    _refuse([*_problems(settings), *_missing(settings)])
    settings = {path: setting for path, setting in settings.items() if not _is_empty_table(path, setting)}
    complete = {**_defaults(settings), **settings}
    config = msgspec.convert(nested({path: setting.value for path, setting in settings.items()}), Config)
    _refuse(list(broken_rules(config, settings)))
    return LoadedConfig(config, dict(sorted(complete.items())), tuple(warnings.values()))


def _refuse(problems: list[str]) -> None:
    if problems:
        lines = "\n     ".join(problems)
        raise ConfigError(f"config: {lines}", hint="correct these; 'pie config schema' lists all keys")


def flatten(document: Mapping[str, Any], origin: str) -> Settings:
    """A TOML document as values by dotted path; list places are numbers."""
    return {path: Setting(value, origin) for path, value in _leaves(document, "")}


def nested(values: Mapping[str, Any]) -> Any:
    """The reverse of `flatten`: numbered tables become lists."""
    document: dict[str, Any] = {}
    for path, value in values.items():
        *parents, last = (part.replace(KEPT_DOT, ".") for part in path.split("."))
        table = document
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value
    return _listed(document)


def schema_path(path: str) -> str:
    """The path with 0 for list indices, as in `KEYS`."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "0", path)


def last_part(reference: str) -> str:
    """The name of a model without one: that of its directory, GGUF file or repo."""
    return os.path.basename(os.path.abspath(os.path.expanduser(reference))).removesuffix(".gguf") or reference


def _names(settings: Settings) -> Settings:
    """Names by the model that is finally loaded, whatever source sets it."""
    repos = {number: settings.get(f"model.{number}.hf_repo") for number in _numbers(settings, "model")}
    return {
        f"model.{number}.name": Setting(last_part(repo.value), "default")
        for number, repo in repos.items()
        if repo is not None and isinstance(repo.value, str)
    }


def _shares(settings: Settings) -> Settings:
    """Of several models without pages or a share of the memory of their own, equal shares of what one would have."""
    engines = [f"model.{number}.engine" for number in _numbers(settings, "model")]
    mlx = [engine for engine in engines if settings.get(f"{engine}.type", _MLX).value == _MLX.value]
    paged = [engine for engine in mlx if f"{engine}.total_pages" not in settings]
    given = [setting.value for engine in paged if (setting := settings.get(f"{engine}.{_SHARE}"))]
    left = [engine for engine in paged if f"{engine}.{_SHARE}" not in settings]
    taken = sum(share for share in given if isinstance(share, int | float))
    if len(paged) < 2 or not left or not taken < 1:
        return {}
    share = round(EngineConfig().kv_memory_fraction * (1 - taken) / len(left), 4)
    return {f"{engine}.{_SHARE}": Setting(share, "default") for engine in left}


def _document(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        return toml_document(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if must_exist:
            raise ConfigError(f"config: {path}: no such file", hint="create it with 'pie config init'") from None
        return {}
    except (InvalidArgumentError, UnicodeDecodeError) as error:
        raise ConfigError(f"config: {path}: {error}", hint="correct the file") from None
    except OSError as error:
        raise ConfigError(f"config: {path}: {error.strerror}", hint="check its permissions") from None


def _from_environment(environment: Mapping[str, str]) -> Settings:
    found: Settings = {}
    for name, text in environment.items():
        if _is_setting(name):
            path = _variable_path(name)
            key = key_of(schema_path(path))
            found[path] = Setting(read_text(key.type, text) if key else text, name)
    return found


def setting_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that set a key, each with a digest of its value, which may be a secret."""
    return {
        name: hashlib.blake2s(text.encode(errors="replace"), digest_size=8).hexdigest()
        for name, text in environment.items()
        if _is_setting(name)
    }


def _is_setting(name: str) -> bool:
    return name.startswith("PIE_") and "__" in name


def _variable_path(name: str) -> str:
    """The path that a variable names. Names chosen by the user, as in `mcp.0.env`, keep their capitals."""
    words = name.removeprefix("PIE_").replace("__", ".")
    path = words.lower()
    return (
        path
        if schema_path(path) in KEYS or not key_of(schema_path(path))
        else f"{path.rpartition('.')[0]}.{_last(words)}"
    )


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _problems(settings: Settings) -> Iterator[str]:
    retired = dict(replaced(settings))
    yield from (line for line in retired.values() if line)
    for path, setting in settings.items():
        if path not in retired and not _is_empty_table(path, setting):
            yield from _value_problems(path, setting)


def nearest_key(path: str) -> str:
    """The suggestion behind an unknown key: the most similar one, if any."""
    close = get_close_matches(schema_path(path), KEYS, n=1, cutoff=ALIKE)
    return f", did you mean {close[0]!r}?" if close else ""


def _value_problems(path: str, setting: Setting) -> Iterator[str]:
    key = key_of(schema_path(path))
    if key is None:
        yield f"{path} ({setting.origin}): unknown key{nearest_key(path)}"
    elif why := problem(key.type, setting.value):
        yield f"{path} = {setting.value!r} ({setting.origin}): {why} ({key.description})"
    elif key.fixed and setting.value != key.default:
        why = "this version knows no other value than the default: remove the line"
        yield f"{path} = {setting.value!r} ({setting.origin}): {why} ({key.description})"


def _is_empty_table(path: str, setting: Setting) -> bool:
    return setting.value == {} and any(key.startswith(f"{schema_path(path)}.") for key in KEYS)


def _missing(settings: Settings) -> Iterator[str]:
    for section in TABLE_LISTS:
        keys = [key for key in KEYS.values() if key.required and key.path.startswith(f"{section}.0.")]
        for place, number in enumerate(_numbers(settings, section)):
            if place != number:
                yield f"{section}.{number}: there is no {section}.{place}"
            paths = ((_placed(key, number), key) for key in keys)
            yield from (f"{path}: missing ({key.description})" for path, key in paths if path not in settings)


def _defaults(settings: Settings) -> Settings:
    return {path: Setting(key.default, "default") for key in KEYS.values() for path in _places(key, settings)}


def _places(key: Key, settings: Settings) -> list[str]:
    section = key.path.partition(".")[0]
    if section not in TABLE_LISTS:
        return [key.path]
    return [_placed(key, number) for number in _numbers(settings, section)]


def _placed(key: Key, number: int) -> str:
    section, _, rest = key.path.partition(".0.")
    return f"{section}.{number}.{rest}"


def _numbers(settings: Settings, section: str) -> list[int]:
    return sorted({int(path.split(".")[1]) for path in settings if re.match(rf"{section}\.\d+(\.|$)", path)})


def _leaves(value: object, path: str) -> Iterator[tuple[str, Any]]:
    match value:
        case dict() if value:
            for key, inner in cast("dict[str, object]", value).items():
                name = key.replace(".", KEPT_DOT)
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

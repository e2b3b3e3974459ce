"""What the verbs of `pie config` do."""

import json
import os
import sys
from pathlib import Path

from pie_mlx.cli.config.active import active_config, home
from pie_mlx.cli.options import Common
from pie_mlx.config import LoadedConfig, config_file, load_config
from pie_mlx.config.loading import nearest_key
from pie_mlx.config.schema import KEYS, is_secret, json_schema
from pie_mlx.errors import ConfigError, ModelNotFoundError
from pie_mlx.files import disk_hint, make_private, write_file

MODEL_KEYS = (".hf_repo", ".draft_model")
HIDDEN = "(hidden)"


def show(common: Common) -> None:
    """Print every value with its origin."""
    loaded = active_config(common)
    values = {path: HIDDEN if s.value and is_secret(path) else s.value for path, s in loaded.settings.items()}
    if common.json:
        print(json.dumps([{"key": k, "value": values[k], "origin": s.origin} for k, s in loaded.settings.items()]))
        return
    width = max(map(len, loaded.settings))
    for path, setting in loaded.settings.items():
        print(f"{path:<{width}}  {_shown(values[path]):<20}  {setting.origin}")


def get(common: Common, key: str) -> None:
    """Print one value, such as model.0.hf_repo or model.NAME.hf_repo."""
    loaded = active_config(common)
    path = numbered(key, loaded)
    if path not in loaded.settings:
        raise ConfigError(f"config: {key}: no such key{nearest_key(path)}", hint="'pie config show' lists all of them")
    value = loaded.settings[path].value
    print(json.dumps(value) if common.json else _shown(value))


def set_value(common: Common, key: str, value: str) -> None:
    """Change one value in the file and keep its comments. Nothing is written unless the result is valid as a whole."""
    from pie_mlx.client.discovery import is_home_in_use
    from pie_mlx.config.writing import with_setting

    file, text = present_file(common)
    loaded = load_config(common.config if file.exists() else None)
    path = numbered(key, loaded)
    is_one_of_them = path.endswith(".draft_model") and value in loaded.config.model_names
    value = _absolute_model(value, common) if path.endswith(MODEL_KEYS) and not is_one_of_them else value
    write_config(file, with_setting(text, path, value, str(file)))
    if common.json:
        print(json.dumps({"file": str(file), "key": path}))
    elif not common.quiet:
        print(f"{file}: {path} = {HIDDEN if is_secret(path) else value}")
        if common.config is None and is_home_in_use(home()):
            print("pie: the running engine keeps its settings: 'pie stop' ends it", file=sys.stderr)


def present_file(common: Common) -> tuple[Path, str]:
    """The file of the configuration, and its text; "" if there is none."""
    file = common.config or config_file(os.environ)
    return file, file.read_text(encoding="utf-8") if file.exists() else ""


def _absolute_model(reference: str, common: Common) -> str:
    """Make a model's directory absolute, and warn where there is nothing to load yet."""
    from pie_mlx.runtime.models import find_on_disk

    directory = Path(reference).expanduser()
    if directory.exists() or reference.startswith((".", "~")):
        reference = os.path.abspath(directory)
    try:
        problem = find_on_disk(reference).suitability.problem
    except ModelNotFoundError as error:
        where = "" if os.path.isabs(reference) else f", 'pie model download {reference}' fetches it"
        problem = f"{error.message.removeprefix('model: ')}{where}"
    if problem and not common.quiet:
        print(f"pie: warning: {reference} cannot be loaded: {problem}", file=sys.stderr)
    return reference


def init(common: Common, path: Path | None, force: bool) -> None:
    """Write a commented file with every key and its default."""
    from pie_mlx.config.writing import commented_file

    file = path or common.config or config_file(os.environ)
    if file.exists() and not force:
        raise ConfigError(f"config: {file}: exists", hint="overwrite it with --force")
    write_config(file, commented_file())
    print(json.dumps({"file": str(file)}) if common.json else file)


def schema(common: Common) -> None:
    """Print the JSON Schema of config.toml: every key with its type, default, rule and meaning."""
    print(json.dumps(json_schema(), indent=None if common.json else 2))


def known_keys() -> list[str]:
    """Every key that can be read and set, of a configuration that may have faults."""
    try:
        return sorted({*KEYS, *load_config().settings})
    except ConfigError:
        return sorted(KEYS)


def numbered(key: str, loaded: LoadedConfig) -> str:
    """`model.NAME.x` as `model.0.x`, and the same for MCP servers."""
    section, _, rest = key.partition(".")
    names = {"model": [m.name for m in loaded.config.model], "mcp": [m.name for m in loaded.config.mcp]}.get(
        section, []
    )
    for place, name in enumerate(names):  # a name may have dots
        if rest.startswith(f"{name}."):
            return f"{section}.{place}{rest.removeprefix(name)}"
    return key


def write_config(file: Path, text: str) -> None:
    """Raises ConfigError."""
    try:
        make_private(file.parent)
        write_file(file, text.encode())
    except OSError as error:
        hint = disk_hint(error, "check its permissions")
        raise ConfigError(f"config: {file}: {error.strerror}", hint=hint) from None


def _shown(value: object) -> str:
    """JSON, but text without quotes."""
    return "unset" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

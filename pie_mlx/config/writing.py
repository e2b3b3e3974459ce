"""Writing config.toml: a fresh one, and one value of an existing one."""

from itertools import groupby
from typing import Any, cast

import tomlkit

from pie_mlx.config.loading import DEFAULT_MODEL, flatten, resolve, schema_path
from pie_mlx.config.schema import KEYS, Key
from pie_mlx.config.values import read_text
from pie_mlx.errors import ConfigError


def commented_file() -> str:
    """Every key with its meaning; those that have a default are commented out."""
    lines = ["# pie-mlx. Values commented out are the defaults."]
    for table, keys in groupby(KEYS.values(), key=lambda key: key.path.rpartition(".")[0]):
        name = table.replace(".0", "")
        lines += ["", f"[[{name}]]" if table.endswith(".0") else f"[{name}]", *map(_line, keys)]
    return "\n".join(lines) + "\n"


def with_setting(text: str, path: str, value: str, origin: str) -> str:
    """The file `text` with one value changed. Raises ConfigError when the whole result does not hold."""
    key = KEYS.get(schema_path(path))
    if key is None:
        raise ConfigError(f"config: {path}: no such key", hint="'pie config schema' lists all of them")
    document = tomlkit.parse(text or f'[[model]]\nname = "{DEFAULT_MODEL}"\nhf_repo = "{DEFAULT_MODEL}"\n')
    *parents, last = path.split(".")
    table: Any = document
    for parent in parents:
        table = _inner(table, parent, path)
    table[last] = read_text(key.type, value)
    resolve(flatten(document.unwrap(), origin), {})
    return tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]


def _inner(table: Any, name: str, path: str) -> Any:
    if isinstance(table, list):
        models = cast("list[Any]", table)
        if int(name) >= len(models):
            raise ConfigError(f"config: {path}: there is no model.{name}", hint="add a [[model]] to the file first")
        return models[int(name)]
    if name not in table:
        table[name] = tomlkit.table()
    return table[name]


def _line(key: Key) -> str:
    name = key.path.rpartition(".")[2]
    if key.required:
        return f'{name} = "{DEFAULT_MODEL}"  # {key.description}'
    shown = "" if key.default is None else tomlkit.item(key.default).as_string()  # pyright: ignore[reportUnknownMemberType]
    return f"# {name} = {shown}  # {key.description}"

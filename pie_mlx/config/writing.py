"""Writing config.toml: a new file, and one value of an existing one."""

from itertools import groupby
from typing import Any, cast

import msgspec
import tomlkit
from tomlkit.items import AoT, InlineTable

from pie_mlx.config.loading import DEFAULT_MODEL, flatten, nearest_key, resolve, schema_path
from pie_mlx.config.schema import KEYS, TABLE_LISTS, Key, McpConfig, key_of
from pie_mlx.config.values import read_text
from pie_mlx.errors import ConfigError


def commented_file() -> str:
    """Every key with its meaning; keys with a default are commented out."""
    lines = ["# pie-mlx. Values commented out are the defaults."]
    for table, keys in groupby(KEYS.values(), key=lambda key: key.path.rpartition(".")[0]):
        name = table.replace(".0", "")
        absent = "# " if name == "mcp" else ""
        heading = absent + (f"[[{name}]]" if table.endswith(".0") else f"[{name}]")
        lines += ["", *([heading] if name else []), *map(_line, keys)]
    return "\n".join(lines) + "\n"


def with_setting(text: str, path: str, value: str, origin: str) -> str:
    """The file `text` with one value changed, in a new table after the last one where it is all that the table must
    have. Raises ConfigError if the result is invalid."""
    key = key_of(schema_path(path))
    if key is None:
        problem = f"config: {path}: no such key{nearest_key(path)}"
        raise ConfigError(problem, hint="'pie config schema' lists all of them")
    document = tomlkit.parse(text)
    if path.startswith("model.") and "model" not in document:
        document = tomlkit.parse(f'{text}\n[[model]]\nhf_repo = "{DEFAULT_MODEL}"\n'.lstrip())
    *parents, last = path.split(".")
    table: Any = document
    for parent in parents:
        table = _inner(table, parent, path)
    table[last] = read_text(key.type, value)
    resolve(flatten(document.unwrap(), origin), {})
    return tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]


def with_server(text: str, server: McpConfig, origin: str) -> str:
    """The file `text` with one more MCP server. Raises ConfigError if the result is invalid."""
    document = tomlkit.parse(text)
    table = tomlkit.table()
    for name, value in msgspec.to_builtins(server).items():
        if value:
            table.add(name, value)
    tables: Any = document.setdefault("mcp", tomlkit.aot())
    tables.append(table)
    resolve(flatten(document.unwrap(), origin), {})
    return tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]


def without_server(text: str, name: str) -> str:
    """The file `text` without that MCP server. Raises ConfigError if it has none of the name."""
    document: Any = tomlkit.parse(text)
    tables: list[Any] = document.get("mcp", [])
    places = [place for place, table in enumerate(tables) if table.get("name") == name]
    if not places:
        raise ConfigError(f"config: there is no MCP server {name!r} in the file", hint="'pie mcp list' lists them")
    del tables[places[0]]
    if not tables:
        del document["mcp"]
    return tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]


def _inner(table: Any, name: str, path: str) -> Any:
    if isinstance(table, list):
        tables = cast("list[Any]", table)
        if int(name) == len(tables) and _is_enough(path):
            tables.append(tomlkit.table() if isinstance(table, AoT) else tomlkit.inline_table())
        if int(name) >= len(tables):
            raise _no_such_table(path)
        return tables[int(name)]
    if name not in table:
        if name in TABLE_LISTS:
            raise _no_such_table(path)
        table[name] = tomlkit.inline_table() if isinstance(table, InlineTable) else tomlkit.table()
    return table[name]


def _is_enough(path: str) -> bool:
    """Whether a table of a list must have this key alone."""
    section = path.partition(".")[0]
    required = [key.path for key in KEYS.values() if key.required and key.path.startswith(f"{section}.0.")]
    return required == [schema_path(path)]


def _no_such_table(path: str) -> ConfigError:
    section, number = path.split(".")[:2]
    hint = "set its hf_repo first" if section == "model" else f"add a [[{section}]] to the file first"
    return ConfigError(f"config: {path}: there is no {section}.{number}", hint=hint)


def _line(key: Key) -> str:
    name = key.path.rpartition(".")[2]
    if key.required:
        return (
            f'{name} = "{DEFAULT_MODEL}"  # {key.description}'
            if key.path.startswith("model.")
            else f'# {name} = ""  # {key.description}'
        )
    shown = "" if key.default is None else tomlkit.item(key.default).as_string()  # pyright: ignore[reportUnknownMemberType]
    return f"# {name} = {shown}  # {key.description}"

"""The user's file of commands: a table for each, named after it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import msgspec

from pie_mlx.tui.actions import TABLES, Action
from pie_mlx.tui.keymap import Keymap, key_ids
from pie_mlx.tui.own_files import own_file

RESERVED = frozenset(
    {"up", "down", "home", "end", "pageup", "pagedown", "enter", "escape", "tab", "shift+tab", "ctrl+c", "ctrl+q"}
)
"""Keys that move in a table, between panels, or out."""


class Plugin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`command` are a program and its arguments, in which `{id}` and the titles of columns stand for the fields of the
    selected row. `shell` is a line for `sh` instead, which finds them as `$ROW_ID` and so on: no text of a row is ever
    read as a command.

    It runs in the foreground, with the terminal, or in the `background`, which says how it ended.
    """

    key: str
    command: tuple[str, ...] = ()
    shell: str = ""
    screens: tuple[str, ...] = TABLES
    help: str = ""
    confirm: bool = False
    background: bool = False
    in_browser: bool = False
    name: str = ""

    @property
    def action(self) -> Action:
        """As the help and the palette show it."""
        return Action(self.name, self.key, self.screens, "", self.help or self.name)

    @property
    def fields(self) -> list[str]:
        """The fields that the command names."""
        return [name for word in self.command for name in placeholders(word)]

    @property
    def needs_row(self) -> bool:
        """Whether it makes no sense without a selected row."""
        return bool(self.fields) or "ROW_" in self.shell


class Plugins:
    """`all` are in order, `problems` describe those that are left out."""

    def __init__(self, plugins: Sequence[Plugin] = (), problems: tuple[str, ...] = ()) -> None:
        self.all, self.problems = plugins, problems

    def on(self, screen: str) -> list[Plugin]:
        """Those of a screen."""
        return [plugin for plugin in self.all if screen in plugin.screens]

    def at(self, key: str, screen: str) -> Plugin | None:
        """The one of a key, as Textual names it."""
        return next((plugin for plugin in self.on(screen) if plugin.key == key), None)


def read_plugins(path: Path, keymap: Keymap) -> Plugins:
    """Read a file of commands. An unreadable file or table becomes one of the `problems`, never an error."""
    tables, trouble = own_file(path)
    found: list[Plugin] = []
    problems = list(trouble)
    for name, table in tables.items():
        plugin = _plugin(name, table)
        problem = plugin if isinstance(plugin, str) else next(_problems(plugin, keymap, found), "")
        if problem:
            problems.append(f"{path}: {name}: {problem}")
        elif isinstance(plugin, Plugin):
            found.append(plugin)
    return Plugins(found, tuple(problems))


def placeholders(word: str) -> list[str]:
    """The fields that a word names. Raises ValueError for a brace that is none of them."""
    parts = list(Formatter().parse(word))
    if any(name is not None and (not name.isidentifier() or spec or conversion) for _, name, spec, conversion in parts):
        raise ValueError
    return [name for _, name, _, _ in parts if name is not None]


def _plugin(name: str, table: Any) -> Plugin | str:
    """A plugin whose key is named as Textual does, or the problem."""
    try:
        plugin = msgspec.convert(table, Plugin)
    except msgspec.ValidationError as error:
        return str(error)
    try:
        (key,) = key_ids(plugin.key)
    except Exception:  # Textual has an error of its own for an empty key
        return f'write one key in quotes, e.g. "T" or "ctrl+t", not \'{plugin.key}\''
    return msgspec.structs.replace(plugin, key=key, name=name)


def _problems(plugin: Plugin, keymap: Keymap, others: Sequence[Plugin]) -> Iterator[str]:
    if bool(plugin.command) == bool(plugin.shell):
        yield "give either a command, a list of words, or a line for the shell"
    if unknown := set(plugin.screens) - set(TABLES):
        yield f"there is no screen '{min(unknown)}'; known: {', '.join(TABLES)}"
    if plugin.in_browser and not plugin.background:
        yield "a browser has no terminal: with in_browser it has to run in the background"
    try:
        if placeholders(plugin.command[0] if plugin.command else ""):
            yield "the program itself cannot come from a row"
        _ = plugin.fields
    except ValueError:
        yield "a field is written {id}, and a brace of the command's own {{ or }}"
    yield from _collisions(plugin, keymap, others)


def _collisions(plugin: Plugin, keymap: Keymap, others: Sequence[Plugin]) -> Iterator[str]:
    if plugin.key in RESERVED:
        yield f"the key '{plugin.key}' moves in tables and dialogs"
    if owner := keymap.owner(plugin.key, plugin.screens):
        yield f"the key '{plugin.key}' is that of '{owner}'"
    for other in others:
        if other.key == plugin.key and set(other.screens) & set(plugin.screens):
            yield f"the key '{plugin.key}' is that of '{other.name}'"

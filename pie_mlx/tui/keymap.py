"""Key bindings from the user's file: `kill = "x"`, one line per action."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from textual.binding import Binding

from pie_mlx.tui.actions import ACTIONS, APP_WIDE, BY_ID
from pie_mlx.tui.own_files import own_file


class Keymap:
    """`keys` by the name of their action; `problems` describe lines of the file that are ignored."""

    def __init__(self, keys: dict[str, str], problems: tuple[str, ...] = ()) -> None:
        self.keys = keys
        self.problems = problems

    def owner(self, key: str, where: Iterable[str], *, but: str = "") -> str:
        """The action, other than `but`, that has a key in one of these places; empty if none has."""
        places = set(where)
        for action in ACTIONS:
            shares = bool(places & set(action.where) or APP_WIDE & {*places, *action.where})
            if shares and action.id != but and set(key_ids(key)) & set(key_ids(self.keys.get(action.id, action.keys))):
                return action.id
        return ""


def key_ids(keys: str) -> list[str]:
    """Textual's names of keys that are separated by commas: `slash` for `/`."""
    return [binding.key for binding in Binding.make_bindings([Binding(keys, "", "")])]


def read_keymap(path: Path) -> Keymap:
    """Read a file of keys. An unreadable file or line becomes one of the `problems`, never an error."""
    lines, trouble = own_file(path)
    keys: dict[str, str] = {}
    problems = list(trouble)
    for name, key in lines.items():
        if name not in BY_ID:
            problems.append(f"{path}: there is no action '{name}'")
        elif not isinstance(key, str) or not all(map(str.strip, key.split(","))):
            problems.append(f'{path}: {name}: write a key in quotes, e.g. "x" or "ctrl+k"')
        else:
            keys[name] = key
    return _without_collisions(path, keys, problems)


def _without_collisions(path: Path, keys: Mapping[str, str], problems: list[str]) -> Keymap:
    """Two actions may change their keys with each other, so that all lines count before one is refused."""
    whole = Keymap(dict(keys))
    for name, key in keys.items():
        if owner := whole.owner(key, BY_ID[name].where, but=name):
            problems.append(f"{path}: {name}: the key '{key}' is that of '{owner}'")
            del whole.keys[name]
    return Keymap(whole.keys, tuple(problems))

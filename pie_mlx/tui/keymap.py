"""Key bindings from the user's file: `kill = "x"`, one line per action."""

from pathlib import Path

from pie_mlx.documents import toml_document
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.actions import BY_ID


class Keymap:
    """`keys` by the name of their action; `problems` describe lines of the file that are ignored."""

    def __init__(self, keys: dict[str, str], problems: tuple[str, ...] = ()) -> None:
        self.keys = keys
        self.problems = problems


def read_keymap(path: Path) -> Keymap:
    """Read a file of keys. An unreadable file or line becomes one of the `problems`, never an error."""
    try:
        lines = toml_document(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidArgumentError) as error:
        return Keymap({}, (f"{path}: {error}",))
    keys: dict[str, str] = {}
    problems: list[str] = []
    for name, key in lines.items():
        if name not in BY_ID:
            problems.append(f"{path}: there is no action '{name}'")
        elif not isinstance(key, str) or not key:
            problems.append(f'{path}: {name}: write a key in quotes, e.g. "x" or "ctrl+k"')
        else:
            keys[name] = key
    return Keymap(keys, tuple(problems))

"""Which program a word of `runtime.launch` means."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.program import MAIN_FILE, Program, find_program, looks_like_path

ResolveName = Callable[[str, Sequence[str]], Program]
"""From the name of an installed program, with or without a version, and the users it is looked up for, to the program.
Raises LaunchError."""

WORD_LIMIT = 1_024
"""The longest path or name, in characters."""


def paths_only(name: str, users: Sequence[str] = ()) -> Program:
    """The `ResolveName` of an engine without a store of programs."""
    del users
    raise LaunchError(
        f"program '{name}': not found, and this engine has no installed programs",
        hint="launch a path: 'helper.py', './helper'",
    )


def child_program(word: str, parent: Program | None, resolve: Callable[[str], Program]) -> Program:
    """The program that `parent` means by `word`: one of its dependencies, itself, a path from its own directory, else a
    name.

    A program reaches no path outside of its directory; a function (None) is the embedder's own code and may name any
    path, from the working directory. Raises LaunchError.
    """
    if not word or "\0" in word or len(word) > WORD_LIMIT:
        raise LaunchError(f"program {word[:WORD_LIMIT]!r}: no such program", hint="pass a path or a name")
    try:
        return _found(word, parent, resolve)
    except OSError as error:
        raise LaunchError(f"program '{word}': {error.strerror}", hint="check the path") from None


def _found(word: str, parent: Program | None, resolve: Callable[[str], Program]) -> Program:
    if parent is None:
        return find_program(Path(word)) if looks_like_path(word) else resolve(word)
    if word in parent.dependencies:
        return parent.dependencies[word]
    if word in (parent.manifest.name, parent.identity):
        return parent
    home = parent.main_file.resolve().parent
    is_path = "/" in word or word.endswith((".py", ".pie")) or (home / word / MAIN_FILE).is_file()
    return _inside(home, word) if is_path else resolve(word)


def _inside(home: Path, word: str) -> Program:
    path = (home / word).resolve()
    if not path.is_relative_to(home):
        raise LaunchError(
            f"program '{word}': outside of the directory of the program that launches it",
            hint="install it and launch it by name, or put it into the program's directory",
        )
    return find_program(path)

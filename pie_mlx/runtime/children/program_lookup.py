"""Finds the program that a word passed to `runtime.launch` means."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.language import SUFFIXES, main_in
from pie_mlx.runtime.program.program import Program, find_program, looks_like_path

ResolveName = Callable[[str, Sequence[str]], Program]
"""Finds an installed program by its name, with or without a version, for the given users. Raises LaunchError."""

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
    """The program that `parent` means by `word`: a dependency, itself, a path in its own directory, or else a name.

    A program cannot launch paths outside its directory. A function (parent None) is the embedder's own code and may
    name any path, relative to the working directory. Raises LaunchError.
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
    is_path = "/" in word or word.endswith((*SUFFIXES, ".pie")) or _is_program(home / word)
    return _inside(home, word) if is_path else resolve(word)


def _is_program(path: Path) -> bool:
    return path.is_dir() and main_in(path) is not None


def _inside(home: Path, word: str) -> Program:
    path = (home / word).resolve()
    if not path.is_relative_to(home):
        raise LaunchError(
            f"program '{word}': outside the directory of the launching program",
            hint="install it and launch it by name, or put it into the program's directory",
        )
    return find_program(path)

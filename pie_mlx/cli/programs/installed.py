"""Installed programs, by the names given on a command line."""

import os
from collections.abc import Sequence
from pathlib import Path

from pie_mlx.config import load_config, pie_home
from pie_mlx.config.schema import AuthConfig
from pie_mlx.errors import LaunchError, PieError
from pie_mlx.runtime.daemon.builtin_programs import NAMES, builtin_program
from pie_mlx.runtime.program.language import SUFFIXES
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.store import ProgramStore, TrustedOwners
from pie_mlx.runtime.store.resolution import parse_identifier


def local_store(auth: AuthConfig) -> ProgramStore:
    """The programs of this account, with its engine's rule for names that several users own."""
    owners = TrustedOwners.of_engine(auth.trusted_owners, authenticated=auth.enabled)
    return ProgramStore(pie_home(os.environ), owners=owners)


def installed_program(store: ProgramStore, word: str, users: Sequence[str] = ()) -> Program:
    """An installed program or one that comes with the engine, by `name` or `name@version`. Raises LaunchError."""
    wanted = parse_identifier(word)
    found = store.versions(wanted.name)
    if found and wanted.version in (None, *found):
        return store.find(word, *users).program
    if wanted.name in NAMES:  # installed by the first `pie serve`: until then only the package has them
        builtin = builtin_program(wanted.name)
        if wanted.version in (None, builtin.manifest.version):
            return builtin
    raise not_installed(word)


def is_model(word: str) -> bool:
    """Whether it names a model that is on this disk or configured."""
    from pie_mlx.runtime.models import find_on_disk

    try:
        return any(word in (model.name, model.hf_repo) for model in load_config().config.model) or bool(
            find_on_disk(word)
        )
    except PieError:
        return False


def model_as_program(word: str) -> LaunchError:
    """The error for a model where a program is wanted."""
    return LaunchError(
        f"'{word}' is a model, not a program",
        hint=f"'pie chat --model {word}' talks to it, 'pie run PROGRAM --model {word}' runs a program on it",
    )


def not_installed(word: str) -> LaunchError:
    """The error for an unknown program; suggests a file of that name, and what a model is for."""
    if is_model(word):
        return model_as_program(word)
    name = word.partition("@")[0]
    files = [file for suffix in (*SUFFIXES, ".pie") if Path(file := f"{name}{suffix}").is_file()]
    hint = f"did you mean '{files[0]}'?" if files else "'pie list' shows what is, 'pie install PATH' installs"
    return LaunchError(f"program '{word}' is not installed", hint=hint)

"""Installed programs: packages and their rules, versions, owners, dependencies. Executes no program."""

from pie_mlx.runtime.store.owners import TrustedOwners
from pie_mlx.runtime.store.payload import digest, manifest_digest
from pie_mlx.runtime.store.records import ProgramRecord
from pie_mlx.runtime.store.source import Source, checked_source, pack_program
from pie_mlx.runtime.store.store import Installed, ProgramStore, not_installed

__all__ = [
    "Installed",
    "ProgramRecord",
    "ProgramStore",
    "Source",
    "TrustedOwners",
    "checked_source",
    "digest",
    "manifest_digest",
    "not_installed",
    "pack_program",
]

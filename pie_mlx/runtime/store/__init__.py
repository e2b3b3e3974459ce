"""Installed programs: packages, their rules, and where they are kept."""

from pie_mlx.runtime.store.owners import Owners
from pie_mlx.runtime.store.payload import digest, manifest_digest
from pie_mlx.runtime.store.records import Record
from pie_mlx.runtime.store.source import Source, checked_source, pack_program
from pie_mlx.runtime.store.store import Installed, ProgramStore, not_installed

__all__ = [
    "Installed",
    "Owners",
    "ProgramStore",
    "Record",
    "Source",
    "checked_source",
    "digest",
    "manifest_digest",
    "not_installed",
    "pack_program",
]

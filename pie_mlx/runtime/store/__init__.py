"""Installed programs: packages and their rules, versions, owners, dependencies. Executes no program."""

from pie_mlx.runtime.store.owners import TrustedOwners
from pie_mlx.runtime.store.packed_program import PackedProgram, checked_program, pack_program
from pie_mlx.runtime.store.payload import digest, manifest_digest
from pie_mlx.runtime.store.records import ProgramRecord
from pie_mlx.runtime.store.store import Installed, ProgramStore, not_installed

__all__ = [
    "Installed",
    "PackedProgram",
    "ProgramRecord",
    "ProgramStore",
    "TrustedOwners",
    "checked_program",
    "digest",
    "manifest_digest",
    "not_installed",
    "pack_program",
]

"""The compiled forms of components on disk.

Its files are named by the digest of the component and of what compiled it. Machine code that was changed is noticed by
its digest, and compiled again; the worker compares once more.
"""

import os
import platform
import threading
from pathlib import Path

import msgspec
from blake3 import blake3

from pie_mlx import __version__
from pie_mlx.documents import read_limited
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.files import disk_hint, make_own, write_file
from pie_mlx.runtime.program.component_source import LIMIT_BYTES, check_beginning
from pie_mlx.runtime.worker.compiled.compiling import compile_component, compiler_version
from pie_mlx.runtime.worker.compiled.form import Record, file_digest
from pie_mlx.runtime.worker.frames.messages import CompiledLocation
from pie_mlx.wasm.facts import Facts

FORM = "1"
"""Changes with the settings of the compiler."""
KEPT_BYTES = 1 << 30
"""Bytes of all compiled forms; the oldest go first."""
CODE, FACTS = ".code", ".json"
"""Suffixes of the two files of a compiled form."""

_Stamp = tuple[int, int, int]


class CompiledComponents:
    """The compiled forms in `directory`, which belongs to this user alone. May be used from any thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._known: dict[str, tuple[_Stamp, _Stamp, CompiledLocation, Facts]] = {}

    def get(self, wasm_file: Path) -> tuple[CompiledLocation, Facts]:
        """The compiled form of a component; compiles it if need be, which blocks. Raises LaunchError."""
        try:
            with self._lock:
                return self._kept(str(wasm_file)) or self._made(wasm_file)
        except OSError as error:
            hint = disk_hint(error, "check the directory and its permissions")
            raise LaunchError(f"{error.filename or wasm_file}: {error.strerror}", hint=hint) from None

    def known(self, wasm_file: Path) -> CompiledLocation:
        """The compiled form of a component after `get`. Does not block. Raises LaunchError if it has changed since."""
        try:
            found = self._kept(str(wasm_file))
        except OSError:
            found = None
        if found is None:
            raise LaunchError(f"{wasm_file}: it was changed while it was launched", hint="launch it again")
        return found[0]

    def _kept(self, wasm_file: str) -> tuple[CompiledLocation, Facts] | None:
        """What is known of files that have not changed since."""
        if (known := self._known.get(wasm_file)) is None:
            return None
        source, stored, location, facts = known
        unchanged = _stamp(wasm_file) == source and _stamp(location.file) == stored
        return (location, facts) if unchanged else None

    def _made(self, wasm_file: Path) -> tuple[CompiledLocation, Facts]:
        stamp, wasm = _stamp(str(wasm_file)), _read(wasm_file)
        file = self._directory / f"{_name(wasm)}{CODE}"
        record = _verified(file) or self._written(file, wasm)
        location = CompiledLocation(str(file), record.digest)
        self._known[str(wasm_file)] = (stamp, _stamp(str(file)), location, record.facts)
        return location, record.facts

    def _written(self, file: Path, wasm: bytes) -> Record:
        compiled = compile_component(wasm)
        record = Record(compiled.facts, blake3(compiled.code).hexdigest())
        make_own(self._directory)
        write_file(file, compiled.code)
        write_file(file.with_suffix(FACTS), msgspec.json.encode(record))
        self._drop_oldest()
        return record

    def _drop_oldest(self) -> None:
        files = sorted(self._directory.glob(f"*{CODE}"), key=lambda file: file.stat().st_mtime, reverse=True)
        total = 0
        for file in files:
            total += file.stat().st_size
            if total > KEPT_BYTES and file != files[0]:
                file.with_suffix(FACTS).unlink(missing_ok=True)
                file.unlink()


def _verified(file: Path) -> Record | None:
    """What is known of machine code; None if there is none, or if it was changed."""
    try:
        record = msgspec.json.decode(file.with_suffix(FACTS).read_bytes(), type=Record)
        return record if file_digest(file) == record.digest else None
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _read(file: Path) -> bytes:
    try:
        wasm = read_limited(file, LIMIT_BYTES)
    except InvalidArgumentError as error:
        raise LaunchError(f"{file}: {error.message}", hint="build it with optimisation") from None
    check_beginning(wasm[:8], str(file))
    return wasm


def _name(wasm: bytes) -> str:
    made_by = f"{FORM} {__version__} {compiler_version()} {platform.machine()} {platform.system()}".encode()
    return blake3(made_by + b"\0" + wasm).hexdigest()


def _stamp(file: str) -> _Stamp:
    found = os.stat(file)
    return found.st_ino, found.st_mtime_ns, found.st_size

"""Reads sources of programs in a process of limited memory and time.

Python's parser has no limits: a text of 1 MiB can take minutes and gigabytes, and the parser cannot be interrupted.
"""

import threading
from pathlib import Path
from typing import TypeVar

import msgspec

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.limited_python import output_of
from pie_mlx.runtime.program.entry_kind import SourceFacts, facts_of
from pie_mlx.runtime.program.manifest import Manifest
from pie_mlx.runtime.program.source_text import parse_source

AT_ONCE_BYTES = 16 << 10
"""Shorter sources are parsed in this process: the worst of them take Python 60 ms and 26 MB."""

MEMORY_LIMIT_BYTES = 640 << 20
CPU_LIMIT_SECONDS = 15
PATIENCE_SECONDS = 60.0
"""Wall-clock limit, for a machine under load."""

_READERS = threading.BoundedSemaphore(2)
BOOT = "from pie_mlx.runtime.check.source_reader import main; main()"


class FactsJob(msgspec.Struct, frozen=True, tag="facts"):
    """Asks for `facts_of` a source."""

    source: str
    file: str
    entry: str


class FindingsJob(msgspec.Struct, frozen=True, tag="findings"):
    """Asks for `code_findings` of a program. `files` are its sources by path; None reads them from disk."""

    main_file: str
    directory: str | None
    files: dict[str, str] | None
    entry: str
    call: str
    dependencies: list[str]


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """A LaunchError."""

    message: str
    hint: str


class Facts(msgspec.Struct, frozen=True, tag="facts"):
    facts: SourceFacts


class Findings(msgspec.Struct, frozen=True, tag="findings"):
    lines: list[str]


Job = FactsJob | FindingsJob
Answer = Facts | Findings | Refused
Expected = TypeVar("Expected", Facts, Findings)


def source_facts(source: str, file: Path, entry: str) -> SourceFacts:
    """Facts about a program's main file. Raises LaunchError for a syntax error, or if a limit is exceeded."""
    if len(source) <= AT_ONCE_BYTES:
        return facts_of(parse_source(source, file), entry)
    return _answer(FactsJob(source, str(file), entry), file, Facts).facts


def findings_of(
    manifest: Manifest, main_file: Path, directory: Path | None, files: dict[str, str] | None = None
) -> list[str]:
    """Mistakes in a program's sources: in `files`, or in those on disk. Raises LaunchError."""
    job = FindingsJob(
        str(main_file),
        None if directory is None else str(directory),
        files,
        manifest.runtime.entry,
        manifest.runtime.call,
        list(manifest.dependencies),
    )
    return _answer(job, main_file, Findings).lines


def _answer(job: Job, file: Path, expected: type[Expected]) -> Expected:
    with _READERS:
        output = _run(msgspec.msgpack.encode(job), file)
    answer = msgspec.msgpack.decode(output, type=Answer)
    if isinstance(answer, Refused):
        raise LaunchError(answer.message, hint=answer.hint)
    assert isinstance(answer, expected)
    return answer


def _run(given: bytes, file: Path) -> bytes:
    try:
        output = output_of(BOOT, given, memory_bytes=MEMORY_LIMIT_BYTES, patience_seconds=PATIENCE_SECONDS)
    except OSError as error:
        raise LaunchError(f"{file}: cannot start a process to read it: {error.strerror}", hint="try again") from None
    if output is None:
        raise LaunchError(
            f"{file}: Python cannot read it within {CPU_LIMIT_SECONDS} s and {MEMORY_LIMIT_BYTES >> 20} MiB",
            hint="flatten deep expressions, and keep data in files of its own",
        )
    return output

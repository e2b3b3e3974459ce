"""Sources of programs read by a process of limited memory and time.

Python parses whatever it is given: a text of 1 MiB can take minutes and gigabytes, and nothing can stop it meanwhile.
"""

import subprocess
import threading
import time
from pathlib import Path
from typing import TypeVar

import msgspec

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.process_memory import residency
from pie_mlx.runtime.program.entry_kind import SourceFacts, facts_of
from pie_mlx.runtime.program.manifest import Manifest
from pie_mlx.runtime.program.source_text import parse_source
from pie_mlx.runtime.sandbox.interpreter import isolated_python

AT_ONCE_BYTES = 16 << 10
"""What this process reads itself, rather than start another: Python takes 60 ms and 26 MB for the worst of these."""

MEMORY_LIMIT_BYTES = 640 << 20
CPU_LIMIT_SECONDS = 15
PATIENCE_SECONDS = 60.0
"""Of a machine that is busy otherwise."""

_LOOK_SECONDS = 0.1
_READERS = threading.BoundedSemaphore(2)
_BOOT = "from pie_mlx.runtime.check.source_reader import main; main()"


class FactsJob(msgspec.Struct, frozen=True, tag="facts"):
    """What `facts_of` tells of a source."""

    source: str
    file: str
    entry: str


class FindingsJob(msgspec.Struct, frozen=True, tag="findings"):
    """What `code_findings` tells of a program: of `files`, its sources by path, or None for those on disk."""

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
    """What is told from a program's main file. Raises LaunchError for a syntax error, and for what takes too much."""
    if len(source) <= AT_ONCE_BYTES:
        return facts_of(parse_source(source, file), entry)
    return _answer(FactsJob(source, str(file), entry), file, Facts).facts


def findings_of(
    manifest: Manifest, main_file: Path, directory: Path | None, files: dict[str, str] | None = None
) -> list[str]:
    """What is wrong with the sources of a program: with `files`, or with those on disk. Raises LaunchError."""
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
        process = subprocess.Popen(
            isolated_python(_BOOT), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise LaunchError(f"{file}: nothing can be started to read it: {error.strerror}", hint="try again") from None
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(process, over), name="pie-source-watch", daemon=True)
    watch.start()
    try:
        output, _ = process.communicate(given)
    finally:
        over.set()
        process.kill()
        process.wait()
        watch.join()
    if process.returncode != 0:
        raise LaunchError(
            f"{file}: Python cannot read it within {CPU_LIMIT_SECONDS} s and {MEMORY_LIMIT_BYTES >> 20} MiB",
            hint="flatten deep expressions, and keep data in files of its own",
        )
    return output


def _watch(process: "subprocess.Popen[bytes]", over: threading.Event) -> None:
    """Ends it when it takes too much: its own limits do not bound memory on a Mac, nor waiting anywhere."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not over.wait(_LOOK_SECONDS):
        if time.monotonic() > until or residency(process.pid).resident_bytes > MEMORY_LIMIT_BYTES:
            process.kill()
            return

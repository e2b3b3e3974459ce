"""The process that reads sources, started by `program.source_reading`."""

import os
import sys
from pathlib import Path

import msgspec

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.entry_kind import facts_of
from pie_mlx.runtime.program.manifest import Manifest, RuntimeSettings
from pie_mlx.runtime.program.semver import Requirement, Version
from pie_mlx.runtime.program.source_reading import (
    CPU_LIMIT_SECONDS,
    MEMORY_LIMIT_BYTES,
    Answer,
    Facts,
    FactsJob,
    Findings,
    FindingsJob,
    Job,
    Refused,
)
from pie_mlx.runtime.program.source_text import parse_source, read_text, unreadable
from pie_mlx.runtime.worker.limits import limit_reader


def main() -> None:
    """Answer the job on standard input."""
    limit_reader(cpu_seconds=CPU_LIMIT_SECONDS, memory_bytes=MEMORY_LIMIT_BYTES)
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Job)
    sys.stdout.buffer.write(msgspec.msgpack.encode(_answer(job)))
    sys.stdout.buffer.flush()
    os._exit(0)  # freeing a large tree takes as long as building it


def _answer(job: Job) -> Answer:
    try:
        if isinstance(job, FactsJob):
            return Facts(facts_of(parse_source(job.source, Path(job.file)), job.entry))
        return _findings(job)
    except LaunchError as error:
        return Refused(error.message, error.hint)
    except (RecursionError, MemoryError) as error:
        refused = unreadable(Path(job.file if isinstance(job, FactsJob) else job.main_file), error)
        return Refused(refused.message, refused.hint)


def _findings(job: FindingsJob) -> Findings:
    from pie_mlx.runtime.check.source_findings import Code, code_findings  # imports the SDK

    main_file, directory = Path(job.main_file), None if job.directory is None else Path(job.directory)
    files = job.files

    def read(file: Path) -> str | None:
        return _on_disk(file) if files is None else files.get(file.as_posix())

    runtime = RuntimeSettings(entry=job.entry, call=job.call)
    dependencies = {name: Requirement("*", ()) for name in job.dependencies}
    manifest = Manifest("program", Version((0, 0, 0)), runtime=runtime, dependencies=dependencies)
    return Findings(code_findings(Code(main_file, directory, read), manifest))


def _on_disk(file: Path) -> str | None:
    """The text of a file; "" if it is not readable as source, None if it does not exist."""
    try:
        return read_text(file)
    except LaunchError:
        return "" if file.is_file() else None

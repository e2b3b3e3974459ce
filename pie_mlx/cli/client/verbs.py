"""What `pie client submit`, `install`, `list` and `ping` do."""

import json
import time
from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.engine.connection import engine_address, with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.program_input import program_input
from pie_mlx.cli.run.remote import chosen_version, packed, run_on
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.text import table
from pie_mlx.cli.terminal.vocabulary import process_row
from pie_mlx.client import Client
from pie_mlx.runtime.program.manifest import parse_manifest
from pie_mlx.runtime.store import checked_program

INPUT_CHARACTERS = 48


def submit(
    common: Common, name: str | None, path: Path | None, manifest: Path | None, words: tuple[str, ...], detached: bool
) -> int:
    """Run a program and return the exit code. Raises PieError and click.UsageError."""
    if (name is None) == (path is None):
        raise click.UsageError("name an installed program, or give --path")
    request = RunRequest(path or Path(str(name)), installed=name, manifest=manifest, words=words)
    if not detached:
        return run_on(engine_address(common), request, common)
    with_client(common, lambda client: _launch(client, request))
    return 0


async def _launch(client: Client, request: RunRequest) -> None:
    if request.installed is None:
        source = packed(request)
        manifest = parse_manifest(source.manifest_text)
        identifier, value = manifest.identity, program_input(request, manifest.parameters)
        await client.install(source.payload, source.manifest_text, keep=False)
    else:
        identifier, manifest = await chosen_version(client, request.installed)
        value = program_input(request, manifest.parameters)
    print((await client.launch(identifier, value, attach=False)).id)


def install(common: Common, path: Path, manifest: Path | None, force: bool) -> None:
    """Upload a program. Raises LaunchError."""
    source = checked_program(path, manifest)

    async def work(client: Client) -> None:
        await client.install(source.payload, source.manifest_text, force=force)

    with_client(common, work)
    identity = parse_manifest(source.manifest_text).identity
    print(json.dumps({"installed": identity}) if common.json else identity)


def list_processes(common: Common, id_characters: int) -> None:
    """Print the processes of this user."""

    async def work(client: Client) -> list[dict[str, Any]]:
        return await client.processes()

    rows = with_client(common, work)
    if common.json:
        print(json.dumps([process_row(row) for row in rows], ensure_ascii=False))
        return
    cells = [[row["id"][:id_characters], row["program"], row["state"], row["input"][:INPUT_CHARACTERS]] for row in rows]
    print(table(("ID", "PROGRAM", "STATE", "INPUT"), cells))


def ping(common: Common) -> None:
    """Print how fast the engine answers. Raises SessionClosedError when none does."""

    async def work(client: Client) -> float:
        started = time.perf_counter()
        await client.ping()
        return (time.perf_counter() - started) * 1000

    milliseconds = with_client(common, work)
    url = engine_address(common).url
    print(json.dumps({"url": url, "milliseconds": milliseconds}) if common.json else f"{url}: {milliseconds:.1f} ms")

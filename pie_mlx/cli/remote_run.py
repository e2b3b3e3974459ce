"""`pie run` on an engine that runs already."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pie_mlx.cli.connecting import open_client
from pie_mlx.cli.display import Display, ReceivedFiles
from pie_mlx.cli.failures import report_failed
from pie_mlx.cli.front import Front, front_of, talking
from pie_mlx.cli.interrupts import Protect, run_interruptible
from pie_mlx.cli.naming import not_installed
from pie_mlx.cli.options import Common
from pie_mlx.cli.originals import Originals
from pie_mlx.cli.reporting import INTERRUPTED
from pie_mlx.cli.run import RunRequest
from pie_mlx.cli.running import program_input
from pie_mlx.client import Address, Client, RemoteProcess
from pie_mlx.errors import ProcessError
from pie_mlx.events import ProcessFailed, ProcessFile, ProcessReturned
from pie_mlx.runtime.program.manifest import Manifest, parse_manifest
from pie_mlx.runtime.store import Source, checked_source, digest
from pie_mlx.runtime.store.owners import untrusted
from pie_mlx.runtime.store.resolution import parse_identifier


def run_on(address: Address, request: RunRequest, common: Common) -> int:
    """Run the program and answer the exit code. Raises PieError and click.UsageError."""
    try:
        return run_interruptible(prepared(request, common)(address).run)
    except KeyboardInterrupt:
        return INTERRUPTED


def prepared(request: RunRequest, common: Common) -> Callable[[Address], "RemoteRun"]:
    """The run, but for the engine. Raises LaunchError."""
    source = None if request.installed else packed(request)
    if request.files is not None:
        request.files.mkdir(parents=True, exist_ok=True)
    front = front_of(request, common)
    return lambda address: RemoteRun(address, source, request, common, front)


def packed(request: RunRequest) -> Source:
    """What is uploaded for a path, with the manifest of `--manifest` where one is named. Raises LaunchError."""
    return checked_source(request.path, request.manifest)


@dataclass(frozen=True, slots=True)
class RemoteRun:
    """One run of a program, uploaded from `source` or installed there already, on the engine at `address`."""

    address: Address
    source: Source | None
    request: RunRequest
    common: Common
    front: Front

    async def run(self, protect: Protect) -> int:
        async with await open_client(self.address) as client:
            identifier, manifest = await self._program(client)
            value = program_input(self.request, manifest.parameters)
            if self.source is not None:
                await client.install(self.source.payload, self.source.manifest_text, keep=False)
            process = await client.launch(identifier, value, token_budget=self.request.token_budget)
            protect()
            return self._report(manifest, await self._follow(process))

    async def _program(self, client: Client) -> tuple[str, Manifest]:
        if self.source is not None:
            manifest = parse_manifest(self.source.manifest_text)
            return manifest.identity, manifest
        return await chosen_version(client, str(self.request.installed))

    async def _follow(self, process: RemoteProcess) -> ProcessReturned | ProcessFailed:
        """Show it until it ends; end it when time is up, and when this command is to end."""
        showing = asyncio.create_task(self._show(process))
        async with talking(self.front, process):
            try:
                async with asyncio.timeout(self.request.timeout_seconds):
                    return await asyncio.shield(showing)
            except TimeoutError:
                await process.terminate()
                await showing
                reason = f"still running after {self.request.timeout_seconds:g} s"
                return ProcessFailed(process.id, "ProcessCancelledError", reason)
            except asyncio.CancelledError:
                await process.terminate()
                await showing
                raise
            except BrokenPipeError:
                with contextlib.suppress(ProcessError):
                    await process.terminate()
                    await process.result()
                raise

    async def _show(self, process: RemoteProcess) -> ProcessReturned | ProcessFailed:
        files = ReceivedFiles(self.request.files)
        if self.source is None or self.request.path.suffix == ".pie":
            return await show_events(process, self.front.show, files)
        named = Originals(self.request.path, digest(self.source.payload))
        return named(await show_events(process, lambda event: self.front.show(named(event)), files))

    def _report(self, manifest: Manifest, ended: ProcessReturned | ProcessFailed) -> int:
        if isinstance(ended, ProcessReturned):
            return 0
        return report_failed(f"program '{manifest.identity}'", ended, self.common)


async def show_events(
    process: RemoteProcess, display: Display, files: ReceivedFiles
) -> ProcessReturned | ProcessFailed:
    """Show what a process gives out until it ends; answers how. Raises SessionClosedError."""
    last: ProcessReturned | ProcessFailed | None = None
    async for event, data in process.events():
        display(event)
        if isinstance(event, ProcessFile):
            files(data, event.name)
        elif isinstance(event, ProcessReturned | ProcessFailed):
            last = event
    return last or ProcessFailed(process.id, "ProcessError", "it ended without an event")


async def chosen_version(client: Client, word: str) -> tuple[str, Manifest]:
    """What an installed program is launched by, and its manifest, by `name`, `name@version` or `owner:name`.

    Raises LaunchError.
    """
    wanted = parse_identifier(word)
    found = (await client.query("programs", name=wanted.name))["programs"]
    chosen = [entry for entry in found if str(wanted.version or entry["version"]) == entry["version"]]
    if not chosen:
        raise not_installed(word)
    meant = [entry for entry in chosen if _is_meant(entry, wanted.owner)]
    if not meant:
        raise untrusted(wanted.name, chosen[0]["owner"])
    manifests = [parse_manifest(entry["manifest"]) for entry in meant]
    manifest = max(manifests, key=lambda manifest: (not manifest.version.prerelease, manifest.version))
    return f"{wanted.owner}:{manifest.identity}" if wanted.owner else manifest.identity, manifest


def _is_meant(entry: Mapping[str, Any], owner: str) -> bool:
    """Engines of the first release do not say whom they trust."""
    return entry["owner"] == owner if owner else entry.get("trusted", True)

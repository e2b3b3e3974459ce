"""`pie run` on a running engine."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pie_mlx.cli.engine.connection import open_client
from pie_mlx.cli.engine.mcp_file import servers_in
from pie_mlx.cli.options import Common
from pie_mlx.cli.programs.installed import not_installed
from pie_mlx.cli.run.display import Display, ReceivedFiles
from pie_mlx.cli.run.failures import report_failed
from pie_mlx.cli.run.frontend import Frontend, forwarding_input, frontend_for
from pie_mlx.cli.run.original_paths import OriginalPaths
from pie_mlx.cli.run.program_input import program_input
from pie_mlx.cli.run.recording.tracing import TraceRecorder, recording_from
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.interrupts import Protect, run_interruptible
from pie_mlx.client import Address, Client, RemoteProcess
from pie_mlx.config.schema import McpConfig
from pie_mlx.errors import ConfigError, ProcessError
from pie_mlx.events import ProcessFailed, ProcessFile, ProcessReturned
from pie_mlx.runtime.program.manifest import Manifest, parse_manifest
from pie_mlx.runtime.store import PackedProgram, checked_program, digest
from pie_mlx.runtime.store.owners import untrusted
from pie_mlx.runtime.store.resolution import parse_identifier


def run_on(address: Address, request: RunRequest, common: Common, recorder: TraceRecorder | None = None) -> int:
    """Run the program and return the exit code. Raises PieError, click.UsageError and KeyboardInterrupt."""
    return run_interruptible(prepared(request, common, recorder)(address).run)


def prepared(
    request: RunRequest, common: Common, recorder: TraceRecorder | None = None
) -> Callable[[Address], "RemoteRun"]:
    """Everything that needs no engine. Raises LaunchError."""
    source = None if request.installed else packed(request)
    if request.files is not None:
        request.files.mkdir(parents=True, exist_ok=True)
    frontend = frontend_for(request, common)
    servers = [] if request.mcp is None or request.port is not None else servers_in(request.mcp, os.environ)
    return lambda address: RemoteRun(address, source, request, common, frontend, servers, recorder)


def packed(request: RunRequest) -> PackedProgram:
    """The package to upload for a path, with the manifest of `--manifest` if there is one. Raises LaunchError."""
    return checked_program(request.path, request.manifest)


@dataclass(frozen=True, slots=True)
class RemoteRun:
    """One run of a program, uploaded from `source` or installed there already, on the engine at `address`."""

    address: Address
    source: PackedProgram | None
    request: RunRequest
    common: Common
    frontend: Frontend
    servers: Sequence[McpConfig] = ()
    """MCP servers that run beside this command."""
    recorder: TraceRecorder | None = None

    async def run(self, protect: Protect) -> int:
        async with await open_client(self.address) as client:
            for server in self.servers:
                await register(client, server)
            async with recording_from(client, self.recorder):
                process, manifest = await self.launch(client)
                if self.recorder is not None:
                    self.recorder.of_process = process.id
                protect()
                return self._report(manifest, await self._follow(process))

    async def launch(self, client: Client, *, attach: bool = True) -> tuple[RemoteProcess, Manifest]:
        """Start the program. Raises PieError and click.UsageError."""
        identifier, manifest = await self._program(client)
        value = program_input(self.request, manifest.parameters)
        if self.source is not None:
            await client.install(self.source.payload, self.source.manifest_text, keep=False)
        budget, model = self.request.token_budget, self.request.served_model or None
        process = await client.launch(identifier, value, attach=attach, token_budget=budget, model=model)
        return process, manifest

    async def _program(self, client: Client) -> tuple[str, Manifest]:
        if self.source is not None:
            manifest = parse_manifest(self.source.manifest_text)
            return manifest.identity, manifest
        return await chosen_version(client, str(self.request.installed))

    async def _follow(self, process: RemoteProcess) -> ProcessReturned | ProcessFailed:
        """Show the process until it ends; terminate it after the timeout, and when this command is interrupted."""
        showing = asyncio.create_task(self._show(process))
        async with forwarding_input(self.frontend, process):
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
            return await show_events(process, self.frontend.show, files)
        named = OriginalPaths(self.request.path, digest(self.source.payload))
        return named(await show_events(process, lambda event: self.frontend.show(named(event)), files))

    def _report(self, manifest: Manifest, ended: ProcessReturned | ProcessFailed) -> int:
        if isinstance(ended, ProcessReturned):
            return 0
        source = None if self.source is None else self.request.path
        return report_failed(f"program '{manifest.identity}'", ended, self.common, source)


async def register(client: Client, server: McpConfig) -> None:
    """Start a server beside this command, for its programs on the engine. Raises ConfigError and McpError."""
    if server.command is None:
        raise ConfigError(
            f"--mcp: {server.name}: a running engine reaches no further servers by url",
            hint="give --one-shot, or add it for the engine: pie mcp add",
        )
    await client.register_mcp_server(server.name, server.command, server.args, server.env)


async def show_events(
    process: RemoteProcess, display: Display, files: ReceivedFiles
) -> ProcessReturned | ProcessFailed:
    """Show the events of a process; returns the last one. Raises SessionClosedError."""
    last: ProcessReturned | ProcessFailed | None = None
    async for event, data in process.events():
        display(event)
        if isinstance(event, ProcessFile):
            files(data, event.name)
        elif isinstance(event, ProcessReturned | ProcessFailed):
            last = event
    return last or ProcessFailed(process.id, "ProcessError", "it ended without an event")


async def chosen_version(client: Client, word: str) -> tuple[str, Manifest]:
    """The identifier and the manifest of an installed program named `name`, `name@version` or `owner:name`.

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
    """Engines of the first release do not report whom they trust."""
    return entry["owner"] == owner if owner else entry.get("trusted", True)

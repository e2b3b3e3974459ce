"""An engine's settings, made from the configuration."""

from collections.abc import Sequence
from pathlib import Path

from pie_mlx.config import ModelConfig
from pie_mlx.config.schema import EngineConfig, McpConfig, RuntimeConfig
from pie_mlx.engine.settings import DiskCacheSettings, EngineSettings
from pie_mlx.runtime.children.launch_tree import LaunchLimits
from pie_mlx.runtime.mcp.server import McpServer
from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.worker.settings import WorkerSettings

KV_DIRECTORY = "kv"
"""Where KV outlives engines, in their home."""

COMPILED = "compiled"
"""The directory of compiled components, in $PIE_HOME."""


def engine_settings(model: ModelConfig, home: Path) -> EngineSettings:
    """Settings of the engine that serves a configured model and keeps its files in `home`."""
    return EngineSettings(
        model=model.hf_repo,
        name=model.name,
        dummy=model.engine.type == "dummy",
        dtype=model.engine.activation_dtype,
        kv_dtype=model.engine.kv_cache_dtype,
        kv_group_size=model.engine.kv_cache_group_size,
        kv_full_layers=tuple(model.engine.kv_cache_full_layers),
        page_size=model.engine.kv_page_size,
        total_pages=model.engine.total_pages,
        kv_memory_fraction=model.engine.kv_memory_fraction,
        memory_headroom_bytes=model.engine.memory_headroom_mb << 20,
        spill_directory=model.engine.spill_dir or str(home / "spill"),
        spill_max_bytes=model.engine.spill_max_mb << 20,
        disk_cache=_disk_cache(model.engine, home),
        snapshot_directory=model.engine.snapshot_dir or str(home / "snapshots"),
        persist_snapshots=model.engine.persist_snapshots,
        max_adapters=model.engine.max_adapters,
        draft_model=model.engine.draft_model,
        draft_head=model.engine.draft_head,
        seed=model.engine.random_seed,
        policy=model.scheduler.policy,
        max_batch_tokens=model.engine.max_forward_tokens,
        max_batch_contexts=model.engine.max_forward_requests,
        prefill_chunk_tokens=model.scheduler.max_chunk_tokens,
        decode_stall_seconds=model.scheduler.decode_stall_ms / 1000,
        runs_ahead=model.scheduler.speculation_depth > 0,
        grammar_jumps=model.scheduler.grammar_jumps,
        default_endowment_pages=model.scheduler.default_endowment_pages,
        admission_oversubscription=model.scheduler.admission_oversubscription_factor,
        default_token_limit=model.scheduler.default_token_limit,
        revision=model.revision,
        buffer_cache_bytes=model.engine.buffer_cache_mb << 20,
        watches_memory=model.engine.watch_memory,
        wires_memory=model.engine.wire_memory,
        request_timeout_seconds=model.scheduler.request_timeout_secs,
        load=model.load,
        keep_alive_seconds=keep_alive_seconds(model.keep_alive),
    )


def keep_alive_seconds(text: str) -> float | None:
    """How long a model stays in memory unused; None: forever."""
    if text == "forever":
        return None
    return 0.0 if text == "0" else float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def _disk_cache(engine: EngineConfig, home: Path) -> DiskCacheSettings | None:
    if engine.kv_disk == "off":
        return None
    return DiskCacheSettings(
        str(home / KV_DIRECTORY), engine.kv_disk_gb << 30, engine.kv_disk_daily_gb << 30, engine.kv_disk_shared
    )


def worker_settings(runtime: RuntimeConfig, home: Path) -> WorkerSettings:
    """Limits for the programs of an engine that keeps its files in `home`."""
    return WorkerSettings(
        sandbox=runtime.sandbox,
        scratch_directory=(runtime.fs_scratch_dir or str(home / "scratch")) if runtime.allow_fs else None,
        scratch_max_bytes=runtime.scratch_max_mb << 20,
        max_memory_bytes=runtime.max_memory_mb << 20,
        max_cpu_seconds=runtime.max_cpu_secs,
        max_open_files=runtime.max_open_files,
        watchdog_seconds=runtime.watchdog_secs,
        warm_workers=runtime.warm_workers,
        environment=tuple(runtime.environment),
        network=NetworkSettings(tuple(runtime.network_allowed_hosts)) if runtime.allow_network else None,
        compiled_directory=str(home / COMPILED),
    )


def launch_limits(runtime: RuntimeConfig) -> LaunchLimits:
    """How many programs a program may launch."""
    return LaunchLimits(runtime.max_launch_depth, runtime.max_children)


def mcp_servers(servers: Sequence[McpConfig]) -> list[McpServer]:
    """The servers of `[[mcp]]`. Raises ConfigError for one that lacks its command or url."""
    return [
        McpServer(
            name=server.name,
            transport=server.transport,
            command=server.command or "",
            args=tuple(server.args),
            env=dict(server.env),
            url=server.url or "",
            headers=dict(server.headers),
        )
        for server in servers
    ]

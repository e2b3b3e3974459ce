"""From the configuration to an engine's settings."""

from pathlib import Path

from pie_mlx.config import ModelConfig
from pie_mlx.engine.settings import EngineSettings


def engine_settings(model: ModelConfig, home: Path) -> EngineSettings:
    """Settings of the engine that serves a configured model and keeps its files in `home`."""
    return EngineSettings(
        model=model.hf_repo,
        name=model.name,
        dummy=model.engine.type == "dummy",
        dtype=model.engine.activation_dtype,
        page_size=model.engine.kv_page_size,
        total_pages=model.engine.total_pages,
        kv_memory_fraction=model.engine.kv_memory_fraction,
        memory_headroom_bytes=model.engine.memory_headroom_mb << 20,
        spill_directory=model.engine.spill_dir or str(home / "spill"),
        spill_max_bytes=model.engine.spill_max_mb << 20,
        seed=model.engine.random_seed,
        policy=model.scheduler.policy,
        max_batch_tokens=model.engine.max_forward_tokens,
        max_batch_contexts=model.engine.max_forward_requests,
        prefill_chunk_tokens=model.scheduler.max_chunk_tokens,
        default_endowment_pages=model.scheduler.default_endowment_pages,
        default_token_limit=model.scheduler.default_token_limit,
    )

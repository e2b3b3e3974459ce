"""Settings of an engine for the model that a command line names."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pie_mlx.cli.config.active import active_config
from pie_mlx.cli.options import Common
from pie_mlx.config import ModelConfig, pie_home
from pie_mlx.config.loading import last_part
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.runtime.configured import engine_settings


def requested_settings(name: str | None, *, dummy: bool, common: Common) -> EngineSettings:
    """Settings of the model that `--model` names, or of the configured one. Raises ConfigError."""
    return chosen_model_settings(name, dummy=dummy, models=active_config(common).config.model)


def chosen_model_settings(name: str | None, *, dummy: bool, models: list[ModelConfig]) -> EngineSettings:
    """Settings of the configured model of that name, else of the model it names; None is the first configured one."""
    settings = engine_settings(_chosen(models, name), pie_home(os.environ))
    if name is not None and name not in [model.name for model in models]:
        is_path = Path(name).expanduser().exists()
        settings = replace(settings, model=name, name=last_part(name) if is_path else None)
    return replace(settings, dummy=True) if dummy else settings


def served_settings(names: Sequence[str], *, dummy: bool, models: list[ModelConfig]) -> list[EngineSettings]:
    """Settings of the models that `--model` names, or of all that are configured."""
    chosen = names or [model.name for model in (models[:1] if dummy else models)]
    return [chosen_model_settings(name, dummy=dummy, models=models) for name in chosen]


def model_name(settings: EngineSettings) -> str:
    """The model's name as clients see it."""
    return settings.called


def _chosen(models: list[ModelConfig], name: str | None) -> ModelConfig:
    return next((model for model in models if model.name == name), models[0])

"""The configuration: its schema, and loading it with the origin of every value."""

from pie_mlx.config.loading import LoadedConfig, config_file, load_config, pie_home, setting_variables
from pie_mlx.config.schema import Config, EngineConfig, ModelConfig, SchedulerConfig
from pie_mlx.config.values import Setting

__all__ = [
    "Config",
    "EngineConfig",
    "LoadedConfig",
    "ModelConfig",
    "SchedulerConfig",
    "Setting",
    "config_file",
    "load_config",
    "pie_home",
    "setting_variables",
]

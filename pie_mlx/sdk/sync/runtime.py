"""The engine and the user this program runs for."""

from pie_mlx.sdk.runtime import instance_id, models, username, version

__all__ = ["instance_id", "models", "username", "version"]

"""The engine and the user this inferlet runs for, and the programs it launches."""

from pie_mlx.calls import DescribeRuntime, RuntimeInfo
from pie_mlx.sdk._calls.child import Child, launch
from pie_mlx.sdk._calls.host import current_host

__all__ = ["Child", "instance_id", "launch", "models", "spawn", "username", "version"]

spawn = launch
"""The same as `launch`. The engine forgets a child that has ended once its handle is gone."""


def models() -> list[str]:
    """Names of the loaded models."""
    return _describe().models


def version() -> str:
    """Version of the engine."""
    return _describe().version


def instance_id() -> str:
    """Identifier of this run of the engine."""
    return _describe().instance_id


def username() -> str:
    """The user who launched the inferlet."""
    return _describe().username


def _describe() -> RuntimeInfo:
    return current_host().call(DescribeRuntime())

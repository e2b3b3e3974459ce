"""The engine and the user this inferlet runs for, and the programs it launches."""

from typing import Any

from inferlet._calls.child import Child, launch
from inferlet._calls.host import current_host
from pie_mlx.calls import DescribeModels, DescribeRuntime, ModelState, RuntimeInfo

__all__ = [
    "Child",
    "ModelState",
    "get_return_value",
    "instance_id",
    "launch",
    "loaded_models",
    "loading_models",
    "model_states",
    "models",
    "process_id",
    "set_return",
    "spawn",
    "username",
    "version",
]

spawn = launch
"""The same as `launch`. The engine forgets a child that has ended once its handle is gone."""


def models() -> list[str]:
    """Names of the models that `Model.load` takes, the default one first."""
    return _describe().models


def loaded_models() -> list[str]:
    """Names of those of them that are in memory now; the others are loaded when they are wanted."""
    return _describe().loaded


def loading_models() -> dict[str, float]:
    """Those of them that are being loaded now, or that wait for memory: by each name and alias of theirs the part of
    their weights that is in memory, from 0 to 1."""
    return _describe().loading


def model_states() -> list[ModelState]:
    """What is known of every model of the engine, its default one first, without loading any."""
    return current_host().call(DescribeModels())


def version() -> str:
    """Version of the engine."""
    return _describe().version


def instance_id() -> str:
    """Identifier of this run of the engine."""
    return _describe().instance_id


def process_id() -> str:
    """Identifier of this run of the program, the same that `pie ps` shows: no other run has it."""
    return _describe().process_id


def username() -> str:
    """The user who launched the inferlet."""
    return _describe().username


def set_return(value: Any) -> None:
    """Set the program's return value, which it has if its main returns None or there is no main; the last call counts.

    The program fails with InvalidTypeError at its end if JSON cannot hold the value.
    """
    current_host().return_value = value


def get_return_value() -> Any:
    """What `set_return` has set; None before."""
    return current_host().return_value


def _describe() -> RuntimeInfo:
    return current_host().call(DescribeRuntime())

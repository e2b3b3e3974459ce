"""LoRA adapters, which the engine has no call for yet."""

from typing import NoReturn

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.sdk.model import Model


class Adapter:
    """A LoRA overlay. Not supported yet: making or opening one raises InvalidArgumentError."""

    @staticmethod
    def create(model: Model, name: str) -> NoReturn:
        """Raises InvalidArgumentError."""
        raise _unsupported(model, name)

    @staticmethod
    def open(model: Model, name: str) -> NoReturn:
        """Raises InvalidArgumentError."""
        raise _unsupported(model, name)


def _unsupported(model: Model, name: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"adapter {name!r} of {model.name}: not supported yet: the engine has no call for it",
        hint="run without adapters",
    )

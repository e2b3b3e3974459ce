"""Evolution strategies, which the engine has no call for yet: any use of this module raises InvalidArgumentError."""

from typing import NoReturn

from pie_mlx.errors import InvalidArgumentError


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise InvalidArgumentError(
        f"zo.{name}: not supported yet: the engine has no call for it", hint="run without evolution strategies"
    )

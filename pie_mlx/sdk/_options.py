"""Options the engine has no call for."""

from pie_mlx.errors import InvalidArgumentError


def refuse(**options: object) -> None:
    """Raises InvalidArgumentError naming the first option that was given (neither None nor False)."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise InvalidArgumentError(
                f"{name}: not supported yet: the engine has no call for it", hint=f"leave {name} out"
            )

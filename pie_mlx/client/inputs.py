"""The input of a launch as the wire carries it."""

import json

from pie_mlx.errors import LaunchError


def input_text(value: object) -> str:
    """A Python value as JSON text, {} for None. Raises LaunchError for what JSON cannot hold."""
    try:
        return json.dumps({} if value is None else value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise LaunchError(f"input: not JSON: {error}", hint="pass a dict of JSON values") from None

"""Inputs of launches and queries, encoded for the wire."""

import json
from typing import Any

from pie_mlx.errors import InvalidArgumentError, LaunchError


def input_text(value: object) -> str:
    """A Python value as JSON text, {} for None. Raises LaunchError for values JSON cannot hold."""
    try:
        return json.dumps({} if value is None else value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise LaunchError(f"input: not JSON: {error}", hint="pass a dict of JSON values") from None


def record_text(subject: str, record: dict[str, Any]) -> str:
    """The record of a query as JSON text. Raises InvalidArgumentError for values JSON cannot hold."""
    try:
        return json.dumps(record, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"query {subject}: not JSON: {error}", hint="pass JSON values") from None

"""Formats that must be kept: made exact where an engine is not."""

from collections.abc import Mapping

from pie_mlx.engine.text.grammar.schema import Schema, replace_subschemas

_HINTS = frozenset({"password", "binary", "path", "file-path", "directory-path"})
"""Formats that say how to show or store a text; every text has them."""

_YEAR = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
"""All but 0000, which no date library knows."""
_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_DATE = f"(?:{_LEAP_YEAR}-02-29|{_YEAR}-{_DAY})"
_TIME = "[0-9]{2}:[0-9]{2}:[0-5]"
"""Without leap seconds, which engines allow at any time of any day."""
_EXACT: Mapping[str, str] = {"date": f"^{_DATE}", "time": f"^{_TIME}", "date-time": f"^{_DATE}[Tt]{_TIME}"}


def with_exact_formats(schema: Schema) -> Schema:
    """The same schema without formats that restrict nothing, and with dates that exist."""
    kept = {key: value for key, value in schema.items() if key != "format" or str(value) not in _HINTS}
    exact = _EXACT.get(str(kept.get("format")))
    if exact is not None:
        kept["allOf"] = [*kept.get("allOf", []), {"pattern": exact}]
    return replace_subschemas(kept, with_exact_formats)


_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_WHOLE: Mapping[str, str] = {"date": f"^{_DATE}$", "time": f"^{_CLOCK}$", "date-time": f"^{_DATE}[Tt]{_CLOCK}$"}


def with_format_patterns(schema: Schema) -> Schema:
    """The same schema with dates and times as patterns, for an engine that keeps no two conditions on one text."""
    kept = {key: value for key, value in schema.items() if key != "format" or str(value) not in _HINTS}
    whole = _WHOLE.get(str(kept.get("format")))
    if whole is not None and "pattern" not in kept:
        del kept["format"]
        kept["pattern"] = whole
    return replace_subschemas(kept, with_format_patterns)

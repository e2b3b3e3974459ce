"""Formats that must be kept: made exact where an engine is not."""

from collections.abc import Mapping

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas, step, subschemas

_KNOWN = frozenset({"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"})
"""Formats that engines enforce."""

_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_DATE = f"(?:{_LEAP_YEAR}-02-29|[0-9]{{4}}-{_DAY})"
_LEAP_SECOND = r"23:59:60(?:\.[0-9]+)?(?:[Zz]|[+-]00:00)"
_TIME = f"(?:[0-9]{{2}}:[0-9]{{2}}:[0-5]|{_LEAP_SECOND})"
"""With leap seconds at the end of a day of UTC, where engines allow them at any time of any day."""
_EXACT: Mapping[str, str] = {"date": f"^{_DATE}", "time": f"^{_TIME}", "date-time": f"^{_DATE}[Tt]{_TIME}"}


def with_exact_formats(schema: Schema) -> Schema:
    """The same schema without formats that nothing enforces, and with dates that exist (RFC 3339)."""
    kept = {key: value for key, value in schema.items() if key != "format" or str(value) in _KNOWN}
    exact = _EXACT.get(str(kept.get("format")))
    if exact is not None:
        kept["allOf"] = [*kept.get("allOf", []), {"pattern": exact}]
    return replace_subschemas(kept, with_exact_formats)


def annotated_formats(schema: Schema, path: str = "$") -> list[str]:
    """The places of formats that nothing enforces."""
    here = [step(path, "format")] if "format" in schema and str(schema["format"]) not in _KNOWN else []
    return here + [place for where, inner, _ in subschemas(schema, path) for place in annotated_formats(inner, where)]


_CLOCK = (
    r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
    f"|{_LEAP_SECOND})"
)
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_GROUP = "[0-9A-Fa-f]{1,4}"
_IPV6 = "|".join(
    [f"(?:{_GROUP}:){{7}}{_GROUP}", f"(?:(?:{_GROUP}:){{1,7}}|:):"]
    + [f"(?:{_GROUP}:){{1,{7 - after}}}(?::{_GROUP}){{{after}}}" for after in range(1, 7)]
    + [f":(?::{_GROUP}){{1,7}}"]
)
_LABEL = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
_ATOM = "[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+"
_HEX = "[0-9A-Fa-f]"
_PERIOD = (
    "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)",
    "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)",
)
_URI_CHARACTER = rf"(?:[0-9A-Za-z._~:/?@!$&'()*+,;=-]|%{_HEX}{{2}})"

TEXT_PATTERNS: Mapping[str, str] = {
    "date": _DATE,
    "time": _CLOCK,
    "date-time": f"{_DATE}[Tt]{_CLOCK}",
    "duration": f"P(?:[0-9]+W|{_PERIOD[0]}(?:{_PERIOD[1]})?|{_PERIOD[1]})",
    "email": rf"{_ATOM}(?:\.{_ATOM})*@{_HOST}",
    "hostname": _HOST,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uri": f"[A-Za-z][0-9A-Za-z+.-]*:{_URI_CHARACTER}+(?:#{_URI_CHARACTER}*)?",
    "uuid": f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}",
}
"""What a whole text of a format looks like. Where a format has more spellings, these are the usual ones."""

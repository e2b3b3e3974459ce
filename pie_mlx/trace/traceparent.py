"""W3C Trace Context: the header `traceparent`, which joins what several systems did for one request."""

import hashlib
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

HEADER = "traceparent"
_VALUE = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_SAMPLED = 1


@dataclass(frozen=True, slots=True)
class TraceParent:
    """A span of a trace: hexadecimal, 32 and 16 digits, not all 0."""

    trace: str
    span: str
    sampled: bool = True

    def __str__(self) -> str:
        return f"00-{self.trace}-{self.span}-{int(self.sampled):02x}"

    def child(self, span: str) -> "TraceParent":
        """Another span of the same trace."""
        return TraceParent(self.trace, span, self.sampled)


def parse_traceparent(text: str) -> TraceParent | None:
    """None for anything but a valid value; later versions of the header may be longer."""
    match = _VALUE.fullmatch(text.strip())
    if match is None or (text.startswith("00") and len(text.strip()) != 55):
        return None
    trace, span, flags = match.groups()
    if not int(trace, 16) or not int(span, 16):
        return None
    return TraceParent(trace, span, bool(int(flags, 16) & _SAMPLED))


def process_span(process: str) -> str:
    """The span of a process, which follows from its id, so that every part of the engine can name it."""
    return hashlib.blake2b(process.encode(), digest_size=8).hexdigest()


def trace_of(process: str, above: TraceParent | None) -> TraceParent:
    """The span of a process below that of its parent or of the request that it answers; None begins a trace."""
    span = process_span(process)
    return TraceParent(uuid.UUID(process).hex, span) if above is None else above.child(span)


def traceparent_header(headers: Iterable[tuple[str, str]]) -> str:
    """The valid `traceparent` among headers with lower-case names, or ""."""
    found = [value for name, value in headers if name == HEADER]
    parsed = parse_traceparent(found[0]) if len(found) == 1 else None
    return "" if parsed is None else str(parsed)

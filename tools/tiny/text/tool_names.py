"""Names of tools as APIs vary them: with a prefix that all share, a suffix, in another case. For training only."""

import re

from tools.tiny.text import words
from tools.tiny.text.source import Source

PREFIXES = (
    *("get", "do", "run", "call", "use", "my", "api", "tool", "fetch", "find", "make", "query", "request", "invoke"),
    *("execute", "perform", "the", "new", "user", "app", "agent", "remote", "default", "ask", "handle", "start", "try"),
)
SUFFIXES = (
    *("tool", "api", "v2", "service", "function", "now", "action", "helper", "info", "data", "by_name", "for_user"),
    *("handler", "endpoint", "query", "request", "lookup", "command", "fn", "skill", "plugin", "op", "entry", "2"),
)
# Say so little that any other may stand in their place.
EXCHANGEABLE = frozenset(PREFIXES) | {"lookup", "look", "read", "show", "check", "set", "add", "create", "send", "put"}


def shared_prefix(source: Source) -> str:
    """What stands before the names of all tools of one server: an everyday word or a made-up one."""
    return source.any(PREFIXES) if source.chance(0.6) else words.made_up(source).lower()


def renamed(source: Source, name: str, prefix: str) -> str:
    """The name behind the prefix, if there is one, else with a prefix or suffix of its own; its case may change.

    Where its first word says little, another may take its place: `find_sum` was called for `get_sum`.
    """
    parts = re.findall(r"[A-Z]?[a-z]+|[0-9]+|[A-Z]+", name)
    if prefix:
        parts = [prefix, *parts]
    elif len(parts) > 1 and parts[0].lower() in EXCHANGEABLE and source.chance(0.6):
        parts = [source.any(PREFIXES), *parts[1:]]
    elif source.chance(0.5):
        parts = [source.any(PREFIXES), *parts]
    else:
        parts = [*parts, *source.any(SUFFIXES).split("_")]
    return _cased(source, parts)


def unheard(source: Source) -> str:
    """A name that says nothing of what the tool does, so that its description must."""
    parts = [words.made_up(source)]
    if source.chance(0.6):
        parts = source.any(
            ([*parts, source.any(PREFIXES)], [source.any(PREFIXES), *parts], [*parts, words.made_up(source)])
        )
    return _cased(source, parts)


def _cased(source: Source, parts: list[str]) -> str:
    parts = [part.lower() for part in parts]
    if source.chance(0.3):
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "_".join(parts)

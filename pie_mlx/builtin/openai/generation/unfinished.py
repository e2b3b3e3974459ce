"""Tool calls that were cut short: their names, and the part of their arguments that was written."""

import json
import re

AS_JSON = {"command", "deepseek", "granite", "hermes", "kimi", "llama", "longcat", "mistral", "nemotron"}
"""The styles of calls whose arguments are JSON, as in the interface; partial arguments of others are left out."""
_BARE = re.compile(r'\s*(?:\[|\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*")')
_ENDS = re.compile(r"<\|(?:start|end|channel)\|>")
_RECIPIENT = re.compile(r"to=functions\.([\w.\-]+)")


def unfinished_calls(tools, text, names):
    """The calls of tools with these `names` in the last `text` of a reply; None where it is not a call but a text."""
    opening = next((opening for opening in tools.openings if text.startswith(opening)), None)
    if opening is not None:
        return _calls(tools.style, text.removeprefix(opening), names)
    bare = _BARE.match(text) if tools.bare and text.lstrip().startswith(tools.bare) else None
    if bare is None or not _could_name(text[bare.end() :], names):
        return None
    return _calls(tools.style, text, names)


def unfinished_message(text, names):
    """The same for a model that writes messages with headers; `text` is its whole reply."""
    head, _, arguments = text.rpartition("<|message|>")
    recipient = _RECIPIENT.search(re.split(r"<\|(?:start|end|message)\|>", head)[-1])
    if recipient is None or _ENDS.search(arguments):
        return None
    return [(recipient[1], arguments)] if recipient[1] in names else []


def _could_name(text, names):
    """Whether a text begins with one of the names, or is the beginning of one."""
    said = re.match(r"[\w.\-]*", text)[0]
    return said in names or (said == text != "" and any(name.startswith(said) for name in names))


def _calls(style, text, names):
    found, end = [], 0
    while name := _name_pattern(names).search(text, end):
        arguments = _arguments(text, name.end()) if style in AS_JSON else ""
        found.append((name[1], arguments))
        if not arguments:
            break
        end = text.index(arguments, name.end()) + len(arguments)
    return found


def _name_pattern(names):
    """A whole name that is not a key, because a tool may be called `name`."""
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf'(?<!\w)({one})(?=[^\w.\-])(?!"?\s*[:=](?!\d))')


def _arguments(text, start):
    """The JSON object that begins after `start`, as much of it as was written."""
    begin = text.find("{", start)
    if begin < 0:
        return ""
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return text[begin:]
    return text[begin:end]

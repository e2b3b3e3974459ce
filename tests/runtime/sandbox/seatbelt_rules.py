"""What a Seatbelt profile allows, as far as its language is used here.

The last rule that matches decides. What the system's own rules, which a profile imports, would say is not known here:
`Rules` takes them to allow everything or nothing, and a profile must hold either way.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

_TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))', re.DOTALL)


class Text(str):
    """A text, where a plain `str` is a word of the language."""


def read(profile):
    """The expressions of a profile, as nested lists of words and texts. Raises ValueError for anything else."""
    expressions, place = [[]], 0
    while profile[place:].strip():
        token = _TOKEN.match(profile, place)
        if token is None:
            raise ValueError(f"not a token: {profile[place : place + 20]!r}")
        place = token.end()
        bracket, text, word = token.groups()
        if bracket == "(":
            expressions.append([])
        elif bracket == ")":
            if len(expressions) == 1:
                raise ValueError("a bracket too many is closed")
            ended = expressions.pop()
            expressions[-1].append(ended)
        else:
            expressions[-1].append(word if text is None else Text(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)))
    if len(expressions) > 1:
        raise ValueError("a bracket is not closed")
    return expressions[0]


@dataclass(frozen=True)
class Rules:
    """A profile, and whether the system's own rules allow everything."""

    profile: str
    system_allows: bool

    def allow(self, operation, **facts):
        """Whether an operation is allowed on what `facts` say of its object: path, name, target or address."""
        allowed = None
        for head, *rest in read(self.profile):
            if head == "import":
                allowed = self.system_allows
            elif head in ("allow", "deny") and _matches(rest, operation, facts):
                allowed = head == "allow"
            elif head not in ("allow", "deny", "version"):
                raise ValueError(f"not a rule: {head}")
        return allowed


def _matches(rule, operation, facts):
    patterns = [part for part in rule if isinstance(part, str)]
    filters = [part for part in rule if not isinstance(part, str)]
    named = any(pattern == "default" or fnmatchcase(operation, pattern) for pattern in patterns)
    return named and (not filters or any(_holds(each, facts) for each in filters))


def _holds(rule_filter, facts):
    match rule_filter:
        case ["subpath", Text() as path]:
            found = facts.get("path", "")
            return found == path or found.startswith(f"{path}/")
        case ["literal", Text() as path]:
            return facts.get("path") == path
        case ["global-name" | "ipc-posix-name", Text() as name]:
            return facts.get("name") == name
        case ["sysctl-name-prefix", Text() as prefix]:
            return facts.get("name", "").startswith(prefix)
        case ["target", "self"]:
            return facts.get("target") == "self"
        case ["remote", "tcp", Text() as address]:
            return facts.get("address") == address
    raise ValueError(f"not a filter: {rule_filter}")

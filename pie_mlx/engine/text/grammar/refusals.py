"""An engine's complaints in words a program's author can act on."""

import re

from pie_mlx.errors import GrammarError

_PLACE = re.compile(r"^(?:at )?(\d+)\((\d+)\): ")
_RANGE = re.compile(r"Failed to generate regex for (\w+) range: .*")
_REGEX_REASON = re.compile(r"error: (.*)")
_REGEX_PLACE = re.compile(
    r'(?:invalid regex ".*" \(in regex\): )?regex parse error:\n {4}(?P<pattern>.*)\n'
    r" {4}(?P<space> *)\^+ *\nerror: (?P<reason>.*)"
)
_QUOTED = {"\n": r"\n", "/": r"\/"}
"""Characters of a pattern as an engine's complaint quotes them."""
_LARK_WRAPPER = re.compile(r"\(in regex\): (.*)", re.DOTALL)


def refuse_schema(places: list[tuple[str, str]]) -> GrammarError:
    """The error for parts of a schema, by path and reason, that cannot be enforced."""
    listed = "; ".join(f"{place}: {_readable(' '.join(_placed(reason).split()))}" for place, reason in places)
    return GrammarError(
        f"schema: {listed}",
        hint="remove or rewrite it, or compile with lenient=True and check the text afterwards",
    )


def refuse_formats(places: list[str]) -> GrammarError:
    """The error for formats that nothing enforces."""
    return GrammarError(
        f"schema: {'; '.join(f'{place}: is not enforceable' for place in places)}",
        hint="give a pattern, or take formats that are not known as annotations: known_formats=False",
    )


def refuse_separators(given: tuple[str, str]) -> GrammarError:
    """The error for separators that JSON does not have, or that are unreasonably long."""
    shown = ", ".join(repr(one[:8]) for one in given)
    return GrammarError(f"schema: separators {shown}", hint='give a comma and a colon with few blanks: (", ", ": ")')


def _placed(message: str) -> str:
    """The message with the place in a regular expression as a number, where a caret below points to it."""
    return _REGEX_PLACE.sub(
        lambda found: f"regex: column {len(found['space']) + 1} of {found['pattern'][:80]}: {found['reason']}", message
    )


def _readable(reason: str) -> str:
    if reason.startswith("oneOf constraints"):
        return "its branches may fit the same value: require a property, or give a const, that only one of them has"
    if "is not present in a registry" in reason:
        return "refers to a schema elsewhere, which is not fetched: copy it into $defs"
    return _RANGE.sub(r"a bound is too large for a range of \1 values", reason)


def refuse_regex(pattern: str, message: str) -> GrammarError:
    """The error for a regular expression. It names the place if `message` quotes the pattern as it is, with a caret
    below: columns of an escaped one are not the user's."""
    wrapped = _LARK_WRAPPER.search(message)
    inner = wrapped[1] if wrapped else message
    reason = _REGEX_REASON.search(inner)
    text = reason[1] if reason else inner.split("\n")[0].split(" in regex ")[0]
    quoted = "".join(_QUOTED.get(character, character) for character in pattern)
    below = inner.partition(f"\n    {quoted}\n    ")[2].partition("\n")[0]
    place = _place_in(pattern, below.index("^")) if "^" in below else ""
    return GrammarError(
        f"regex: {place}{text.strip()}: {pattern[:80]}",
        hint="use Rust regex syntax: no look-around, word boundaries or back-references",
    )


def _place_in(pattern: str, quoted_offset: int) -> str:
    """Line and column of a place in a pattern, from its place in the quoted one."""
    offset = 0
    while quoted_offset > 0 and offset < len(pattern):
        quoted_offset -= len(_QUOTED.get(pattern[offset], pattern[offset]))
        offset += 1
    before = pattern[:offset]
    column = f"column {offset - before.rfind(chr(10))}: "
    return f"line {before.count(chr(10)) + 1}, {column}" if "\n" in pattern else column


def refuse_translation(message: str) -> GrammarError:
    """The error for a grammar that was translated: places are those of the translation."""
    return refuse_grammar(_PLACE.sub("", _placed(message)))


def refuse_grammar(message: str) -> GrammarError:
    """The error for a grammar: `message` begins with line(column)."""
    message = _placed(message)
    found = _PLACE.match(message)
    place = f"line {found[1]}, column {found[2]}: " if found else ""
    reason = message[found.end() :] if found else message
    return GrammarError(
        f"grammar: {place}{reason.split('; following')[0].splitlines()[0] if reason.strip() else 'refused'}",
        hint="correct the grammar",
    )

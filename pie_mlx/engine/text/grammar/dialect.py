"""Which notation a grammar is written in, and what of it a user may not write."""

import json
import re
from typing import Literal

from pie_mlx.engine.text.grammar.json_schema.schema import read_schema
from pie_mlx.engine.text.grammar.json_schema.unsafe import check_safe
from pie_mlx.errors import GrammarError

Dialect = Literal["gbnf", "lark"]

_QUOTED_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|#[^\n]*', re.DOTALL)
_LARK_REGEX = re.compile(r"(?<=[\s:|(,&~])/(?:\\.|[^/\\\n])+/[imslux]*")
_TOKEN_NUMBER = re.compile(r"<\[[^\]]*\]>")
_INLINE_SCHEMA = re.compile(r"%json\s*(?=\{)")
_RULE = re.compile(r"^\??[!]?(start|root)\b[^:\n]*:", re.MULTILINE)


def _bare(source: str) -> str:
    """The source with strings and comments blanked out, at the same places."""
    return _QUOTED_OR_COMMENT.sub(lambda match: " " * len(match[0]), source)


def dialect_of(source: str) -> Dialect:
    """GBNF if `::=` occurs outside strings and comments, else Lark."""
    return "gbnf" if "::=" in _bare(source) else "lark"


def prepare_lark(source: str, root: str = "") -> str:
    """A user's Lark with a rule `start`, which is `root` where that is named.

    Raises GrammarError for references to tokens by number, a missing root, and schemas that no engine may be given.
    """
    bare = _LARK_REGEX.sub(lambda match: " " * len(match[0]), _bare(source))
    found = _TOKEN_NUMBER.search(bare)
    if found:
        line = bare.count("\n", 0, found.start()) + 1
        column = found.start() - bare.rfind("\n", 0, found.start())
        raise GrammarError(
            f"grammar: line {line}, column {column}: {found[0]} names tokens by number", hint="write their text"
        )
    for schema in _INLINE_SCHEMA.finditer(bare):
        _check_schema(source[schema.end() :])
    if root and root != "start":
        return _started(source, bare, root)
    rules = set(_RULE.findall(bare))
    return f"{source}\nstart: root\n" if rules == {"root"} else source


def _started(source: str, bare: str, root: str) -> str:
    if not re.search(rf"^[?!]*{re.escape(root)}\b[^:\n]*:", bare, re.MULTILINE):
        raise GrammarError(f"grammar: no rule is called {root}", hint=f"name the rule to begin with {root}")
    for found in reversed(list(re.finditer(r"(?<![\w.%-])start(?![\w.-])", bare))):
        source = f"{source[: found.start()]}start_as_written{source[found.end() :]}"
    return f"{source}\nstart: {root}\n"


def _check_schema(text: str) -> None:
    """Raises GrammarError for a schema at the beginning of `text` that would end the process, or take for ever."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        end = len(text)
    check_safe(read_schema(text[:end]))

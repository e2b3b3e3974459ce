"""Grammars, compiled and kept by the engine, so that masks stay there unless a program asks for one."""

from typing import Literal

from pie_mlx.calls.base import Brle, Call, Record


class ThoughtLimit(Record, frozen=True):
    """At most so many `tokens` of thought, between `opening` and `closing`; then only `closing` can be written, and
    `again`, if there is one, where a thought opens once more. `is_open`: the text begins inside a thought."""

    tokens: int
    opening: str
    closing: str
    again: str = ""
    is_open: bool = False


class GrammarSource(Record, frozen=True):
    """The source of a matcher. `text` is a JSON Schema, a regular expression or a grammar; `tools` has `schemas`, and
    `thought` is any text under a `limit`.

    `strict` closes objects (G13); `lenient` compiles a schema with parts that cannot be enforced, and lists them;
    `every_spelling` allows more than one spelling of a schema's values; with `known_formats` a `format` that is not
    enforced is refused. `separators` stand between items and after keys, and no other blanks are allowed; None allows
    usual ones. `root` is the rule of a grammar that the text must be, "" for `root` or `start`.
    """

    kind: Literal["json", "json_schema", "regex", "ebnf", "tools", "thought"]
    text: str = ""
    strict: bool = True
    schemas: list[str] = []
    lenient: bool = False
    every_spelling: bool = False
    known_formats: bool = False
    separators: tuple[str, str] | None = None
    root: str = ""
    limit: ThoughtLimit | None = None


class MatcherState(Record, frozen=True):
    """A matcher. `complete`: it may end here. `terminated`: it has ended, or nothing may follow (G13).

    `warnings`: JSON path and reason of the parts that a leniently compiled schema does not enforce.
    """

    matcher: int
    complete: bool = False
    terminated: bool = False
    warnings: list[str] = []


class CompileGrammar(Call[MatcherState | None], frozen=True):
    """A fresh matcher; None if the model has no enforceable native tool format (D7). Raises GrammarError.

    `stop_tokens` are allowed exactly where the grammar may end; empty means the model's own. With `after`, the grammar
    begins after that text, and any text may precede it.
    """

    model: str
    source: GrammarSource
    stop_tokens: list[int] = []
    behind: str = ""


class ReadMatcherMask(Call[Brle], frozen=True):
    """The allowed next tokens; [] if all are allowed."""

    matcher: int


class AdvanceMatcher(Call[MatcherState], frozen=True):
    """Feed tokens. Raises GrammarRejectedError and changes nothing if one of them is forbidden."""

    matcher: int
    tokens: list[int]


class RollbackMatcher(Call[MatcherState], frozen=True):
    """Take back the last `count` tokens; None takes back all of them."""

    matcher: int
    count: int | None = None


class ForkMatcher(Call[None], frozen=True):
    """An independent copy. The program chooses its number, below 0 and unused, so it need not wait for the reply."""

    matcher: int
    number: int


class ReleaseMatcher(Call[None], frozen=True):
    """Forget a matcher."""

    matcher: int

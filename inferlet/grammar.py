"""Grammars as text, not yet compiled for a model."""

import msgspec

from inferlet._calls.checks import checked_text
from pie_mlx.calls import GrammarSource
from pie_mlx.errors import GrammarError, InvalidTypeError


class Grammar:
    """The form of constrained text. It compiles when a matcher or a Generator is built on it."""

    def __init__(self, source: GrammarSource) -> None:
        self.source = source

    @classmethod
    def json(cls) -> "Grammar":
        """Any JSON value."""
        return cls(GrammarSource("json"))

    @classmethod
    def from_json_schema(
        cls,
        schema: str | dict[str, object],
        *,
        strict: bool = True,
        lenient: bool = False,
        every_spelling: bool = False,
        known_formats: bool = False,
        separators: tuple[str, str] | None = None,
    ) -> "Grammar":
        """JSON obeying a schema, given as JSON text or a dict.

        With `strict`, an object that declares properties and says nothing of others is closed, and a `format` is
        enforced; otherwise the schema means what JSON Schema defines, where formats restrict nothing. A keyword that
        cannot be enforced is refused at compilation; with `lenient` it is ignored and listed in `Matcher.warnings`.

        Properties come in the schema's order, and constants as the schema spells them. With `every_spelling`, up to
        four properties of an object may come in any order, and a whole number among constants may end in `.0`.
        With `known_formats`, a `format` that no grammar enforces is refused and not taken as an annotation.
        `separators` stand between items and after keys, as those of `json.dumps`, and there are no other blanks: a
        model then needs fewer passes, as less is left to its choice. None lets it write a blank or a line break.
        Raises GrammarError for text that is not JSON.
        """
        source = GrammarSource(
            "json_schema",
            schema_text(schema),
            strict=strict,
            lenient=lenient,
            every_spelling=every_spelling,
            known_formats=known_formats,
            separators=separators,
        )
        return cls(source)

    @classmethod
    def from_regex(cls, pattern: str) -> "Grammar":
        """Text that matches the pattern as a whole."""
        return cls(GrammarSource("regex", checked_text(pattern, "regex")))

    @classmethod
    def from_ebnf(cls, ebnf: str, root: str = "") -> "Grammar":
        """A grammar in Lark notation or in GBNF (`root ::= ...`). The text is a sentence of the rule `root`; without
        one of `start` in Lark, of `root` in GBNF."""
        return cls(GrammarSource("ebnf", checked_text(ebnf, "ebnf"), root=checked_text(root, "root")))

    def __repr__(self) -> str:
        return f"Grammar({self.source.kind})"


def schema_text(schema: object) -> str:
    """A JSON Schema as text. Raises GrammarError for text that is not JSON, InvalidTypeError for other types."""
    if isinstance(schema, str):
        _check_json(checked_text(schema, "schema"))
        return schema
    if not isinstance(schema, dict):
        raise InvalidTypeError(f"schema: got {type(schema).__name__}", hint="pass JSON text or a dict")  # pyright: ignore[reportUnknownArgumentType]
    try:
        return msgspec.json.encode(schema).decode()
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise InvalidTypeError(f"schema: {error}", hint="a schema holds only what JSON can hold") from error


def _check_json(text: str) -> None:
    try:
        msgspec.json.decode(text)
    except msgspec.MsgspecError as error:
        raise GrammarError(f"schema: not JSON: {error}", hint="pass a JSON Schema as JSON text") from error

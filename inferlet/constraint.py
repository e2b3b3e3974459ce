"""Restrictions of a Generator: schemas, which become constraints, and constraints, which give masks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, Union, runtime_checkable

from inferlet.grammar import Grammar
from inferlet.matcher import Matcher
from inferlet.model import Model
from pie_mlx.calls import Brle


@runtime_checkable
class Constraint(Protocol):
    """Restricts each next token."""

    def step(self, accepted: list[int]) -> Brle:
        """The logit mask of the next token; [] restricts nothing. `accepted` is [] first, then exactly the tokens
        accepted since the last call."""
        ...


@runtime_checkable
class Schema(Protocol):
    """Describes a constraint without a model."""

    def build_constraint(self, model: Model) -> Constraint:
        """The constraint for this model, in its initial state."""
        ...


class GrammarConstraint:
    """A grammar's matcher as a constraint. In a Generator its masks never leave the engine.

    It carries the state of one generation: give every Generator its own (`Matcher.fork` copies the state).
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher

    @classmethod
    def from_grammar(
        cls,
        grammar: Union[Grammar, "GrammarSchema"],
        model: Model,
        *,
        stop_tokens: Iterable[int] = (),
        behind: str = "",
    ) -> "GrammarConstraint":
        """Compile a grammar. `stop_tokens` are allowed exactly where it may end; none means the model's own. With
        `behind`, it begins where that text has been written, and any text may come before. Raises GrammarError."""
        source = grammar if isinstance(grammar, Grammar) else grammar.grammar()
        return cls(Matcher(source, model.tokenizer(), stop_tokens=stop_tokens, behind=behind))

    @classmethod
    def json(cls, model: Model) -> "GrammarConstraint":
        """Any JSON value."""
        return cls.from_grammar(Grammar.json(), model)

    @classmethod
    def from_json_schema(
        cls,
        schema: str | dict[str, object],
        model: Model,
        *,
        strict: bool = True,
        lenient: bool = False,
        every_spelling: bool = False,
        known_formats: bool = False,
        separators: tuple[str, str] | None = None,
    ) -> "GrammarConstraint":
        """JSON obeying a schema; options as for `Grammar.from_json_schema`. Raises GrammarError."""
        given = JsonSchema(schema, strict, lenient, every_spelling, known_formats, separators)
        return cls.from_grammar(given, model)

    @classmethod
    def from_regex(cls, pattern: str, model: Model) -> "GrammarConstraint":
        """Text that matches the pattern as a whole. Raises GrammarError."""
        return cls.from_grammar(Grammar.from_regex(pattern), model)

    @classmethod
    def from_ebnf(cls, ebnf: str, model: Model, root: str = "") -> "GrammarConstraint":
        """A grammar in Lark notation or GBNF, from the rule `root` on. Raises GrammarError."""
        return cls.from_grammar(Grammar.from_ebnf(ebnf, root), model)

    def step(self, accepted: list[int]) -> Brle:
        """Feed tokens and read the next mask, for constraints built around a grammar. Raises GrammarRejectedError."""
        if accepted:
            self.matcher.accept_tokens(accepted)
        return self.matcher.next_token_logit_mask()


class GrammarSchema(ABC):
    """A schema that is a grammar; a Generator compiles it with its own stop tokens."""

    @abstractmethod
    def grammar(self) -> Grammar:
        """The grammar."""

    def build_constraint(self, model: Model) -> GrammarConstraint:
        """The grammar compiled for a model. Raises GrammarError."""
        return GrammarConstraint.from_grammar(self.grammar(), model)


@dataclass(frozen=True)
class AnyJson(GrammarSchema):
    """Any JSON value."""

    def grammar(self) -> Grammar:
        return Grammar.json()


@dataclass(frozen=True)
class JsonSchema(GrammarSchema):
    """JSON obeying a schema, given as JSON text or a dict; options as for `Grammar.from_json_schema`."""

    schema: str | dict[str, object]
    strict: bool = True
    lenient: bool = False
    every_spelling: bool = False
    known_formats: bool = False
    separators: tuple[str, str] | None = None

    def grammar(self) -> Grammar:
        return Grammar.from_json_schema(
            self.schema,
            strict=self.strict,
            lenient=self.lenient,
            every_spelling=self.every_spelling,
            known_formats=self.known_formats,
            separators=self.separators,
        )


@dataclass(frozen=True)
class Regex(GrammarSchema):
    """Text that matches a pattern as a whole."""

    pattern: str

    def grammar(self) -> Grammar:
        return Grammar.from_regex(self.pattern)


@dataclass(frozen=True)
class Ebnf(GrammarSchema):
    """A grammar in Lark notation or GBNF. The text is a sentence of the rule `root`, `start` or `root` without one."""

    source: str
    root: str = ""

    def grammar(self) -> Grammar:
        return Grammar.from_ebnf(self.source, self.root)

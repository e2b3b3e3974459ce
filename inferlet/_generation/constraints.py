"""All constraints of one Generator together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from inferlet import brle
from inferlet._generation.thinking import thought_limit
from inferlet.constraint import Constraint, GrammarConstraint, GrammarSchema, Schema
from inferlet.grammar import Grammar
from inferlet.model import Model
from pie_mlx.calls import Brle
from pie_mlx.errors import EmptyMaskError, InvalidArgumentError, InvalidTypeError, PieError


@dataclass(slots=True)
class _Stepped:
    """A constraint of the program. Its mask is kept until tokens are accepted, so that a failed step can be repeated
    without passing the same tokens to the constraint twice (E3)."""

    name: str
    constraint: Constraint
    unseen: list[int] = field(default_factory=list[int])
    mask: Brle | None = None

    def current(self) -> Brle:
        if self.mask is None:
            self.mask = brle.restriction(self.constraint.step(list(self.unseen)), f"mask of {self.name}.step")
            self.unseen = []
        return self.mask

    def record_accepted(self, tokens: list[int]) -> None:
        self.unseen += tokens
        self.mask = None


@dataclass(slots=True)
class _Matched:
    """A grammar whose matcher the engine advances. `source` is None when the program compiled it; else it begins
    `behind` what comes before an answer."""

    name: str
    constraint: GrammarConstraint
    source: Grammar | GrammarSchema | None = None
    behind: str = ""


class ConstraintSet:
    """Constraints compose: a token must be allowed by all of them. Grammars stay in the engine, the rest are masks.

    `matchers` are the ids of the matchers, `end_tokens` end one of the grammars. `looks_back`: a constraint of the
    program must see each token before it allows the next.
    """

    def __init__(self, model: Model, static: Sequence[int] | None) -> None:
        self._model = model
        self._static = brle.restriction([] if static is None else static)
        self._stepped: list[_Stepped] = []
        self._matched: list[_Matched] = []
        self._sum_up()

    def attach(self, item: object, stop_tokens: Iterable[int], behind: str = "") -> None:
        """Add a schema, a constraint or a list of them; grammars begin `behind` that text. Raises InvalidTypeError for
        anything else, InvalidArgumentError for a constraint that was added before, GrammarError."""
        added = [self._entry(one, stop_tokens, behind) for one in _flat(item)]
        _check_apart([*self._stepped, *self._matched, *added])
        for made in added:
            if isinstance(made, _Matched):
                self._matched.append(made)
            else:
                self._stepped.append(made)
        self._sum_up()

    def limit_thoughts(self, tokens: int | None, behind: str) -> None:
        """Let the thoughts of the reply take no more than `tokens`; `behind` is what the cue just written waits for.
        None is no limit, and a model that has no thoughts needs none."""
        grammar = None if tokens is None else thought_limit(self._model.info.formats, tokens, cued=bool(behind))
        if grammar is not None:
            self._matched.append(_Matched("thinking_budget", self._compile(grammar, (), ""), grammar))
            self._sum_up()

    def recompile(self, stop_tokens: Iterable[int]) -> None:
        """Start the grammars afresh with other stop tokens."""
        for matched in self._matched:
            if matched.source is not None:
                matched.constraint = self._compile(matched.source, stop_tokens, matched.behind)
        self._sum_up()

    def logit_mask(self) -> Brle:
        """The tokens that the static mask and the program's constraints all allow; [] is everything.

        Raises EmptyMaskError when there are none, and whatever a constraint raises.
        """
        if not self._static and not self._stepped:
            return []
        together = brle.combine([self._static, *(stepped.current() for stepped in self._stepped)])
        if not brle.allows_any(together, self._model.info.vocabulary_size):
            raise self.nothing_allowed()
        return together

    def nothing_allowed(self) -> EmptyMaskError:
        """The error that names everything attached."""
        names = ["logit_mask"] if self._static else []
        names += [entry.name for entry in (*self._stepped, *self._matched)]
        return EmptyMaskError(
            f"constraints: together they allow no token: {', '.join(names)}", hint="loosen or remove one of them"
        )

    def feed_matchers(self, tokens: list[int]) -> bool:
        """Advance the grammars by tokens the program chose; returns whether one of them has ended.

        Raises GrammarRejectedError, and then advances none.
        """
        ended = False
        for done, matched in enumerate(self._matched):
            try:
                ended |= matched.constraint.matcher.advance(tokens).terminated
            except PieError:
                for fed in self._matched[:done]:
                    fed.constraint.matcher.rollback(len(tokens))
                raise
        return ended

    def record_accepted(self, tokens: list[int]) -> None:
        """Pass accepted tokens to the program's constraints at their next step."""
        if tokens:
            for stepped in self._stepped:
                stepped.record_accepted(tokens)

    def _sum_up(self) -> None:
        """Compute what every step reads; it changes only with the constraints."""
        self.matchers = [matched.constraint.matcher.id for matched in self._matched]
        self.looks_back = bool(self._stepped)
        self.end_tokens = frozenset(token for matched in self._matched for token in self._ends(matched))

    def _entry(self, item: object, stop_tokens: Iterable[int], behind: str) -> _Matched | _Stepped:
        name = type(item).__name__
        if isinstance(item, Grammar | GrammarSchema):
            behind = "" if self._has_header(item) else behind
            return _Matched(name, self._compile(item, stop_tokens, behind), item, behind)
        if isinstance(item, type) or not isinstance(item, Schema | Constraint):
            raise InvalidTypeError(
                f"constrain: {name} is neither a Schema nor a Constraint",
                hint="give it build_constraint(model) or step(accepted), or pass JsonSchema, Regex, Ebnf, AnyJson",
            )
        constraint = item.build_constraint(self._model) if isinstance(item, Schema) else item
        return _built(name, constraint)

    def _has_header(self, item: Grammar | GrammarSchema) -> bool:
        """Whether the grammar includes the header of its message, as a grammar of calls does."""
        grammar = item if isinstance(item, Grammar) else item.grammar()
        return grammar.source.kind == "tools" and self._model.info.formats.channels

    def _compile(self, source: Grammar | GrammarSchema, stop_tokens: Iterable[int], behind: str) -> GrammarConstraint:
        return GrammarConstraint.from_grammar(source, self._model, stop_tokens=stop_tokens, behind=behind)

    def _ends(self, matched: _Matched) -> list[int]:
        if isinstance(matched.source, Grammar) and matched.source.source.kind == "thought":
            return []  # it goes on behind any token
        return matched.constraint.matcher.stop_tokens or self._model.info.formats.stop_tokens


def _built(name: str, constraint: object) -> _Matched | _Stepped:
    if isinstance(constraint, GrammarConstraint):
        return _Matched(name, constraint)
    if isinstance(constraint, Constraint):
        return _Stepped(name, constraint)
    raise InvalidTypeError(
        f"constrain: {name}.build_constraint gave {type(constraint).__name__}", hint="return a Constraint"
    )


def _check_apart(entries: Sequence[_Matched | _Stepped]) -> None:
    """Refuse the same constraint twice: it would receive each token twice (G12)."""
    seen: set[int] = set()
    for entry in entries:
        state = id(entry.constraint.matcher if isinstance(entry, _Matched) else entry.constraint)
        if state in seen:
            raise InvalidArgumentError(
                f"constrain: the same {entry.name} is given twice", hint="give it once; Matcher.fork copies a matcher"
            )
        seen.add(state)


def _flat(item: object) -> list[object]:
    if isinstance(item, list | tuple):
        return list(cast("Iterable[Any]", item))
    return [item]

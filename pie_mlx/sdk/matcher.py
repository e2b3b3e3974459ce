"""A stateful walk over a compiled grammar."""

import itertools
from collections.abc import Iterable

import msgspec

from pie_mlx.calls import (
    AdvanceMatcher,
    Brle,
    CompileGrammar,
    ForkMatcher,
    GrammarSource,
    MatcherState,
    ReadMatcherMask,
    ReleaseMatcher,
    RollbackMatcher,
)
from pie_mlx.errors import GrammarError
from pie_mlx.sdk._host import Link
from pie_mlx.sdk._tokens import integers
from pie_mlx.sdk.grammar import Grammar
from pie_mlx.sdk.model import Tokenizer

KEPT_GRAMMARS = 16
"""Grammars of which a program keeps a matcher that takes nothing, to copy instead of waiting for another one."""

_own_numbers = itertools.count(-1, -1)


class Matcher:
    """Which tokens a grammar allows next. The engine keeps it; dropping the last reference releases it.

    `stop_tokens` are allowed exactly where the grammar may end; none means the model's own. `warnings` say what of a
    schema is not enforced, by JSON path. Raises GrammarError for a grammar that does not compile.
    """

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer, *, stop_tokens: Iterable[int] = ()) -> None:
        ends = sorted(set(integers(stop_tokens, "stop_tokens")))
        state = compile_source(grammar.source, tokenizer, ends)
        if state is None:
            raise GrammarError("grammar: the model has no enforceable tool format", hint="generate freely and parse")
        self._hold(tokenizer.host, state, ends)

    @classmethod
    def adopt(cls, host: Link, state: MatcherState, stop_tokens: Iterable[int] = ()) -> "Matcher":
        """The handle of a matcher that has been made, or is about to be."""
        made = cls.__new__(cls)
        made._hold(host, state, list(stop_tokens))
        return made

    def _hold(self, host: Link, state: MatcherState, stop_tokens: list[int]) -> None:
        self._host = host
        self.id = state.matcher
        self.warnings = state.warnings
        self.stop_tokens = stop_tokens

    def accept_tokens(self, tokens: Iterable[int]) -> None:
        """Feed tokens. Raises GrammarRejectedError, and stays as it was, if the grammar forbids one of them."""
        self.advance(tokens)

    def advance(self, tokens: Iterable[int]) -> MatcherState:
        """`accept_tokens`, answering the state after them."""
        return self._host.call(AdvanceMatcher(self.id, integers(tokens, "tokens")))

    def next_token_logit_mask(self) -> Brle:
        """The tokens allowed next as BRLE; [] when everything is allowed."""
        return self._host.call(ReadMatcherMask(self.id))

    @property
    def is_terminated(self) -> bool:
        """Whether it has ended, or nothing may follow (G13)."""
        return self.advance([]).terminated

    @property
    def is_complete(self) -> bool:
        """Whether the text so far is whole, so that it may end here."""
        return self.advance([]).complete

    def rollback(self, n: int) -> None:
        """Take back the last `n` tokens."""
        self._host.call(RollbackMatcher(self.id, n))

    def reset(self) -> None:
        """Take back all tokens."""
        self._host.call(RollbackMatcher(self.id))

    def fork(self) -> "Matcher":
        """An independent copy, for a forked context."""
        return Matcher.adopt(self._host, _copy(self._host, self.id, self.warnings), self.stop_tokens)

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            self._host.drop(ReleaseMatcher(self.id))
        except Exception:
            return


def compile_source(source: GrammarSource, tokenizer: Tokenizer, stop_tokens: list[int]) -> MatcherState | None:
    """A fresh matcher of the engine; None when the model has no enforceable native tool format (D7)."""
    host, message = tokenizer.host, CompileGrammar(tokenizer.model_name, source, stop_tokens)
    key = msgspec.json.encode(message)
    with host.lock:
        if (first := host.compiled.pop(key, None)) is not None:
            host.compiled[key] = first
            return _copy(host, first.matcher, first.warnings)
    made = host.call(message)
    if made is None:
        return None
    with host.lock:
        first = host.compiled.setdefault(key, made)
        surplus = [] if first is made else [made]
        if len(host.compiled) > KEPT_GRAMMARS:
            surplus.append(host.compiled.pop(next(iter(host.compiled))))
        for matcher in surplus:
            host.post(ReleaseMatcher(matcher.matcher))
        return _copy(host, first.matcher, first.warnings)


def _copy(host: Link, matcher: int, warnings: list[str]) -> MatcherState:
    """Only what is asked of the copy itself tells where it is."""
    number = next(_own_numbers)
    host.post(ForkMatcher(matcher, number))
    return MatcherState(number, warnings=warnings)

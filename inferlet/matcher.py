"""A stateful walk over a compiled grammar."""

from collections.abc import Iterable

from inferlet._calls.checks import checked_text, integer, integers
from inferlet._calls.compiled_grammars import copied
from inferlet._calls.host import HostLink
from inferlet.grammar import Grammar
from inferlet.model import Tokenizer
from pie_mlx.calls import (
    AdvanceMatcher,
    Brle,
    CompileGrammar,
    MatcherState,
    ReadMatcherMask,
    ReleaseMatcher,
    RollbackMatcher,
)
from pie_mlx.errors import GrammarError


class Matcher:
    """Which tokens a grammar allows next. The engine keeps it; dropping the last reference releases it.

    `stop_tokens` are allowed exactly where the grammar may end; none means the model's own. `warnings` list the parts
    of a schema that are not enforced, by JSON path. With `behind`, any text may come first, until that text has been
    written: the grammar begins there. Raises GrammarError for a grammar that does not compile, and for a `behind` that
    cannot be written.
    """

    def __init__(
        self, grammar: Grammar, tokenizer: Tokenizer, *, stop_tokens: Iterable[int] = (), behind: str = ""
    ) -> None:
        ends = sorted(set(integers(stop_tokens, "stop_tokens")))
        text = checked_text(behind, "behind")
        state = tokenizer.host.compile(CompileGrammar(tokenizer.model_name, grammar.source, ends, text))
        if state is None:
            raise GrammarError("grammar: the model has no enforceable tool format", hint="generate freely and parse")
        self._hold(tokenizer.host, state, ends)

    @classmethod
    def adopt(cls, host: HostLink, state: MatcherState, stop_tokens: Iterable[int] = ()) -> "Matcher":
        """A handle for a matcher that exists, or is being made."""
        made = cls.__new__(cls)
        made._hold(host, state, list(stop_tokens))
        return made

    def _hold(self, host: HostLink, state: MatcherState, stop_tokens: list[int]) -> None:
        self._host = host
        self.id = state.matcher
        self.warnings = state.warnings
        self.stop_tokens = stop_tokens

    def accept_tokens(self, token_ids: Iterable[int]) -> None:
        """Feed tokens. Raises GrammarRejectedError, and stays as it was, if the grammar forbids one of them."""
        self.advance(token_ids)

    def advance(self, tokens: Iterable[int]) -> MatcherState:
        """`accept_tokens`, answering the state after them."""
        return self._host.call(AdvanceMatcher(self.id, integers(tokens, "tokens")))

    def next_token_logit_mask(self) -> Brle:
        """The tokens allowed next as BRLE; [] when everything is allowed."""
        return self._host.call(ReadMatcherMask(self.id))

    @property
    def is_terminated(self) -> bool:
        """Whether it has ended, or nothing may follow."""
        return self.advance([]).terminated

    @property
    def is_complete(self) -> bool:
        """Whether the text so far is whole, so that it may end here."""
        return self.advance([]).complete

    def rollback(self, n: int) -> None:
        """Undo the last `n` tokens."""
        self._host.call(RollbackMatcher(self.id, integer(n, "n")))

    def reset(self) -> None:
        """Undo all tokens."""
        self._host.call(RollbackMatcher(self.id))

    def fork(self) -> "Matcher":
        """An independent copy, for a forked context."""
        state = copied(self._host, MatcherState(self.id, warnings=self.warnings))
        return Matcher.adopt(self._host, state, self.stop_tokens)

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            self._host.drop(ReleaseMatcher(self.id))
        except Exception:
            return

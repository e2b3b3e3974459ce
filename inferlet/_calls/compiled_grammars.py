"""Matchers of grammars that a program uses repeatedly."""

import itertools
import threading
from collections import OrderedDict

import msgspec

from pie_mlx.calls import CompileGrammar, ForkMatcher, Host, MatcherState, ReleaseMatcher

KEPT_GRAMMARS = 16
"""Grammars for which a program keeps an unused matcher, to copy instead of compiling again."""

_own_numbers = itertools.count(-1, -1)


class CompiledGrammars:
    """Unused matchers, by the calls that made them. May be used from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, MatcherState] = OrderedDict()
        self._lock = threading.RLock()  # reentrant: a finalizer may run anywhere

    def matcher(self, host: Host, message: CompileGrammar) -> MatcherState | None:
        """A fresh matcher; None when the model has no enforceable native tool format (D7). Raises GrammarError."""
        key = msgspec.json.encode(message)
        with self._lock:
            if (first := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return copied(host, first)
        made = host.call(message)
        return None if made is None else self._keep(host, key, made)

    def _keep(self, host: Host, key: bytes, made: MatcherState) -> MatcherState:
        with self._lock:
            first = self._kept.setdefault(key, made)
            surplus = [] if first is made else [made]
            if len(self._kept) > KEPT_GRAMMARS:
                surplus.append(self._kept.popitem(last=False)[1])
            for state in surplus:
                host.post(ReleaseMatcher(state.matcher))
            return copied(host, first)


def copied(host: Host, state: MatcherState) -> MatcherState:
    """A copy of a matcher. Its state is unknown until the copy itself is asked."""
    number = next(_own_numbers)
    host.post(ForkMatcher(state.matcher, number))
    return MatcherState(number, warnings=state.warnings)

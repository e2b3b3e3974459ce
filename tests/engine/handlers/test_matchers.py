"""Matchers that a program holds in the engine."""

from collections.abc import Callable

import pytest

from pie_mlx import calls
from pie_mlx.engine.hosting import process
from pie_mlx.errors import InvalidArgumentError
from tests.engine.running import Running

Compile = Callable[..., int]


@pytest.fixture
def compiled(engine: Running) -> Compile:
    def compile_(*stop_tokens: int) -> int:
        source = calls.GrammarSource("regex", "[a-z]+")
        state = engine.host.call(calls.CompileGrammar(engine.model.name, source, list(stop_tokens)))
        assert state is not None
        return state.matcher

    return compile_


def test_a_process_holds_so_many(engine: Running, compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_MATCHERS", 2)
    first = compiled()
    engine.host.call(calls.ForkMatcher(first, -1))
    with pytest.raises(InvalidArgumentError, match="the limit"):
        engine.host.call(calls.ForkMatcher(first, -2))
    with pytest.raises(InvalidArgumentError, match="the limit"):
        compiled()
    engine.host.call(calls.ReleaseMatcher(first))
    compiled()


def test_one_is_fed_no_more_than_a_context_can_hold(engine: Running, compiled: Compile) -> None:
    (token,) = engine.encode("a")
    with pytest.raises(InvalidArgumentError, match="4097 tokens, at most 4096"):
        engine.host.call(calls.AdvanceMatcher(compiled(), [token] * 4097))


@pytest.mark.parametrize("stop_tokens", [[5] * 2049, [-1], [2048], [2**64 - 1]])
def test_stop_tokens_are_tokens(compiled: Compile, stop_tokens: list[int]) -> None:
    with pytest.raises(InvalidArgumentError):
        compiled(*stop_tokens)


def test_a_grammar_begins_behind_a_short_text(engine: Running) -> None:
    source = calls.GrammarSource("regex", "[a-z]+")
    with pytest.raises(InvalidArgumentError, match="at most 1024"):
        engine.host.call(calls.CompileGrammar(engine.model.name, source, behind="x" * 1025))

"""Compiling ends in time, whatever it is that compiles."""

import threading
from types import SimpleNamespace

import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import GrammarService
from pie_mlx.engine.text.grammar.deadline import Deadline
from pie_mlx.errors import GrammarError

from .conftest import PADDED_SIZE, Language

SHORT_SECONDS = 0.01


def impatient(language: Language) -> GrammarService:
    return GrammarService(language.tokenizer, PADDED_SIZE, (language.stop,), compile_seconds=0)


def test_work_that_is_done_in_time_gives_its_result() -> None:
    assert Deadline(60, 1).run(lambda: 7) == 7


def test_work_that_fails_in_time_raises_what_it_raised() -> None:
    def fail() -> int:
        raise GrammarError("no")

    with pytest.raises(GrammarError, match="no"):
        Deadline(60, 1).run(fail)


def test_nobody_waits_longer_than_the_deadline() -> None:
    released = threading.Event()
    deadline = Deadline(SHORT_SECONDS, 1)
    try:
        assert deadline.run(released.wait) is None
        assert deadline.run(lambda: 7) is None  # the turn is still taken
    finally:
        released.set()


def test_a_turn_comes_back_when_its_work_ends() -> None:
    begun, released = threading.Event(), threading.Event()
    deadline = Deadline(60, 1)
    first = threading.Thread(target=deadline.run, args=(lambda: (begun.set(), released.wait()),))
    first.start()
    assert begun.wait(60)
    released.set()
    assert deadline.run(lambda: 7) == 7
    first.join()


@pytest.mark.parametrize(
    "source",
    [
        GrammarSource("json_schema", "{}"),
        GrammarSource("regex", "a"),
        GrammarSource("ebnf", 'root ::= "a"'),
        GrammarSource("lark", 'start: "a"'),
    ],
)
def test_a_grammar_that_takes_too_long_is_refused(
    language: Language, source: GrammarSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = SimpleNamespace(done=set())
    monkeypatch.setattr("pie_mlx.engine.text.grammar.deadline.wait", lambda futures, seconds: late)
    with pytest.raises(GrammarError, match="does not compile in 0 seconds"):
        impatient(language).compile(source)


def test_a_grammar_that_grows_without_bounds_is_refused(language: Language) -> None:
    matcher = language.compile("regex", "(a?){3000}a{3000}")
    with pytest.raises(GrammarError, match="too complex"):
        matcher.accept(language.tokenizer.encode("aaaa"))

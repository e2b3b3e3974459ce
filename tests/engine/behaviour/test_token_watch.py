"""Watching what a program draws: it changes nothing, and tells each token once, however the tokens were drawn."""

import math
from typing import Any

import pytest

from inferlet import Context, Regex, Sampler
from pie_mlx.engine import inspection
from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.engine.model.runner.token_watch import LIKELY
from pie_mlx.errors import ProcessError
from pie_mlx.events import TokensDrawn
from tests.engine.behaviour.test_scores import judged
from tests.engine.behaviour.test_speculation import Guessing
from tests.engine.running import Running, finished, in_context

WORDS = Regex(r"([a-z]{1,6} ){2,6}\.")
ARGMAX, WARM, FILTERED = Sampler.argmax(), Sampler.multinomial(1.3, seed=5), Sampler.top_p(0.8, 0.95, seed=3)
PROMPT = [40 + place % 6 * 7 for place in range(18)]
WAYS: dict[str, dict[str, Any]] = {
    "prefetched": {"sampler": WARM.penalized(presence=1.0)},
    "at once": {"sampler": FILTERED, "at_once": 12},
    "under a grammar": {"sampler": WARM, "constrain": WORDS, "at_once": 5},
    "with drafts under a grammar": {"sampler": FILTERED, "system_speculation": True, "constrain": WORDS},
}


@pytest.fixture(autouse=True)
def prefetching(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow a step is here, programs that go step by step get several at once."""
    monkeypatch.setattr(continuation, "LONGEST_SECONDS", 60.0)


async def drawn(
    engine: Running, sampler: Sampler, at_once: int = 0, truth: list[int] | None = None, **options: Any
) -> list[int]:
    """The tokens of a text; with the `truth` about it, drafts of five are right up to the third."""
    with Context(engine.model) as context:
        context.append(PROMPT)
        if truth is not None:
            options["speculator"] = Guessing(context, truth, [5], {2})
        generator = context.generate(sampler, max_tokens=12, stop=[], auto_flush=False, **options)
        tokens = list[int]()
        async for step in generator:
            tokens += (await (step.up_to(at_once) if at_once else step).execute()).tokens
        return tokens


def watched(engine: Running, way: dict[str, Any]) -> tuple[list[int], list[TokensDrawn]]:
    """What a watched program drew, and was told of it."""
    with engine.process() as host:
        mine = Running(engine.core, engine.events, host)
        finished(engine.core.consult(lambda services: inspection.watch_tokens(services, host.process_id, mine)))
        tokens = finished(in_context(mine, drawn(mine, **way)))
        return tokens, [
            event for event in engine.events if isinstance(event, TokensDrawn) and event.process == host.process_id
        ]


def unwatched(engine: Running, way: dict[str, Any]) -> list[int]:
    with engine.process() as host:
        mine = Running(engine.core, engine.events, host)
        return finished(in_context(mine, drawn(mine, **way)))


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_watched_program_draws_the_same_and_each_of_its_tokens_is_told_once(
    shared_engine: Running, way: dict[str, Any]
) -> None:
    tokens, events = watched(shared_engine, way)
    assert tokens == unwatched(shared_engine, way)
    told = [token for event in events for token in event.tokens]
    assert [token.token for token in told][: len(tokens)] == tokens
    assert len(events) < len(tokens) or "system_speculation" in way
    assert [event.first for event in events] == [
        sum(len(earlier.tokens) for earlier in events[:place]) for place in range(len(events))
    ]


def test_its_probabilities_are_those_of_another_pass_and_the_likely_tokens_fall(engine: Running) -> None:
    tokens, events = watched(engine, WAYS["at once"])
    told = [token for event in events for token in event.tokens][: len(tokens)]
    scores = finished(in_context(engine, judged(engine, PROMPT, tokens)))
    assert [token.probability for token in told] == pytest.approx([math.exp(score) for score in scores], abs=1e-3)
    for token in told:
        chances = [likely.probability for likely in token.likely]
        assert (len(chances), sorted(chances, reverse=True)) == (LIKELY, chances)
        assert all(likely.probability == token.probability for likely in token.likely if likely.token == token.token)


def test_a_grammar_s_tokens_say_how_many_were_allowed(engine: Running) -> None:
    way = {"sampler": ARGMAX, "constrain": Regex("(yes|no): certainly")}
    _, events = watched(engine, way)
    allowed = [token.allowed for event in events for token in event.tokens]
    assert allowed[0] > 1
    assert 1 in allowed


def test_right_drafts_are_marked_and_wrong_ones_named(engine: Running) -> None:
    truth = unwatched(engine, {"sampler": ARGMAX})
    tokens, (first, *_) = watched(engine, {"sampler": ARGMAX, "truth": truth})
    piece = engine.core.services.language.tokenizer.piece
    assert tokens == truth
    assert [token.drafted for token in first.tokens] == [True, True, False]
    assert first.rejected == tuple(piece(token) for token in (truth[2] ^ 1, *truth[3:5]))


def test_nothing_is_told_once_the_last_watcher_left(engine: Running) -> None:
    with engine.process() as host:
        mine = Running(engine.core, engine.events, host)
        name = host.process_id
        for act in (inspection.watch_tokens, inspection.unwatch_tokens):
            for watcher in "ab":
                finished(engine.core.consult(lambda services, act=act, who=watcher: act(services, name, who)))
        finished(in_context(mine, drawn(mine, ARGMAX)))
    assert not any(isinstance(event, TokensDrawn) and event.process == name for event in engine.events)
    with pytest.raises(ProcessError, match="not running"):
        finished(engine.core.consult(lambda services: inspection.watch_tokens(services, name, 0)))

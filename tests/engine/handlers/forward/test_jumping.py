"""Tokens that a grammar leaves no choice about: the text of plain decoding, in fewer passes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Entropy, Generator, GrammarConstraint, JsonSchema, Regex, Sampler
from inferlet.rules import min_p
from pie_mlx.calls import DraftSourceName
from pie_mlx.engine.speculation.drafting import Allowance
from pie_mlx.events import PassCompleted, TickCompleted
from tests.engine.acts import PENALIZED, step_by_step
from tests.engine.outcome import Outcome, outcome
from tests.engine.running import Running, finished, in_context, running

GREEDY = Sampler.argmax()
WARM = Sampler.multinomial(0.9, seed=5)
FIXED = Regex(r"(yes|no), I have counted all of them: [0-9]{2}")
"""A choice, a text without any, and choices again."""


@contextmanager
def without_jumps(engine: Running) -> Iterator[None]:
    engine.core.services.jumps = False
    try:
        yield
    finally:
        engine.core.services.jumps = True


async def generated(engine: Running, options: dict[str, Any], **more: Any) -> tuple[Outcome, list[int]]:
    """What a generation leaves behind, and some tokens drawn after it."""
    wanted = {
        "sampler": GREEDY,
        "stop": [],
        "auto_flush": False,
        "max_tokens": 60,
        "constrain": FIXED,
        **options,
        **more,
    }
    with Context(engine.model) as context:
        context.append(engine.prompt(9))
        generator = context.generate(wanted.pop("sampler"), **wanted)
        left = outcome(context, generator, await generator.collect_tokens())
        context.append([41])
        after = context.generate(WARM, max_tokens=4, stop=[], auto_flush=False)
        return left, await after.collect_tokens()


def passes(engine: Running, first: int) -> list[PassCompleted]:
    return [event for event in engine.events[first:] if isinstance(event, PassCompleted)]


def steps(engine: Running, first: int) -> int:
    return sum(event.steps for event in engine.events[first:] if isinstance(event, TickCompleted))


SIMPLE: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.lists(st.sampled_from(["accept", "reject", "undecided", "unknown"]), min_size=1, max_size=3, unique=True).map(
        lambda words: {"enum": words}
    ),
    st.just({"const": "a longer text that never changes"}),
    st.just({"type": "boolean"}),
    st.builds(lambda most: {"type": "integer", "minimum": 0, "maximum": most}, st.integers(1, 200)),
    st.builds(lambda most: {"type": "string", "maxLength": most}, st.integers(0, 5)),
)
KEYS = st.sampled_from(["name", "age", "invoice_number", "currency", "unit_price", "ok"])


def objects(values: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(KEYS, values, min_size=1, max_size=3).map(
        lambda properties: {"type": "object", "properties": properties, "required": list(properties)}
    )


SCHEMAS = objects(
    st.recursive(
        SIMPLE,
        lambda inner: st.one_of(
            objects(inner), inner.map(lambda items: {"type": "array", "items": items, "minItems": 1, "maxItems": 2})
        ),
        max_leaves=4,
    )
)
OPTIONS = st.fixed_dictionaries(
    {
        "sampler": st.sampled_from([GREEDY, PENALIZED, WARM, Sampler.top_p(0.8, 0.95, seed=3)]),
        "max_tokens": st.integers(1, 30),
        "constrain": SCHEMAS.map(lambda schema: JsonSchema(json.dumps(schema))),
        "speculation": st.sampled_from([None, "auto", "grammar"]),
    }
)


@given(options=OPTIONS)
@settings(max_examples=12)
def test_a_schema_gives_what_it_gives_without_jumps(shared_engine: Running, options: dict[str, Any]) -> None:  # G16, L6
    async def compare() -> None:
        with without_jumps(shared_engine):
            plain = await generated(shared_engine, options)
        assert await generated(shared_engine, options) == plain

    with shared_engine.process() as host:
        finished(in_context(Running(shared_engine.core, shared_engine.events, host), compare()))
    shared_engine.check_books()


async def test_a_text_without_a_choice_takes_one_pass(engine: Running) -> None:
    first = len(engine.events)
    with Context(engine.model) as context:
        generator = context.append(engine.prompt(9)).generate(
            GREEDY, constrain=Regex("I have counted all of them, and there are none"), auto_flush=False, stop=[]
        )
        (output,) = [await step.up_to(100).execute() async for step in generator]
        assert output.raw is not None
        assert output.raw.forced == len(output.tokens) - 1 > 5
        assert output.raw.kept == output.raw.forced
        assert engine.model.tokenizer().decode(output.tokens) == "I have counted all of them, and there are none"
    (told,) = passes(engine, first)
    assert (told.forced_tokens, told.input_tokens) == (output.raw.forced, 9)
    assert told.drawn_tokens == len(output.tokens)
    assert steps(engine, first) == 1


BLANKS = JsonSchema(
    json.dumps(
        {
            "type": "object",
            "properties": {"verdict": {"enum": ["accept", "reject"]}, "confidence": {"type": "boolean"}},
            "required": ["verdict", "confidence"],
        }
    )
)
"""The model may put blanks between all parts, so that the grammar leaves a choice nearly everywhere."""


async def drafting(engine: Running, sampler: Sampler, speculation: DraftSourceName) -> tuple[list[int], int, set[str]]:
    """The text, in how many passes, and who drafted, once the grammar may try."""
    services = engine.core.services
    services.drafts = replace(services.drafts, grammars=Allowance())
    first, told = len(engine.events), set[str]()
    with Context(engine.model) as context:
        context.user("Write it as JSON.")
        tokens: list[int] = []
        async for step in context.generate(sampler, constrain=BLANKS, speculation=speculation, max_tokens=60):
            output = await step.execute()
            tokens += output.tokens
            told |= {output.raw.drafted_by} if output.raw else set()
    return tokens, len(passes(engine, first)), told - {""}


@pytest.mark.parametrize("sampler", [GREEDY, WARM])
async def test_text_that_must_come_but_for_its_blanks_is_drafted(engine: Running, sampler: Sampler) -> None:  # V8
    with without_jumps(engine):
        plain, passes_of_plain, told = await drafting(engine, sampler, "grammar")
    assert "grammar" not in told
    tokens, taken, told = await drafting(engine, sampler, "grammar")
    assert tokens == plain
    assert "grammar" in told
    assert taken < passes_of_plain


async def test_steps_that_follow_at_once_end_where_a_grammar_has_a_guess(engine: Running) -> None:
    services, first = engine.core.services, len(engine.events)
    services.drafts = replace(services.drafts, grammars=Allowance())
    open_at_first = Regex("[a-z]{16} ?I have counted all of them")
    await generated(engine, {"constrain": open_at_first, "speculation": "grammar"})
    told = passes(engine, first)
    assert any(one.following for one in told)
    assert any(one.guessed_tokens for one in told)


async def test_a_grammar_drafts_among_others(engine: Running) -> None:
    assert "grammar" in (await drafting(engine, GREEDY, "auto"))[2]
    assert "grammar" not in (await drafting(engine, GREEDY, "ngram"))[2]


async def test_no_more_tokens_come_than_were_asked_for(engine: Running) -> None:
    with Context(engine.model) as context:
        generator = context.append(engine.prompt(9)).generate(
            GREEDY, constrain=FIXED, auto_flush=False, stop=[], max_tokens=9
        )
        parts = [(await step.up_to(4).execute()).tokens async for step in generator]
    assert list(map(len, parts)) == [4, 4, 1]
    assert generator.finish_reason == "length"


async def test_a_stop_token_that_the_grammar_forces_ends_the_text(engine: Running) -> None:
    words = engine.encode("yes, I have counted all of them: 10")
    with Context(engine.model) as context:
        constraint = GrammarConstraint.from_regex("yes, I have counted all of them: 10", engine.model)
        generator = context.append(engine.prompt(9)).generate(
            GREEDY, constrain=constraint, auto_flush=False, stop=[words[5]]
        )
        assert await generator.collect_tokens() == words[:5]
        assert (generator.finish_reason, context.buffer(), context.seq_len) == ("stop", [], 9 + 5)


async def test_ticks_count_forced_tokens_as_decoded_ones(engine: Running) -> None:
    first = len(engine.events)
    with Context(engine.model) as context:
        await context.append(engine.prompt(20, 215)).flush()
        context.append([50])
        generator = context.generate(GREEDY, constrain=FIXED, auto_flush=False, stop=[])
        tokens = await generator.collect_tokens()
    ticks = [event for event in engine.events[first:] if isinstance(event, TickCompleted)]
    assert sum(tick.decoded_tokens or 0 for tick in ticks) == len(tokens)
    assert sum(tick.tokens for tick in ticks) == 20 + len(tokens)


def looking(generator: Generator, how: str) -> Generator:
    if how == "probe":
        generator.probe_each_step(-1, Entropy())
    return generator


@pytest.mark.parametrize(
    ("how", "sampler"),
    [("single steps", GREEDY), ("probe", GREEDY), ("scores", GREEDY.scored()), ("rule", WARM.ruled(min_p(p=0.1)))],
)
async def test_nothing_is_appended_undrawn_where_somebody_looks_at_each_token(
    engine: Running, how: str, sampler: Sampler
) -> None:
    first = len(engine.events)
    with Context(engine.model) as context:
        context.append(engine.prompt(9))
        generator = looking(context.generate(sampler, constrain=FIXED, auto_flush=False, stop=[]), how)
        await (step_by_step(generator) if how == "single steps" else generator.collect_tokens())
    assert sum(event.forced_tokens for event in passes(engine, first)) == 0


async def test_a_token_budget_ends_a_text_where_it_ends_without_jumps(shared_engine: Running) -> None:  # M3
    lengths: list[int] = []
    for jumps in (True, False):
        with shared_engine.process(token_budget=16), Context(shared_engine.model) as context:
            shared_engine.core.services.jumps = jumps
            generator = context.append(shared_engine.prompt(9)).generate(
                GREEDY, constrain=FIXED, auto_flush=False, stop=[]
            )
            lengths.append(len((await (await anext(generator)).up_to(60).execute()).tokens))
    assert lengths[0] == lengths[1] == 16 - 9 + 1


async def test_forced_tokens_wait_for_no_page() -> None:  # P4
    with running(total_pages=2) as engine, Context(engine.model) as context:
        context.append(engine.prompt(9))
        generator = context.generate(GREEDY, constrain=Regex("one two three " * 12), auto_flush=False, stop=[])
        drawn = (await (await anext(generator)).up_to(100).execute()).tokens
        assert len(drawn) == 2 * 16 - 9 + 1

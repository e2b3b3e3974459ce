"""Speculation: the tokens and the state of plain decoding, in fewer passes."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Entropy, Logprobs, Regex, Sampler
from inferlet.brle import spans
from pie_mlx.engine.speculation.drafting import Allowance, WindowCost
from pie_mlx.events import TickCompleted
from tests.engine.acts import LEANING, PENALIZED
from tests.engine.outcome import Outcome, collected
from tests.engine.running import Running, finished, in_context, running

pytestmark = pytest.mark.usefixtures("random_model")

GREEDY = Sampler.argmax()
PAGE = 16


@dataclass
class Scripted:
    """Drafts what it is given, a list for each step; keeps what it is told."""

    context: Context
    plan: list[list[int]]
    told: list[tuple[str, Any]] = field(default_factory=list)
    position: int = 0

    def draft(self) -> tuple[list[int], list[int]]:
        tokens = self.plan.pop(0) if self.plan else []
        return tokens, list(range(self.position, self.position + len(tokens)))

    def accept(self, tokens: list[int]) -> None:
        self.told.append(("accept", tokens))
        self.position += len(tokens)

    def rollback(self, n: int) -> None:
        self.told.append(("rollback", n))

    def reset(self) -> None:
        self.told.append(("reset", None))
        self.position = self.context.seq_len + len(self.context.buffer())


class Guessing:
    """Knows the truth, and is wrong where `errors` says so; drafts as many at once as `lengths` says."""

    def __init__(self, context: Context, truth: list[int], lengths: list[int], errors: set[int]) -> None:
        self.truth = [token ^ (place in errors) for place, token in enumerate(truth)]
        self.lengths, self.context = lengths, context
        self.done = self.position = self.steps = 0

    def draft(self) -> tuple[list[int], list[int]]:
        length = self.lengths[self.steps % len(self.lengths)]
        self.steps += 1
        tokens = self.truth[self.done : self.done + length]
        return tokens, list(range(self.position, self.position + len(tokens)))

    def accept(self, tokens: list[int]) -> None:
        self.done += len(tokens)
        self.position += len(tokens)

    def rollback(self, n: int) -> None:
        assert n > 0

    def reset(self) -> None:
        self.position = self.context.seq_len + len(self.context.buffer())


async def generated(engine: Running, prompt: list[int], options: dict[str, Any], **more: Any) -> Outcome:
    """Generate with `options`; in `more`, a function makes the value from the context."""
    with Context(engine.model) as context:
        context.append(prompt)
        made = {name: value(context) if callable(value) else value for name, value in more.items()}
        settings = {"max_tokens": 24, "stop": [], "auto_flush": False, **options, **made}
        sampler = settings.pop("sampler", GREEDY)
        return await collected(context, context.generate(sampler, **settings))


def passes(engine: Running) -> int:
    return sum(event.steps for event in engine.events if isinstance(event, TickCompleted))


OPTIONS = st.fixed_dictionaries(
    {
        "sampler": st.sampled_from(
            [GREEDY, PENALIZED, LEANING, Sampler.top_p(0.8, 0.95, seed=3), Sampler.multinomial(0.9, seed=5)]
        ),
        "max_tokens": st.integers(1, 40),
        "constrain": st.sampled_from([None, None, Regex(r"([a-z]{1,6} ){2,6}\."), Regex(r"(ab|abc|abcd)+ and so on")]),
    }
)


@given(
    seed=st.integers(200, 250),
    length=st.integers(1, 40),
    options=OPTIONS,
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    errors=st.sets(st.integers(0, 39), max_size=8),
    stop=st.integers(0, 39) | st.none(),
)
@settings(max_examples=12)
def test_any_drafter_gives_what_plain_decoding_gives(
    shared_engine: Running,
    seed: int,
    length: int,
    options: dict[str, Any],
    lengths: list[int],
    errors: set[int],
    stop: int | None,
) -> None:  # T38, V6, V7
    async def compare() -> None:
        prompt = shared_engine.prompt(length, seed)
        plain = await generated(shared_engine, prompt, options)
        if stop is not None and plain.tokens and options["constrain"] is None:
            options["stop"] = [plain.tokens[stop % len(plain.tokens)]]
            plain = await generated(shared_engine, prompt, options)
        custom = await generated(
            shared_engine, prompt, options, speculator=lambda ctx: Guessing(ctx, plain.tokens, lengths, errors)
        )
        system = await generated(shared_engine, prompt, options, system_speculation=True)
        assert custom == plain
        assert system == plain

    with shared_engine.process() as host:
        finished(in_context(Running(shared_engine.core, shared_engine.events, host), compare()))
    shared_engine.check_books()


async def test_ticks_tell_tokens_of_texts_from_those_of_prompts_and_from_wrong_drafts(engine: Running) -> None:
    prompt = engine.prompt(20, 3)
    plain = await generated(engine, prompt, {})
    for lengths, errors in (([0], set[int]()), ([3], {5, 11})):
        first = len(engine.events)
        await generated(
            engine, prompt, {}, speculator=partial(Guessing, truth=plain.tokens, lengths=lengths, errors=errors)
        )
        ticks = [event for event in engine.events[first:] if isinstance(event, TickCompleted)]
        decoded = sum([tick.decoded_tokens or 0 for tick in ticks])
        assert decoded == len(plain.tokens) - 1  # the prompt gives the first one
        assert sum([tick.prompt_tokens for tick in ticks]) == 4  # of the prompt, a page is cached
        wrong = sum([tick.tokens - (tick.decoded_tokens or 0) - tick.prompt_tokens for tick in ticks])
        assert (wrong > 0) == bool(errors)


async def test_right_drafts_save_passes(engine: Running) -> None:  # V2
    prompt = engine.prompt(20, 3)
    plain = await generated(engine, prompt, {})
    before = passes(engine)
    await generated(engine, prompt, {}, speculator=lambda ctx: Guessing(ctx, plain.tokens, [5], set()))
    assert passes(engine) - before == 4


@pytest.fixture
def cheap_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifying costs little and trying is allowed, whatever this machine took for the drafts of other tests."""
    monkeypatch.setattr(WindowCost, "steps", lambda cost, contexts, drafts=None: 0.25)
    monkeypatch.setattr(Allowance, "step", lambda allowance: True)


@pytest.mark.usefixtures("cheap_windows")
async def test_repetition_is_drafted_by_the_engine() -> None:  # V8
    with running(model="pie-tiny") as engine:
        words = engine.encode("red green blue red green blue red green blue red green blue red green")
        before = passes(engine)
        plain = await generated(engine, words, {"max_tokens": 48})
        middle = passes(engine)
        assert await generated(engine, words, {"max_tokens": 48}, system_speculation=True) == plain
        assert passes(engine) - middle < (middle - before) / 1.5


async def test_a_speculator_hears_of_everything_before_the_cuts(engine: Running) -> None:  # V4
    prompt = engine.prompt(20, 4)
    truth = (await generated(engine, prompt, {"max_tokens": 12})).tokens
    with Context(engine.model) as context:
        context.append(prompt)
        drafts = Scripted(context, [truth[:3], [truth[4] ^ 1], [], [truth[6], truth[7] ^ 1, 9], truth[8:]])
        generator = context.generate(GREEDY, max_tokens=11, stop=[], auto_flush=False, speculator=drafts)
        assert await generator.collect_tokens() == truth[:11]
    assert drafts.told == [
        ("reset", None),
        ("accept", truth[:4]),
        ("accept", truth[4:5]),
        ("rollback", 1),
        ("accept", truth[5:6]),
        ("accept", truth[6:8]),
        ("rollback", 2),
        ("accept", truth[8:11]),
        ("rollback", 2),
    ]


async def test_a_stop_inside_verified_drafts_leaves_kv(engine: Running) -> None:  # V6
    prompt = engine.encode("Name the capital of France. The capital of France is")
    truth = (await generated(engine, prompt, {"max_tokens": 8})).tokens
    stop = next(token for token in truth[:6] if token != truth[0])
    cut = truth.index(stop)
    with Context(engine.model) as context:
        context.append(prompt)
        drafts = Scripted(context, [truth[:6]])
        generator = context.generate(GREEDY, max_tokens=20, stop=[stop], auto_flush=False, speculator=drafts)
        outcome = await collected(context, generator)
    assert (outcome.tokens, outcome.buffer, outcome.length) == (truth[:cut], [], len(prompt) + cut)
    assert drafts.told[1] == ("accept", truth[:7])


async def test_rejected_drafts_leave_no_pages(engine: Running) -> None:  # V3, P10
    with Context(engine.model) as context:
        context.append(engine.prompt(PAGE - 1, 6))
        generator = context.generate(
            GREEDY, max_tokens=40, stop=[], auto_flush=False, speculator=Scripted(context, [[1] * 30])
        )
        await (await anext(generator)).execute()
        raw = context.inner()
        assert (raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()) == (0, 1, 15)
    engine.check_books()


async def test_streams_with_and_without_drafts_share_a_batch(engine: Running) -> None:  # Q10
    prompts = [engine.prompt(10 + 3 * number, number) for number in range(6)]
    alone = [await generated(engine, prompt, {}) for prompt in prompts]
    drafters: list[dict[str, Callable[[Context], Any] | bool]] = [
        {"speculator": lambda ctx, truth=outcome.tokens, n=number: Guessing(ctx, truth, [n], {3, 9})}
        for number, outcome in enumerate(alone[:3])
    ]
    options: list[dict[str, Any]] = [*drafters, {"system_speculation": True}, {}, {"system_speculation": True}]
    together = await asyncio.gather(
        *(generated(engine, prompt, {}, **more) for prompt, more in zip(prompts, options, strict=True))
    )
    assert list(together) == alone


async def test_probes_read_the_input_not_the_drafts(engine: Running) -> None:  # G9
    prompt = engine.prompt(20, 7)
    truth = (await generated(engine, prompt, {"max_tokens": 3})).tokens
    seen: list[float | None] = []
    for plan in ([], [truth[:2]]):
        with Context(engine.model) as context:
            context.append(prompt)
            speculator = Scripted(context, plan)
            generator = context.generate(GREEDY, max_tokens=3, stop=[], auto_flush=False, speculator=speculator)
            handle = generator.probe_each_step(-1, Entropy())
            output = await (await anext(generator)).execute()
            seen.append(output.entropy(handle))
    assert output.tokens == truth
    assert seen[1] == pytest.approx(seen[0], abs=1e-4)


async def test_the_reply_tells_what_was_drafted_and_kept(engine: Running) -> None:
    prompt = engine.prompt(20, 8)
    truth = (await generated(engine, prompt, {"max_tokens": 4})).tokens
    with Context(engine.model) as context:
        context.append(prompt)
        speculator = Scripted(context, [[truth[0], truth[1], truth[2] ^ 1]])
        generator = context.generate(GREEDY, max_tokens=8, stop=[], auto_flush=False, speculator=speculator)
        output = await (await anext(generator)).execute()
    assert output.raw is not None
    assert (output.raw.drafted, output.raw.kept) == (3, 2)
    assert output.auto_sampler is not None
    assert output.tokens_at(output.auto_sampler) == output.tokens == truth[:3]


async def test_the_only_token_a_grammar_allows_is_drafted(engine: Running) -> None:  # V7
    options = {"constrain": Regex("(a|b)0123456789 0123456789"), "max_tokens": 40}
    prompt = engine.prompt(20, 9)
    plain = await generated(engine, prompt, options)
    with Context(engine.model) as context:
        context.append(prompt)
        generator = context.generate(GREEDY, stop=[], auto_flush=False, system_speculation=True, **options)
        replies = [await step.execute() async for step in generator]
    assert [token for reply in replies for token in reply.tokens] == plain.tokens
    assert sum(reply.raw.kept for reply in replies if reply.raw is not None) > 0


class Counting:
    """A constraint of the program: it must see each token."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def step(self, accepted: list[int]) -> list[int]:
        self.seen.append(accepted)
        return []


async def test_a_constraint_of_the_program_sees_one_token_at_a_time(engine: Running) -> None:  # V7
    prompt = engine.prompt(20, 10)
    truth = (await generated(engine, prompt, {"max_tokens": 6})).tokens
    constraint = Counting()
    outcome = await generated(
        engine, prompt, {"max_tokens": 6, "constrain": constraint}, speculator=lambda ctx: Scripted(ctx, [truth])
    )
    assert outcome.tokens == truth
    assert constraint.seen == [[], *([token] for token in truth[:5])]


async def test_what_is_drawn_has_the_samplers_distribution(engine: Running) -> None:  # V2
    """The second token, given a first one that was drafted: a test of fit over 400 draws."""
    allowed = engine.encode("a b c d e f")[:4]
    mask = spans(*((token, token + 1) for token in sorted(set(allowed))))
    draws = Sampler.top_p(2.0, 0.9)
    with Context(engine.model) as context:
        context.append(engine.prompt(12, 11))
        await context.flush()
        root = context.fork()
        probe = root.forward().input([allowed[0]])
        handle = probe.probe(0, Logprobs(sorted(set(allowed))))
        logprobs = (await probe.execute()).logprobs(handle)
        assert logprobs is not None
        expected = nucleus(logprobs, 2.0, 0.9)

        async def second() -> int | None:
            with context.fork() as child:
                child.append([allowed[0]])
                drafts = Scripted(child, [[allowed[1], allowed[2]]])
                generator = child.generate(
                    draws, max_tokens=3, stop=[], auto_flush=False, logit_mask=mask, speculator=drafts
                )
                return (await generator.collect_tokens())[0]

        drawn = await asyncio.gather(*(second() for _ in range(400)))
    counts = [drawn.count(token) for token in sorted(set(allowed))]
    fit = sum((count - 400 * p) ** 2 / (400 * p) for count, p in zip(counts, expected, strict=True) if p)
    assert all(count == 0 for count, p in zip(counts, expected, strict=True) if not p)
    assert fit < 16.3  # 99.9 % of a chi-square with three degrees of freedom


def nucleus(logprobs: list[float], temperature: float, p: float) -> list[float]:
    """L1 by hand: what top-p keeps of some tokens when no other is allowed."""
    weights = [math.exp(value / temperature) for value in logprobs]
    shares = [weight / sum(weights) for weight in weights]
    kept: list[int] = []
    for place in sorted(range(len(shares)), key=lambda place: -shares[place]):
        if sum(shares[other] for other in kept) < p:
            kept.append(place)
    total = sum(shares[place] for place in kept)
    return [shares[place] / total if place in kept else 0.0 for place in range(len(shares))]

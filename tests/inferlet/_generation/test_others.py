"""Rules that join the rows of several contexts, on a real engine: what they draw, on every way, and what is refused."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import pytest_asyncio

from inferlet import Context, HiddenState, Logits, Model, Sampler, rule, rules, runtime
from inferlet.rules import Number, OtherRow, Row, RuleUse, Value
from pie_mlx import Engine
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.errors import BatchFailedError, ContextReleasedError, InvalidArgumentError, InvalidTypeError
from pie_mlx.events import Event, TickCompleted

pytestmark = pytest.mark.asyncio(loop_scope="module")

Doubles = npt.NDArray[np.float64]
Program = Callable[[Model], Awaitable[Any]]
Run = Callable[[Program], Awaitable[Any]]
Ticks = Callable[[], list[TickCompleted]]
PROMPT = "a list: one two three, one two three, one two"
OTHER = "Once there was a small dog. It"
LENGTH, STREAM = 14, 11


def log_probabilities(row: Doubles) -> Doubles:
    return row - np.logaddexp.reduce(row)


def guided(row: Doubles, other: Doubles) -> Doubles:
    return log_probabilities(other) + 1.7 * (log_probabilities(row) - log_probabilities(other))


def contrasted(row: Doubles, other: Doubles) -> Doubles:
    logs = log_probabilities(row)
    return np.where(logs >= logs.max() + np.log(0.05), 1.5 * logs - 0.5 * log_probabilities(other), -np.inf)


def mixed(row: Doubles, other: Doubles) -> Doubles:
    return np.log(0.3 * np.exp(log_probabilities(row)) + 0.7 * np.exp(log_probabilities(other)))


def multiplied(row: Doubles, other: Doubles) -> Doubles:
    return 0.3 * log_probabilities(row) + 0.7 * log_probabilities(other)


LIBRARY: dict[str, tuple[RuleUse, Callable[[Doubles, Doubles], Doubles]]] = {
    "guidance": (rules.guidance(scale=1.7), guided),
    "contrastive": (rules.contrastive(plausible=0.05, strength=0.5), contrasted),
    "mixture": (rules.mixture(weight=0.3), mixed),
    "product": (rules.product(weight=0.3), multiplied),
}


@rule
def _until_apart(
    row: Row, other: OtherRow, apart: Number = 0.0, most: Number = 9.0
) -> tuple[Value, dict[str, Number], Value]:
    """Ends once the two contexts find the text too differently likely."""
    total = apart + row.log_probabilities.at(row.drawn) - other.log_probabilities.at(row.drawn)
    return 0.5 * (row.logits + other.logits), {"apart": total}, abs(total) > most


USES = {**{name: use for name, (use, _) in LIBRARY.items()}, "until apart": _until_apart()}


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(events: list[Event]) -> AsyncIterator[Engine]:
    async with Engine("pie-tiny", total_pages=256, seed=7, on_event=events.append) as engine:
        yield engine


@pytest.fixture
def ticks(events: list[Event]) -> Ticks:
    """Those since the test began."""
    events.clear()
    return lambda: [event for event in events if isinstance(event, TickCompleted)]


@pytest.fixture
def run(engine: Engine) -> Run:
    """Runs a function of a model as an inferlet."""

    async def as_inferlet(program: Program) -> Any:
        async def main(input: Any) -> Any:
            return await program(Model.load(runtime.models()[0]))

        return await engine.run(main)

    return as_inferlet


def pair(model: Model) -> tuple[Context, Context]:
    return Context(model).append(PROMPT), Context(model).append(OTHER)


def sampler(use: RuleUse, temperature: float = 1.0) -> Sampler:
    return Sampler(temperature, seed=STREAM).ruled(use)


async def rows_before(model: Model, text: str, tokens: list[int]) -> list[Doubles]:
    """The rows that each of the tokens after a text was drawn from, as one pass on the host's side sees them."""
    prompt = model.tokenizer().encode(text)
    step = Context(model).forward().input([*prompt, *tokens])
    probes = [step.probe(len(prompt) - 1 + place, Logits()) for place in range(len(tokens))]
    output = await step.execute()
    return [np.frombuffer(output.logits(probe) or b"", np.float32).astype(np.float64) for probe in probes]


async def hidden_states_before(model: Model, text: str, tokens: list[int]) -> Doubles:
    """Those of the same rows."""
    prompt = model.tokenizer().encode(text)
    step = Context(model).forward().input([*prompt, *tokens])
    probes = [step.probe(len(prompt) - 1 + place, HiddenState()) for place in range(len(tokens))]
    output = await step.execute()
    return np.array([output.hidden_state(probe) for probe in probes])


def choice(row: Doubles, counter: int, *, greedy: bool) -> int:
    running = np.cumsum(np.exp(log_probabilities(row)))
    return int(np.argmax(row) if greedy else np.searchsorted(running, uniform(STREAM, counter, 0), "right"))


async def go_on(context: Context, tokens: int) -> list[int]:
    return await context.generate(Sampler.argmax(), max_tokens=tokens, stop=[], auto_flush=False).collect_tokens()


async def at_once(model: Model, use: RuleUse, temperature: float = 1.0) -> list[int]:
    first, other = pair(model)
    made = first.generate(sampler(use, temperature), others=[other], max_tokens=LENGTH, stop=[], auto_flush=False)
    return await made.collect_tokens()


async def step_by_step(model: Model, use: RuleUse) -> list[int]:
    first, other = pair(model)
    tokens = list[int]()
    made = first.generate(sampler(use), others=[other], max_tokens=LENGTH, stop=[], auto_flush=False)
    async for step in made:
        tokens += (await step.execute()).tokens
    return tokens


async def a_few_at_a_time(model: Model, use: RuleUse) -> list[int]:
    first, other = pair(model)
    tokens = list[int]()
    made = first.generate(sampler(use), others=[other], max_tokens=LENGTH, stop=[], auto_flush=False)
    async for step in made:
        tokens += (await step.up_to(3).execute()).tokens
    return tokens


async def suspended_between(model: Model, use: RuleUse) -> list[int]:
    first, other = pair(model)
    tokens = list[int]()
    made = first.generate(sampler(use), others=[other], max_tokens=LENGTH, stop=[], auto_flush=False)
    async for step in made:
        tokens += (await step.execute()).tokens
        (other if len(tokens) % 2 else first).suspend()
    return tokens


async def beside_others(model: Model, use: RuleUse) -> list[int]:
    alone = Context(model).append(PROMPT).generate(sampler(rules.typical()), max_tokens=LENGTH, auto_flush=False)
    texts = [at_once(model, use), at_once(model, USES["contrastive"]), alone.collect_tokens()]
    return (await asyncio.gather(*texts))[0]


WAYS = [at_once, step_by_step, a_few_at_a_time, suspended_between, beside_others]


@pytest.mark.parametrize("greedy", [True, False], ids=["greedy", "random"])
@pytest.mark.parametrize("name", LIBRARY)
async def test_a_rule_of_two_contexts_draws_what_float64_on_the_host_draws(run: Run, name: str, greedy: bool) -> None:
    use, joined = LIBRARY[name]

    async def program(model: Model) -> None:
        drawn = await at_once(model, use, 0.0 if greedy else 1.0)
        rows = zip(await rows_before(model, PROMPT, drawn), await rows_before(model, OTHER, drawn), strict=True)
        assert drawn == [choice(joined(*both), counter, greedy=greedy) for counter, both in enumerate(rows)]

    await run(program)


@pytest.mark.parametrize("name", ["guidance", "until apart"])
async def test_every_way_to_a_text_of_two_contexts_draws_the_same_tokens(run: Run, name: str) -> None:
    async def program(model: Model) -> None:
        texts = [await way(model, USES[name]) for way in WAYS]
        assert len(set(map(tuple, texts))) == 1, texts

    await run(program)


async def test_steps_of_two_contexts_follow_one_another_without_the_program(run: Run, ticks: Ticks) -> None:
    await run(lambda model: at_once(model, USES["guidance"]))
    steps = [tick for tick in ticks() if tick.decoded_tokens]
    assert max(tick.steps for tick in steps) > 1
    assert {tick.contexts for tick in steps} == {2}


async def test_the_next_step_of_two_contexts_begins_before_the_program_asks_for_it(run: Run, ticks: Ticks) -> None:
    await run(lambda model: step_by_step(model, USES["guidance"]))
    ahead = [tick for tick in ticks() if tick.ahead]
    assert len(ahead) > LENGTH // 2
    assert {tick.contexts for tick in ahead} == {2}


async def test_all_contexts_hold_the_text_and_go_on_from_it(run: Run) -> None:
    async def program(model: Model) -> None:
        first, other = pair(model)
        made = first.generate(sampler(rules.guidance()), others=[other], max_tokens=6, stop=[], auto_flush=False)
        drawn = await made.collect_tokens()
        fork = other.fork()
        for context in (other, fork):
            again = Context(model).append(model.tokenizer().encode(OTHER) + drawn)
            assert await go_on(context, 5) == await go_on(again, 5)

    await run(program)


async def test_each_context_gets_the_cue_and_the_stop_token_ends_all(run: Run) -> None:
    async def program(model: Model) -> list[Any]:
        told, plain = (
            Context(model).system("You are a pirate.").user("Who are you?"),
            Context(model).user("Who are you?"),
        )
        made = told.generate(Sampler.argmax().ruled(rules.guidance(scale=1.2)), others=[plain], max_tokens=40)
        text = await made.collect_text()
        return [text, made.finish_reason, await plain.user("And now?").generate(Sampler.argmax()).collect_text()]

    text, reason, later = await run(program)
    assert text
    assert later
    assert reason == "stop"


async def test_a_grammar_restricts_the_first_context_and_all_go_on_with_its_token(run: Run) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}

    async def program(model: Model) -> Any:
        other = Context(model).user("say nothing")
        made = Context(model).user("name a colour").generate(sampler(rules.guidance()), others=[other], max_tokens=40)
        return await made.collect_json(schema={**schema, "additionalProperties": False})

    assert (await run(program))["a"] in (True, False)


async def test_three_contexts_are_one_rule(run: Run) -> None:
    @rule
    def mean(row: Row, second: OtherRow, third: OtherRow) -> Value:
        return (row.logits + second.logits + third.logits) / 3.0

    async def program(model: Model) -> None:
        texts = [PROMPT, OTHER, "my name is"]
        first, *others = [Context(model).append(text) for text in texts]
        made = first.generate(Sampler.argmax().ruled(mean()), others=others, max_tokens=6, stop=[], auto_flush=False)
        drawn = await made.collect_tokens()
        rows = [await rows_before(model, text, drawn) for text in texts]
        assert drawn == [int(np.argmax(sum(own))) for own in zip(*rows, strict=True)]

    await run(program)


async def test_the_hidden_states_of_two_contexts_are_compared(run: Run) -> None:
    @rule
    def alike(row: Row, other: OtherRow) -> Value:
        here, there = row.hidden_state, other.hidden_state
        nearness = here.dot(there) / (here.dot(here) * there.dot(there)).sqrt()
        return nearness * row.logits + (1.0 - nearness) * other.logits

    async def program(model: Model) -> None:
        drawn = await at_once(model, alike(), 0.0)
        states = [await hidden_states_before(model, text, drawn) for text in (PROMPT, OTHER)]
        rows = zip(await rows_before(model, PROMPT, drawn), await rows_before(model, OTHER, drawn), strict=True)
        for token, here, there, (row, other) in zip(drawn, *states, rows, strict=True):
            nearness = here @ there / np.linalg.norm(here) / np.linalg.norm(there)
            assert token == np.argmax(nearness * row + (1 - nearness) * other)

    await run(program)


async def test_candidates_are_those_of_the_first_context(run: Run) -> None:
    @rule(candidates=4)
    def least_liked(row: Row, other: OtherRow) -> Value:
        return -other.logits

    async def program(model: Model) -> None:
        drawn = await at_once(model, least_liked(), 0.0)
        rows = zip(await rows_before(model, PROMPT, drawn), await rows_before(model, OTHER, drawn), strict=True)
        for token, (row, other) in zip(drawn, rows, strict=True):
            best = np.argsort(-row, kind="stable")[:4]
            assert token == best[np.argmin(other[best])]

    await run(program)


async def test_a_result_that_is_no_number_leaves_all_contexts_as_they_were(run: Run) -> None:
    @rule
    def divides(row: Row, other: OtherRow, by: Number) -> Value:
        return other.logits / by

    async def program(model: Model) -> None:
        first, other = pair(model)
        made = first.generate(sampler(divides(by=0.0)), others=[other], max_tokens=4, stop=[], auto_flush=False)
        with pytest.raises(BatchFailedError, match="rule divides: line"):
            await made.collect_tokens()
        lengths = first.seq_len, other.seq_len
        again = first.generate(sampler(rules.guidance()), others=[other], max_tokens=4, stop=[], auto_flush=False)
        assert await again.collect_tokens() == (await at_once(model, rules.guidance()))[:4]
        assert lengths == tuple(len(model.tokenizer().encode(text)) - 1 for text in (PROMPT, OTHER))

    await run(program)


async def test_a_context_that_was_released_ends_the_text_with_an_error(run: Run) -> None:
    async def program(model: Model) -> None:
        first, other = pair(model)
        made = first.generate(sampler(rules.guidance()), others=[other], max_tokens=9, stop=[], auto_flush=False)
        async for step in made:
            await step.execute()
            break
        other.release()
        with pytest.raises(ContextReleasedError):
            await made.collect_tokens()
        assert len(await go_on(first, 2)) == 2

    await run(program)


@pytest.mark.parametrize("turns", [0, 1, 4, 40])
async def test_a_cancelled_text_leaves_contexts_that_are_alike(run: Run, turns: int) -> None:
    async def program(model: Model) -> None:
        first, other = pair(model)
        made = first.generate(sampler(rules.guidance()), others=[other], max_tokens=400, stop=[], auto_flush=False)
        await (await anext(made)).execute()
        before = first.seq_len, other.seq_len
        text = asyncio.create_task(made.collect_tokens())
        for _ in range(turns):
            await asyncio.sleep(0)
        text.cancel()
        await asyncio.gather(text, return_exceptions=True)
        assert first.seq_len - before[0] == other.seq_len - before[1]

    await run(program)


async def test_what_cannot_be_joined_is_refused_before_anything_is_computed(run: Run) -> None:
    async def program(model: Model) -> None:
        first, other = pair(model)
        guided = sampler(rules.guidance())
        for arguments, error, text in [
            ({}, InvalidArgumentError, r"rows of 1 other contexts \(unguided\), got 0"),
            ({"others": [other, first]}, InvalidArgumentError, "got 2"),
            ({"others": [first]}, InvalidArgumentError, "named twice"),
            ({"others": ["text"]}, InvalidTypeError, "others: got str"),
            ({"others": [other], "system_speculation": True}, InvalidArgumentError, "nothing is drafted"),
        ]:
            with pytest.raises(error, match=text):
                first.generate(guided, **arguments)
        with pytest.raises(InvalidArgumentError, match="rows of 0 other contexts"):
            first.generate(Sampler.argmax(), others=[other])
        other.release()
        with pytest.raises(ContextReleasedError):
            first.generate(guided, others=[other])

    await run(program)


async def test_a_context_without_input_is_named(run: Run) -> None:
    async def program(model: Model) -> None:
        other = Context(model)
        made = Context(model).append(PROMPT).generate(sampler(rules.guidance()), others=[other], auto_flush=False)
        with pytest.raises(InvalidArgumentError, match=f"context {other.id} has no pending token"):
            await made.collect_tokens()

    await run(program)


async def test_a_pass_by_hand_with_a_rule_of_other_contexts_is_refused(run: Run) -> None:
    async def program(model: Model) -> None:
        step = Context(model).forward().input([1])
        step.sample([0], sampler(rules.guidance()))
        with pytest.raises(InvalidArgumentError, match="reads rows of 1 other contexts"):
            await step.execute()

    await run(program)

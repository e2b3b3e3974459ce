"""Rules on a real engine: every way to a text gives the same tokens."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from inferlet import Context, HiddenState, Logits, Model, Sampler, rule, rules, runtime
from inferlet.rules import Number, Row, RuleUse, Value, Vector, where
from pie_mlx import Engine
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.errors import BatchFailedError, InvalidArgumentError
from pie_mlx.events import Event, PassCompleted

pytestmark = pytest.mark.asyncio(loop_scope="module")

Program = Callable[[Model], Awaitable[Any]]
Run = Callable[[Program], Awaitable[Any]]
PROMPT = "a list: one two three, one two three, one two"
LENGTH = 24
WIDTH = 64
"""Of a hidden state of the model."""

DIRECTION = np.random.default_rng(2).standard_normal(WIDTH)


@rule
def _leaning(row: Row, direction: Vector, factor: Number = 0.5) -> Value:
    return where(row.hidden_state.dot(direction) > 0.0, row.logits, factor * row.logits)


USES = {
    "hidden states": _leaning(direction=DIRECTION.tolist()),
    "mirostat": rules.mirostat(2.0, 0.3),
    "typical": rules.typical(mass=0.8),
    "xtc": rules.xtc(threshold=0.02, probability=0.5),
    "watermark": rules.watermark(key=7),
    "dry": rules.dry(multiplier=3.0),
    "entropy_gate": rules.entropy_gate(token=300, nats=0.5, pause=5),
}


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(events: list[Event], tiny_model_directory: Callable[[str], Path]) -> AsyncIterator[Engine]:
    async with Engine(str(tiny_model_directory("qwen3")), total_pages=256, seed=7, on_event=events.append) as engine:
        yield engine


@pytest.fixture
def run(engine: Engine) -> Run:
    """Runs a function of a model as an inferlet."""

    async def as_inferlet(program: Program) -> Any:
        async def main(input: Any) -> Any:
            return await program(Model.load(runtime.models()[0]))

        return await engine.run(main)

    return as_inferlet


def asked(model: Model) -> Context:
    return Context(model).append(model.tokenizer().encode(PROMPT))


def sampler(use: RuleUse | None) -> Sampler:
    return Sampler.multinomial(1.0, seed=11).ruled(use)


async def by_hand(model: Model, use: RuleUse) -> list[int]:
    """One pass a token; the program carries the states."""
    ctx, own, tokens = Context(model), sampler(use), list[int]()
    given = model.tokenizer().encode(PROMPT)
    for _ in range(LENGTH):
        step = ctx.forward().input(given)
        drawn = step.sample([len(given) - 1], own)
        output = await step.execute()
        states, given = output.states(drawn), output.tokens_at(drawn)
        own = own.after(states[-1]) if states else own
        tokens += given
    return tokens


async def at_once(model: Model, use: RuleUse) -> list[int]:
    return await asked(model).generate(sampler(use), max_tokens=LENGTH, auto_flush=False).collect_tokens()


async def step_by_step(model: Model, use: RuleUse) -> list[int]:
    tokens: list[int] = []
    async for step in asked(model).generate(sampler(use), max_tokens=LENGTH, auto_flush=False):
        tokens += (await step.execute()).tokens
    return tokens


async def a_few_at_a_time(model: Model, use: RuleUse) -> list[int]:
    tokens: list[int] = []
    async for step in asked(model).generate(sampler(use), max_tokens=LENGTH, auto_flush=False):
        tokens += (await step.up_to(5).execute()).tokens
    return tokens


async def with_drafts(model: Model, use: RuleUse) -> list[int]:
    made = asked(model).generate(sampler(use), max_tokens=LENGTH, auto_flush=False, system_speculation=True)
    return await made.collect_tokens()


async def beside_others(model: Model, use: RuleUse) -> list[int]:
    texts = await asyncio.gather(at_once(model, use), *[at_once(model, other) for other in USES.values()])
    return texts[0]


WAYS = [at_once, step_by_step, a_few_at_a_time, with_drafts, beside_others]


@pytest.mark.parametrize("name", USES)
async def test_every_way_to_a_text_draws_the_same_tokens(run: Run, name: str) -> None:
    async def program(model: Model) -> None:
        expected = await by_hand(model, USES[name])
        for way in WAYS:
            assert await way(model, USES[name]) == expected, way.__name__

    await run(program)


async def test_mirostat_draws_what_a_computation_on_the_host_draws(run: Run) -> None:
    tau, rate, stream = 2.0, 0.3, 11

    async def program(model: Model) -> None:
        expected, mu = await at_once(model, rules.mirostat(tau, rate)), 2 * tau
        ctx, given = Context(model), model.tokenizer().encode(PROMPT)
        for counter, token in enumerate(expected):
            step = ctx.forward().input(given)
            probe = step.probe(len(given) - 1, Logits())
            row = np.frombuffer((await step.execute()).logits(probe) or b"", np.float32).astype(np.float64)
            surprise = (np.logaddexp.reduce(row) - row) / math.log(2)
            mass = np.where((surprise <= mu) | (surprise == surprise.min()), np.exp2(-surprise), 0.0)
            running = np.cumsum(mass / mass.sum())
            assert token == np.searchsorted(running, uniform(stream, counter, 0), side="right")
            mu -= rate * (-math.log2(mass[token] / mass.sum()) - tau)
            given = [token]

    await run(program)


async def test_the_program_sees_what_its_rule_carries(run: Run) -> None:
    @rule
    def counting(row: Row, drawn: Number) -> tuple[Value, dict[str, Number]]:
        return row.logits, {"drawn": drawn + 1.0}

    async def program(model: Model) -> dict[str, float]:
        made = asked(model).generate(sampler(counting(drawn=0)), max_tokens=9, auto_flush=False)
        await made.collect_tokens()
        assert made.sampler.rule is not None
        return made.sampler.rule.state

    assert await run(program) == {"drawn": 9.0}


async def test_a_watermark_is_found_again_and_only_with_its_key(run: Run) -> None:
    async def program(model: Model) -> tuple[float, float, float]:
        marked = sampler(rules.watermark(key=99, gamma=0.25, delta=10.0))
        texts = [
            await asked(model).generate(own, max_tokens=150, stop=[], auto_flush=False).collect_tokens()
            for own in (marked, Sampler.multinomial(1.0, seed=11))
        ]
        score = rules.watermark_z_score
        return score(texts[0], key=99), score(texts[0], key=100), score(texts[1], key=99)

    marked, other_key, plain = await run(program)
    assert marked > 6
    assert other_key < 4
    assert plain < 4


async def test_a_grammar_has_the_last_word(run: Run) -> None:
    @rule
    def upside_down(row: Row) -> Value:
        return -row.logits / 1e30

    async def program(model: Model) -> Any:
        made = (
            Context(model)
            .user("name a colour")
            .generate(
                Sampler.argmax().ruled(upside_down()),
                max_tokens=40,
            )
        )
        return await made.collect_json(
            schema={
                "type": "object",
                "properties": {"a": {"type": "boolean"}},
                "required": ["a"],
                "additionalProperties": False,
            }
        )

    assert (await run(program))["a"] in (True, False)


async def test_a_rule_whose_result_is_no_number_ends_its_pass_alone(run: Run) -> None:
    @rule
    def divides(row: Row, by: Number) -> Value:
        return row.logits / by

    async def program(model: Model) -> None:
        texts = [at_once(model, divides(by=by)) for by in (1.0, 0.0)]
        whole, failed = await asyncio.gather(*texts, return_exceptions=True)
        assert isinstance(whole, list)
        assert isinstance(failed, BatchFailedError)
        assert str(failed).startswith("rule divides: line ")

    await run(program)


async def test_a_rule_that_carries_states_draws_one_token_at_a_time(run: Run) -> None:
    async def program(model: Model) -> None:
        step = Context(model).forward().input([1])
        step.sample([0], Sampler.multinomial(1.0, draws=2).ruled(rules.mirostat()))
        with pytest.raises(InvalidArgumentError, match="2 draws at once, but it carries states"):
            await step.execute()

    await run(program)


@rule
def _until_spent(row: Row, spent: Number, budget: Number) -> tuple[Value, dict[str, Number], Value]:
    total = spent - row.log_probabilities.at(row.drawn)
    return row.logits, {"spent": total}, total > budget


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_a_rule_ends_a_text_after_the_same_token_on_every_way(run: Run, way: Any) -> None:
    use = _until_spent(spent=0.0, budget=7.0)

    async def program(model: Model) -> tuple[list[int], float]:
        free = asked(model).generate(Sampler.multinomial(1.0, seed=11).scored(), max_tokens=LENGTH, auto_flush=False)
        tokens, spent = list[int](), 0.0
        async for step in free:
            tokens += (await step.execute()).tokens
            spent = -free.score
            if spent > 7.0:
                break
        assert await way(model, use) == tokens
        return tokens, spent

    tokens, spent = await run(program)
    assert spent > 7.0
    assert 1 < len(tokens) < LENGTH


async def test_what_ended_a_text_is_told(run: Run, events: list[Event]) -> None:
    async def program(model: Model) -> str | None:
        made = asked(model).generate(sampler(_until_spent(spent=0.0, budget=3.0)), max_tokens=LENGTH, auto_flush=False)
        await made.collect_tokens()
        return made.finish_reason

    events.clear()
    assert await run(program) == "rule"
    assert [event.finish for event in events if isinstance(event, PassCompleted)][-1] == "rule"


@rule
def _until_turned(row: Row, direction: Vector) -> Value:
    return row.hidden_state.dot(direction) > 0.0


@pytest.mark.parametrize("seed", [1, 2, 4])
async def test_a_text_ends_where_its_hidden_state_says_so(run: Run, seed: int) -> None:
    direction = np.random.default_rng(seed).standard_normal(WIDTH)

    async def program(model: Model) -> tuple[int, str | None]:
        free = await asked(model).generate(sampler(None), max_tokens=LENGTH, auto_flush=False).collect_tokens()
        prompt = model.tokenizer().encode(PROMPT)
        step = Context(model).forward().input([*prompt, *free[:-1]])
        probes = [step.probe(len(prompt) - 1 + place, HiddenState()) for place in range(len(free))]
        output = await step.execute()
        turned = [float(np.dot(output.hidden_state(probe) or [], direction)) > 0.0 for probe in probes]
        made = asked(model).generate(sampler(None), max_tokens=LENGTH, auto_flush=False)
        drawn = await made.until(_until_turned(direction=direction.tolist())).collect_tokens()
        assert drawn == free[: turned.index(True) + 1]
        return len(drawn), made.finish_reason

    length, reason = await run(program)
    assert length < LENGTH
    assert reason == "rule"

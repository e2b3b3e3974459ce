"""Penalties count the tokens of a context's own text, whatever becomes of the context meanwhile."""

import asyncio

import numpy as np
import pytest

from inferlet import Context, Logits, Regex, Sampler
from pie_mlx.errors import InvalidArgumentError
from tests.engine.acts import GREEDY, step_by_step
from tests.engine.model.test_penalties import reference
from tests.engine.running import Running

PENALIZED = GREEDY.penalized(frequency=0.4, presence=0.9, repetition=1.3, bias={50: 2.0, 60: -8.0})


async def expected(context: Context, tokens: int, sampler: Sampler = PENALIZED) -> list[int]:
    """Greedy decoding in numpy, on logits that the program reads itself."""
    generator = context.generate(GREEDY, max_tokens=tokens, stop=[], auto_flush=False)
    prompt, drawn = await _text(context), list[int]()
    async for step in generator:
        row = step.clear_sampler().probe(-1, Logits())
        logits = (await step.execute()).logits(row)
        assert logits is not None
        values = np.frombuffer(logits, np.float32)
        drawn += generator.accept([int(reference(values, sampler, prompt, drawn).argmax())])
    return drawn


async def _text(context: Context) -> list[int]:
    """All that is in the context and its buffer."""
    assert context.seq_len == 0
    return context.buffer()


async def drawn(context: Context, tokens: int, sampler: Sampler = PENALIZED) -> list[int]:
    generator = context.generate(sampler, max_tokens=tokens, stop=[], auto_flush=False)
    return await generator.collect_tokens()


def begun(engine: Running, seed: int = 1) -> Context:
    context = Context(engine.model)
    context.append(engine.prompt(20, seed))
    return context


async def test_a_text_is_what_numpy_draws(engine: Running) -> None:  # L7
    with begun(engine) as plain, begun(engine) as first, begun(engine) as second, begun(engine) as free:
        wanted = await expected(plain, 40)
        assert await drawn(first, 40) == wanted
        generator = second.generate(PENALIZED, max_tokens=40, stop=[], auto_flush=False)
        assert await step_by_step(generator) == wanted
        assert await drawn(free, 40, GREEDY) != wanted


async def test_drafts_are_verified_with_the_penalties_of_their_own_row(engine: Running) -> None:  # L7, V2
    with begun(engine) as plain, begun(engine) as drafted:
        wanted = await expected(plain, 40)
        options = {"max_tokens": 40, "stop": [], "auto_flush": False, "system_speculation": True}
        assert await drafted.generate(PENALIZED, **options).collect_tokens() == wanted  # type: ignore[arg-type]


async def test_a_fork_counts_from_its_own_beginning_unless_it_names_one(engine: Running) -> None:  # L7, P13
    with begun(engine) as context, begun(engine) as plain:
        whole = await drawn(plain, 30)
        assert await drawn(context, 12) == whole[:12]
        with context.fork() as child, context.fork() as other:
            assert await drawn(child, 18, PENALIZED.penalized(**_penalties(since=20))) == whole[12:]
            assert await drawn(other, 18) != whole[12:]


def _penalties(since: int) -> dict[str, object]:
    one = PENALIZED
    return {
        "frequency": one.frequency_penalty,
        "presence": one.presence_penalty,
        "repetition": one.repetition_penalty,
        "bias": one.logit_bias,
        "since": since,
    }


async def test_a_suspended_text_goes_on_with_its_counts(engine: Running) -> None:  # L7, R1
    with begun(engine) as plain, begun(engine) as context:
        wanted = await drawn(plain, 30)
        generator = context.generate(PENALIZED, max_tokens=30, stop=[], auto_flush=False)
        tokens: list[int] = []
        async for step in generator:
            tokens += (await step.execute()).tokens
            if len(tokens) % 10 == 5:
                context.suspend()
        assert tokens == wanted


async def test_tokens_that_were_taken_back_count_no_longer(engine: Running) -> None:  # L7, P7
    sampler, more = GREEDY.penalized(presence=3.0, since=0), engine.prompt(30, 3)
    with begun(engine) as context, Context(engine.model) as plain:
        text = engine.prompt(20, 1) + await drawn(context, 10, sampler)
        context.truncate(context.inner().working_page_token_count())
        text[context.seq_len :] = [*context.buffer(), *more]
        context.append(more)
        plain.append(text)
        assert await drawn(context, 10, sampler) == await drawn(plain, 10, sampler)


async def test_streams_side_by_side_count_each_its_own(engine: Running) -> None:  # L7, E1
    contexts = [begun(engine, seed) for seed in range(4)]
    alone = [await drawn(context, 20) for context in contexts]
    again = [begun(engine, seed) for seed in range(4)]
    assert await asyncio.gather(*(drawn(context, 20) for context in again)) == alone


async def test_a_grammar_holds_whatever_is_biased(engine: Running) -> None:  # L7, F9
    sampler = GREEDY.penalized(bias={token: 1000.0 for token in engine.encode("xyz")}, presence=2.0)
    with begun(engine) as context:
        options = {"max_tokens": 30, "auto_flush": False, "constrain": Regex("[ab]{12}")}
        text = await context.generate(sampler, **options).collect_text()  # type: ignore[arg-type]
    assert len(text) == 12
    assert set(text) <= {"a", "b"}


async def test_what_a_probe_reads_has_no_penalties(engine: Running) -> None:  # L7, F9
    with begun(engine) as context:
        generator = context.generate(GREEDY.penalized(bias={7: 1000.0}).scored(), max_tokens=1, auto_flush=False)
        row = generator.probe_each_step(-1, Logits())
        output = await (await anext(generator)).execute()
        logits = output.logits(row)
        assert logits is not None
        assert output.tokens == [7]
        values = np.frombuffer(logits, np.float32).astype(np.float64)
        assert values.argmax() != 7
        assert generator.score == pytest.approx(values[7] - np.log(np.exp(values).sum()), abs=1e-3)


@pytest.mark.parametrize("options", [{"bias": {10**6: 1.0}}, {"presence": 1.0, "since": 21}])
async def test_what_the_text_or_the_vocabulary_does_not_have_is_refused(
    engine: Running, options: dict[str, object]
) -> None:
    with begun(engine) as context, pytest.raises(InvalidArgumentError):
        await drawn(context, 1, GREEDY.penalized(**options))  # type: ignore[arg-type]

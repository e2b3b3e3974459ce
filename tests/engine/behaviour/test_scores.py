"""A sampler that scores tells what another pass over the text would: however the tokens are drawn."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Logprob, Regex, Sampler
from tests.engine.running import Running, finished, in_context

SAMPLERS = [Sampler.argmax(), Sampler.multinomial(1.3, seed=5), Sampler.top_p(0.8, 0.95, seed=3)]

OPTIONS = st.fixed_dictionaries(
    {
        "sampler": st.sampled_from([sampler.scored() for sampler in SAMPLERS]),
        "max_tokens": st.integers(1, 24),
        "constrain": st.sampled_from([None, Regex(r"([a-z]{1,6} ){2,6}\.")]),
        "system_speculation": st.booleans(),
    }
)


async def judged(engine: Running, prompt: list[int], tokens: list[int]) -> list[float]:
    """The log-probability of each token, read in one pass."""
    with Context(engine.model) as judge:
        forward = judge.forward().input([*prompt, *tokens])
        probes = [forward.probe(place, Logprob(token)) for place, token in enumerate(tokens, len(prompt) - 1)]
        output = await forward.execute()
        return [(output.logprobs(probe) or [])[0] for probe in probes]


@given(seed=st.integers(300, 320), options=OPTIONS, at_once=st.sampled_from([1, 5, 24]))
@settings(max_examples=12)
def test_scores_are_those_of_another_pass(
    shared_engine: Running, seed: int, options: dict[str, Any], at_once: int
) -> None:
    async def compare() -> None:
        prompt = shared_engine.prompt(9, seed)
        with Context(shared_engine.model) as context:
            context.append(prompt)
            wanted = {**options, "stop": [], "auto_flush": False}
            generator = context.generate(wanted.pop("sampler"), **wanted)
            tokens, told = list[int](), list[float]()
            async for step in generator:
                output = await step.up_to(at_once).execute()
                tokens += output.tokens
                told += (output.logprobs(output.auto_sampler) or []) if output.auto_sampler else []
        assert told[: len(tokens)] == pytest.approx(await judged(shared_engine, prompt, tokens), abs=1e-3)
        assert generator.score == pytest.approx(sum(told[: len(tokens)]))

    with shared_engine.process() as host:
        finished(in_context(Running(shared_engine.core, shared_engine.events, host), compare()))


async def test_the_stop_token_counts(engine: Running) -> None:
    prompt = engine.prompt(9, 8)

    async def drawn(stop: list[int]) -> tuple[list[int], float]:
        with Context(engine.model) as context:
            context.append(prompt)
            sampler = Sampler.argmax().scored()
            generator = context.generate(sampler, max_tokens=8, stop=stop, auto_flush=False)
            return await generator.collect_tokens(), generator.score

    whole, _ = await drawn([])
    length = next(place for place in range(1, 8) if whole[place] not in whole[:place])
    tokens, score = await drawn([whole[length]])
    assert tokens == whole[:length]
    assert score == pytest.approx(sum(await judged(engine, prompt, whole[: length + 1])), abs=1e-3)


async def test_a_sampler_that_does_not_score_tells_tokens_alone(engine: Running) -> None:
    with Context(engine.model) as context:
        context.append(engine.prompt(9))
        generator = context.generate(Sampler.argmax(), max_tokens=2, stop=[], auto_flush=False)
        async for step in generator:
            output = await step.execute()
            assert output.auto_sampler is not None
            assert output.logprobs(output.auto_sampler) is None
    assert generator.score == 0.0

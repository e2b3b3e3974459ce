"""What programs do to their contexts, for engines that must draw the same whatever they compute ahead."""

import asyncio
from dataclasses import dataclass

from hypothesis import strategies as st

from inferlet import Context, Entropy, Generator, Sampler, rule
from inferlet.rules import Row, Value, where
from tests.engine.running import Running

GREEDY = Sampler.argmax()
WARM = Sampler.top_p(0.9, 0.95, seed=3)
FROM_FIVE = Sampler.top_k(0.7, 5, seed=9)
"""Drawn with the step whatever the logits are: those a top-p needs may be more than were looked for."""

PENALIZED = GREEDY.penalized(frequency=0.6, presence=0.5, repetition=1.2, bias={50: 1.5, 60: -4})


@rule
def _leaning(row: Row) -> Value:
    return where(row.hidden_state.at(0) > row.hidden_state.mean(), row.logits, -0.5 * row.logits)


LEANING = Sampler.multinomial(1.0, seed=5).ruled(_leaning())
"""Reads the hidden state of its row, of any model."""


@dataclass(frozen=True)
class Act:
    """One thing a program does to its context: `verb` with a number and a sampler."""

    verb: str
    count: int = 1
    sampler: Sampler = GREEDY


ACTS = st.builds(
    Act,
    st.sampled_from(["generate", "collect", "truncate", "fork", "feed", "suspend", "probe", "pause"]),
    st.integers(1, 20),
    st.sampled_from([GREEDY, WARM, FROM_FIVE, PENALIZED, FROM_FIVE.penalized(presence=2.0), LEANING]),
)


async def generated(context: Context, act: Act) -> list[int]:
    """All at once where it is collected, else step by step."""
    generator = context.generate(act.sampler, max_tokens=act.count, stop=[], auto_flush=False)
    if act.verb == "collect":
        return await generator.collect_tokens()
    if act.verb == "probe":
        generator.probe_each_step(-1, Entropy())
    return await step_by_step(generator)


async def step_by_step(generator: Generator) -> list[int]:
    return [token async for step in generator for token in (await step.execute()).tokens]


async def live(engine: Running, prompt: list[int], acts: list[Act]) -> list[int]:
    """A program's life; all tokens it drew."""
    drawn: list[int] = []
    with Context(engine.model) as context:
        context.append(prompt)
        for act in acts:
            match act.verb:
                case "truncate":
                    await context.flush()
                    context.truncate(min(act.count, context.inner().working_page_token_count()))
                    context.append([41])
                case "fork":
                    with context.fork() as child:
                        both = await asyncio.gather(generated(context, act), generated(child, act))
                        drawn += both[0] + both[1]
                case "feed":
                    context.append(engine.prompt(act.count, seed=5))
                case "suspend":
                    await context.flush()
                    context.suspend()
                    context.append([42])
                case "pause":
                    await asyncio.sleep(0)
                case _:
                    drawn += await generated(context, act)
            if not context.buffer():
                context.append([43])
    return drawn


async def lives(engine: Running, programs: list[list[Act]]) -> list[list[int]]:
    prompts = [engine.prompt(20 + 13 * number, seed=number) for number in range(len(programs))]
    return await asyncio.gather(*(live(engine, prompt, acts) for prompt, acts in zip(prompts, programs, strict=True)))

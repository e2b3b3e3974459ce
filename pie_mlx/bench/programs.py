"""The same work as programs of this engine, written in the usual way."""

import asyncio
import time
from collections.abc import Callable, Sequence

from inferlet import Context, Logits, Model, Sampler, runtime

Tokens = Sequence[int]


async def greedy(tokens: Tokens, new_tokens: int, context: Context | None = None) -> int:
    """The number of generated tokens; the context is released."""
    with context or Context(_model()) as held:
        return len(await _said(held, tokens, new_tokens, Sampler.argmax()))


async def stream(tokens: Tokens, new_tokens: int) -> float:
    """Decode tokens per second of one stream, from the first token on."""
    with Context(_model()) as context:
        context.append(list(tokens))
        generator = context.generate(Sampler.argmax(), max_tokens=new_tokens, stop=[], auto_flush=False)
        await (await anext(generator)).execute()
        started = time.perf_counter()
        count = len(await generator.collect_tokens()) - 1
        return count / (time.perf_counter() - started)


async def batch(prompts: Sequence[Tokens], new_tokens: int) -> float:
    """Seconds for all prompts with `new_tokens` each."""
    started = time.perf_counter()
    await asyncio.gather(*(greedy(tokens, new_tokens) for tokens in prompts))
    return time.perf_counter() - started


async def continuations(root_tokens: Tokens, tails: Sequence[Tokens], new_tokens: int) -> float:
    """Seconds for continuations on forks of one prompt."""
    started = time.perf_counter()
    with Context(_model()) as root:
        root.append(list(root_tokens))
        await root.flush()
        await asyncio.gather(*(greedy(tail, new_tokens, root.fork()) for tail in tails))
    return time.perf_counter() - started


async def first_token(tokens: Tokens) -> float:
    """Seconds to the first token of a prompt."""
    started = time.perf_counter()
    await greedy(tokens, 1)
    return time.perf_counter() - started


async def best_of(tokens: Tokens, candidates: int, new_tokens: int) -> float:
    """Seconds for drawing `candidates` answers on forks of one prompt, each with its score."""
    started = time.perf_counter()
    with Context(_model()) as root:
        root.append(list(tokens[:-1]))
        await root.flush()
        await asyncio.gather(*(_candidate(root, tokens[-1], new_tokens, seed) for seed in range(1, candidates + 1)))
    return time.perf_counter() - started


async def agent(task: Tokens, observations: Sequence[Tokens], new_tokens: int) -> float:
    """Seconds for turns of one agent that stays in its context."""
    started = time.perf_counter()
    with Context(_model()) as context:
        for heard in (task, *observations):
            await _said(context, heard, new_tokens, Sampler.argmax())
    return time.perf_counter() - started


async def last_logits(tokens: Tokens) -> bytes:
    """Logits [vocabulary], float32, after the last token."""
    with Context(_model()) as context:
        forward = context.forward().input(list(tokens))
        wanted = forward.probe(len(tokens) - 1, Logits())
        return (await forward.execute()).logits(wanted) or b""


def _model() -> Model:
    return Model.load(runtime.models()[0])


async def _said(context: Context, tokens: Tokens, new_tokens: int, sampler: Sampler) -> list[int]:
    context.append(list(tokens))
    generator = context.generate(sampler, max_tokens=new_tokens, stop=[], auto_flush=False)
    return await generator.collect_tokens()


async def _candidate(root: Context, last: int, new_tokens: int, seed: int) -> float:
    """The log-probability of one answer."""
    with root.fork() as context:
        context.append([last])
        sampler = Sampler.multinomial(1.0, seed=seed).scored()
        generator = context.generate(sampler, max_tokens=new_tokens, stop=[], auto_flush=False)
        await generator.collect_tokens()
        return generator.score


async def decode_together(prompts: Sequence[Tokens], new_tokens: int, prefilled: Callable[[], None]) -> None:
    """Prefill all streams to their first token, call `prefilled`, then generate the rest."""
    ready = asyncio.Barrier(len(prompts))

    async def one(tokens: Tokens) -> None:
        with Context(_model()) as context:
            context.append(list(tokens))
            generator = context.generate(Sampler.argmax(), max_tokens=new_tokens, stop=[], auto_flush=False)
            await (await anext(generator)).execute()
            if await ready.wait() == 0:
                prefilled()
            await ready.wait()
            await generator.collect_tokens()

    await asyncio.gather(*map(one, prompts))

"""Best of n: the prompt is computed once, n forks answer it side by side in one batch, and the likeliest answer wins.

How likely an answer is, its sampler tells: it scores each token as it draws it.

    pie run examples/best-of-n -- --n 8
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    sampler = Sampler.multinomial(input["temperature"]).scored()
    with Context(model) as prompt:
        await prompt.user(input["question"]).flush()
        candidates = await asyncio.gather(*(candidate(prompt, sampler, input["max_tokens"]) for _ in range(input["n"])))
    candidates.sort(reverse=True)
    for score, text in candidates:
        session.send(f"{score:6.2f}  {text}\n")
    return candidates[0][1]


async def candidate(prompt: Context, sampler: Sampler, max_tokens: int) -> tuple[float, str]:
    """One answer: its mean log-probability and its text."""
    with prompt.fork() as context:
        generator = context.generate(sampler, max_tokens=max_tokens)
        text = prompt.model.tokenizer().decode(await generator.collect_tokens())
    return generator.score / max(generator.tokens_generated, 1), text

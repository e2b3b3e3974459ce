"""A worker for the background: it bids next to nothing, leaves the pool while pages are dear, and ends with its budget.

Bids decide who stays when more pages are wanted than there are. This one is outbid by everybody else, and nothing is
lost by it: its contexts come back as they were when the price has fallen.

    pie run examples/background-worker --token-budget 100
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Sampler, errors, runtime, scheduling, session

PAUSE_SECONDS = 0.5


async def main(input: dict[str, Any]) -> int:
    model, done = Model.load(runtime.models()[0]), 0
    for job in input["jobs"]:
        try:
            text = await work(model, job, input)
        except errors.TokenBudgetError as error:
            session.send(f"{job} is left undone: {error}\n")
            break
        done += 1
        session.send(f"{job} {text}\n")
    session.send(f"[{done} of {len(input['jobs'])} done, {scheduling.balance(model):.1f} credits left]\n")
    return done


async def work(model: Model, job: str, input: dict[str, Any]) -> str:
    """One job, at a low bid for each of its tokens."""
    tokens: list[int] = []
    with Context(model) as context:
        async for step in context.user(job).generate(Sampler.argmax(), max_tokens=input["max_tokens"]):
            await until_cheap(context, input["dear"])
            context.set_bid(input["bid"])
            tokens += (await step.execute()).tokens
    return model.tokenizer().decode(tokens)


async def until_cheap(context: Context, dear: float) -> None:
    """Stay off the pool while a page costs more than that."""
    while scheduling.rent(context) > dear:
        context.suspend()
        await asyncio.sleep(PAUSE_SECONDS)

"""A prefix tree: conversations that begin alike are computed once as far as they are alike, and forked where they part.

All branches grow at the same time. In the end it tells how many tokens were computed, and how many it would have been
if each conversation had been held by itself.

    pie run examples/prefix-tree
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session

NOTES = "Use these notes: The red key is in the kitchen. The museum opens at 10:30. The cheese costs 12 euros."
TREE: dict[str, dict[str, Any]] = {
    "Where is the key?": {"When does the museum open?": {}, "How much is the cheese?": {}},
    "When does the museum open?": {"Where is the key?": {}, "How much is the cheese?": {}},
}


async def main(input: dict[str, Any]) -> dict[str, int]:
    model = Model.load(runtime.models()[0])
    with Context(model) as root:
        await root.system(NOTES).flush()
        grown = await asyncio.gather(*(grow(root, said, below, input["max_tokens"]) for said, below in TREE.items()))
        computed, alone = map(sum, zip((root.seq_len, 0), *grown, strict=True))
    session.send(f"{computed} tokens were computed, {alone} without sharing\n")
    return {"computed": computed, "alone": alone}


async def grow(parent: Context, said: str, below: dict[str, Any], max_tokens: int) -> tuple[int, int]:
    """Go on from a fork of the parent, then with all that is below. Tokens computed there, and without sharing."""
    with parent.fork() as context:
        answer = await context.user(said).generate(Sampler.argmax(), max_tokens=max_tokens).collect_text()
        await context.seal().flush()
        session.send(f"{said} {answer}\n")
        grown = await asyncio.gather(*(grow(context, more, rest, max_tokens) for more, rest in below.items()))
        computed = context.seq_len - parent.seq_len + sum(here for here, _ in grown)
        return computed, sum(alone for _, alone in grown) or context.seq_len

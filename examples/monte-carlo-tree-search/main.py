"""Monte-Carlo tree search: a story is steered, sentence by sentence, towards words the model is never told.

A node is a fork that ends with a sentence. Each round goes down to where stories were good or few, adds a sentence
there, tells several stories from it to their end, all in one batch, and counts the wanted words in them.

    pie run examples/monte-carlo-tree-search -- --wanted friend,garden
"""

import asyncio
import math
from typing import Any

from inferlet import Context, Model, Sampler, chat, runtime, session


class Node:
    """A beginning of a story."""

    def __init__(self, context: Context, text: str = "") -> None:
        self.context, self.text = context, text
        self.visits, self.reward = 0, 0.0
        self.children: list[Node] = []

    def promise(self, parent: "Node") -> float:
        """Its mean reward, and more the less it was tried (UCB1)."""
        return self.reward / self.visits + math.sqrt(math.log(parent.visits) / self.visits)


async def main(input: dict[str, Any]) -> str:
    model, wanted = Model.load(runtime.models()[0]), input["wanted"]
    prompt = Context(model).user(f"Tell me a story about a {input['thing']}.")
    await prompt.flush()
    root, best = Node(prompt.cue()), (-1.0, "")
    for _ in range(input["rounds"]):
        path = descend(root, input["branches"])
        path.append(await grow(path[-1]))
        stories = await asyncio.gather(*(rollout(path[-1]) for _ in range(input["rollouts"])))
        rewards = [sum(word in story for word in wanted) / len(wanted) for story in stories]
        for node in path:
            node.visits, node.reward = node.visits + 1, node.reward + sum(rewards) / len(rewards)
        best = max(best, *zip(rewards, stories, strict=True))
        session.send(f"{len(path) - 1} deep, {best[0]:.2f} at best: {path[-1].text}\n")
    return best[1]


def descend(node: Node, branches: int) -> list[Node]:
    """The way to a node that may have another child, by promise."""
    path = [node]
    while len(path[-1].children) == branches:
        parent = path[-1]
        path.append(max(parent.children, key=lambda child: child.promise(parent)))
    return path


async def grow(node: Node) -> Node:
    """Add a child: the story so far and one sentence more."""
    context = node.context.fork()
    child = Node(context, node.text + await tell(context, whole=False))
    node.children.append(child)
    return child


async def rollout(node: Node) -> str:
    """A story with this beginning."""
    with node.context.fork() as context:
        return node.text + await tell(context, whole=True)


async def tell(context: Context, *, whole: bool) -> str:
    """Go on to the end of the story, or of the sentence. Of a story that has ended nothing is left."""
    tokens: list[int] = []
    text = ""
    stops = chat.stop_tokens(context.model)
    async for step in context.generate(Sampler.top_p(0.9), max_tokens=48, auto_flush=False, stop=stops):
        tokens += (await step.execute()).tokens
        text = context.model.tokenizer().decode(tokens)
        if not whole and text.rstrip().endswith("."):
            break
    return text

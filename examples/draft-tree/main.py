"""A speculator that is not sure: it has seen several answers before, and guesses all of them at once.

The guesses are a tree whose branches share their beginnings. One pass checks every branch, each of which sees only
itself, and keeps the one that the model would have written. An answer that is none of them takes its usual time.

    pie run examples/draft-tree -- --question "What is the capital of Spain?"
"""

from typing import Any

from inferlet import Context, Model, Sampler, runtime, session


class Seen:
    """A Speculator: guesses at most `drafts` tokens of as many as `branches` texts, which begin as the answer does."""

    def __init__(self, context: Context, texts: list[list[int]], branches: int, drafts: int) -> None:
        self.context, self.texts, self.branches, self.drafts = context, texts, branches, drafts

    def reset(self) -> None:
        self.written: list[int] = []

    def draft(self) -> tuple[list[int], list[int], list[int]]:
        """Guesses, their positions, and for each the earlier guess that it follows, -1 for none."""
        first, done = self.context.seq_len + len(self.context.buffer()), len(self.written)
        rests = [text[done:] for text in self.texts if text[:done] == self.written][: self.branches]
        known: dict[tuple[int, ...], int] = {(): -1}  # where each beginning lies in the tree
        tokens, positions, parents = list[int](), list[int](), list[int]()
        for end in range(1, max(map(len, rests), default=0) + 1):  # token by token: all branches are as long
            for rest in rests:
                *before, token = begun = tuple(rest[:end])
                if begun not in known and tuple(before) in known and len(tokens) < self.drafts:
                    known[begun] = len(tokens)
                    tokens.append(token)
                    positions.append(first + end - 1)
                    parents.append(known[tuple(before)])
        return tokens, positions, parents

    def accept(self, tokens: list[int]) -> None:
        self.written += tokens

    def rollback(self, n: int) -> None: ...


async def main(input: dict[str, Any]) -> str:
    model, tokens, passes = Model.load(runtime.models()[0]), list[int](), 0
    texts = [model.tokenizer().encode(text) for text in input["seen"]]
    with Context(model) as context:
        speculator = Seen(context.user(input["question"]), texts, input["branches"], input["drafts"])
        async for step in context.generate(Sampler.argmax(), max_tokens=input["max_tokens"], speculator=speculator):
            tokens += (await step.execute()).tokens
            passes += 1
    session.send(f"tokens: {len(tokens)}, passes: {passes}\n")
    return model.tokenizer().decode(tokens)

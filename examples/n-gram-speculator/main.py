"""A speculator of one's own: guesses that what followed the last tokens before, here or in the prompt, follows again.

The model checks all guesses in one pass and keeps those it would have written itself: the answer is the same, only the
number of passes is not.

    pie run examples/n-gram-speculator -- --drafts 10
"""

from typing import Any

from inferlet import Context, Model, Sampler, runtime, session


class Repetition:
    """A Speculator: `draft` is asked for guesses, `accept` and `rollback` hear what became of them."""

    def __init__(self, context: Context, n: int, most: int) -> None:
        self.context, self.n, self.most = context, n, most
        self.drafted = self.wrong = 0

    def reset(self) -> None:
        """Begin with the prompt."""
        self.tokens = self.context.buffer()

    def draft(self) -> tuple[list[int], list[int]]:
        """Guesses and their positions, which follow those of the context and its buffer."""
        guesses = self.continuation()
        position = self.context.seq_len + len(self.context.buffer())
        self.drafted += len(guesses)
        return guesses, list(range(position, position + len(guesses)))

    def continuation(self) -> list[int]:
        """What followed the last `n` tokens when they stood there most recently."""
        tail = self.tokens[-self.n :]
        for end in range(len(self.tokens) - 1, self.n - 1, -1):
            if self.tokens[end - self.n : end] == tail:
                return self.tokens[end : end + self.most]
        return []

    def accept(self, tokens: list[int]) -> None:
        self.tokens += tokens

    def rollback(self, n: int) -> None:
        self.wrong += n


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        speculator = Repetition(context.user(input["question"]), input["n"], input["drafts"])
        generator = context.generate(Sampler.argmax(), max_tokens=input["max_tokens"], speculator=speculator)
        tokens: list[int] = []
        passes = 0
        async for step in generator:
            tokens += (await step.execute()).tokens
            passes += 1
    right = speculator.drafted - speculator.wrong
    session.send(f"{len(tokens)} tokens in {passes} passes, {right} of {speculator.drafted} guesses were right\n")
    return model.tokenizer().decode(tokens)

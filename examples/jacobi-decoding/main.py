"""Jacobi decoding: the next tokens are guessed all at once, and each pass corrects all of them by what stands before.

What the model confirms is kept, the rest is the next guess. A model that was not trained for it saves few passes. Wrong
guesses leave the context by truncation, which is why pages are committed by hand. (Santilli et al., Accelerating
Transformer Inference for Translation via Parallel Decoding, 2023.)

    pie run examples/jacobi-decoding -- --block 12
"""

from itertools import takewhile
from typing import Any

from inferlet import Context, Model, Sampler, chat, runtime, session


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    stops, passes = set(chat.stop_tokens(model)), 0
    tokens: list[int] = []
    with Context(model) as context:
        *head, last = chat.cue(model)
        await context.user(input["question"]).append(head).flush()
        guess = [last] * input["block"]
        while len(tokens) < input["max_tokens"] and stops.isdisjoint(tokens):
            kept, guess = await correct(context, last, guess)
            tokens, last, passes = tokens + kept, kept[-1], passes + 1
            guess += [last] * (input["block"] - len(guess))
    answer = list(takewhile(lambda token: token not in stops, tokens[: input["max_tokens"]]))
    session.send(f"{len(answer)} tokens in {passes} passes\n")
    return model.tokenizer().decode(answer)


async def correct(context: Context, last: int, guess: list[int]) -> tuple[list[int], list[int]]:
    """One pass over the last token and a guess. The tokens that are certain now, and a better guess for the others."""
    forward = context.forward().input([last, *guess]).defer_commit()
    drawn = forward.sample(range(len(guess) + 1), Sampler.argmax())
    better = (await forward.execute()).tokens_at(drawn)
    right = next((place for place, token in enumerate(guess) if token != better[place]), len(guess))
    context.truncate(len(guess) - right)
    commit_full_pages(context)
    return better[: right + 1], better[right + 1 :]


def commit_full_pages(context: Context) -> None:
    """What is certain becomes shareable."""
    pages = context.inner()
    pages.commit_working_pages(pages.working_page_token_count() // context.page_size)

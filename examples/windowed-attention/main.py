"""Windowed attention: a text is read under windows of several widths, each in one pass with a mask for every token.

The model repeats a list that stands some way before. As soon as the window no longer reaches back that far, it cannot
know what comes next: perplexity tells at which width that is.

    pie run examples/windowed-attention -- --windows 8,24,64
"""

import math
from typing import Any

from inferlet import Context, Logprob, Model, brle, chat, runtime, session


async def main(input: dict[str, Any]) -> dict[int, float]:
    model = Model.load(runtime.models()[0])
    prompt = [*chat.user(model, f"Repeat the list: {input['text']}"), *chat.cue(model)]
    answer = model.tokenizer().encode(input["text"])
    found: dict[int, float] = {}
    for window in map(int, input["windows"]):
        found[window] = await perplexity(model, prompt, answer, window)
        session.send(f"window {window:4}: perplexity {found[window]:10.2f}\n")
    return found


async def perplexity(model: Model, prompt: list[int], answer: list[int], window: int) -> float:
    """Of the answer after the prompt, when every token sees itself and the `window - 1` tokens before it."""
    tokens = [*prompt, *answer]
    with Context(model) as context:
        forward = context.forward().input(tokens)
        forward.attention_mask(brle.spans((max(end - window, 0), end)) for end in range(1, len(tokens) + 1))
        probes = [forward.probe(place, Logprob(token)) for place, token in enumerate(answer, len(prompt) - 1)]
        output = await forward.execute()
    return math.exp(-sum(value for probe in probes for value in output.logprobs(probe) or ()) / len(answer))

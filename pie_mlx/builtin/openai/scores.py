"""The log-probabilities of prompts, as evaluation harnesses ask for them."""

import asyncio

from decoding import Vocabulary, logprob_entry

from inferlet import Context, Distribution, Logprobs

READ_AT_ONCE = 128
"""Positions whose distributions are read in one pass: each takes memory for the whole vocabulary."""


async def prompt_entries(model, prompts, top):
    """The entries of all tokens of each prompt, with the `top` most likely ones; nothing predicts the first token.

    What several prompts begin with is computed once, and what differs side by side.
    """
    vocabulary = Vocabulary(model)
    found = [(tokens, [{**vocabulary.entry(tokens[0], None), "top_logprobs": None}]) for tokens in prompts]
    async with asyncio.TaskGroup() as group:
        for first in {tokens[0] for tokens in prompts}:
            alike = [one for one in found if one[0][0] == first]
            group.create_task(_read(Context(model), alike, 0, top, vocabulary))
    return [entries for _, entries in found]


async def _read(context, found, start, top, vocabulary):
    """Read the tokens from `start` on of prompts that are alike up to there and one token further."""
    try:
        alike = _common([tokens for tokens, _ in found])
        for begin in range(start, len(alike), READ_AT_ONCE):
            await _read_pass(context, found, begin, alike[begin : begin + READ_AT_ONCE], top, vocabulary)
        branches = {}
        for one in found:
            if len(one[0]) > len(alike):
                branches.setdefault(one[0][len(alike)], []).append(one)
        async with asyncio.TaskGroup() as group:
            for branch in branches.values():
                group.create_task(_read(context.fork(), branch, len(alike), top, vocabulary))
    finally:
        context.release()


def _common(prompts):
    """What all prompts begin with: what the first and the last of them in order begin with."""
    first, last = min(prompts), max(prompts)
    differs = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differs, len(first))]


async def _read_pass(context, found, begin, inputs, top, vocabulary):
    step, probes = context.forward().input(inputs), []
    for place in range(len(inputs)):
        followers = sorted({tokens[begin + place + 1] for tokens, _ in found if len(tokens) > begin + place + 1})
        if followers:
            values = step.probe(place, Logprobs(followers))
            likely = step.probe(place, Distribution(1.0, top)) if top else None
            probes.append((begin + place + 1, followers, values, likely))
    output = await step.execute()
    for place, followers, values, likely in probes:
        distribution = output.distribution(likely) if likely else None
        scored = zip(followers, output.logprobs(values), strict=True)
        entries = {token: logprob_entry(vocabulary, token, value, distribution) for token, value in scored}
        for tokens, its_entries in found:
            if len(tokens) > place:
                its_entries.append(entries[tokens[place]])

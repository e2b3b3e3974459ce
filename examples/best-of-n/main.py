"""Best of n: the prompt is computed once, n forks answer it side by side in one batch, and the likeliest answer wins.

How likely an answer is, one more pass over all of its tokens tells: it reads the log-probability of each.

    pie run examples/best-of-n -- --n 8
"""

import asyncio

from inferlet import Context, Logprob, Model, Sampler, chat, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    sampler = Sampler.multinomial(input["temperature"])
    with Context(model) as prompt:
        await prompt.user(input["question"]).flush()
        candidates = await asyncio.gather(*(candidate(prompt, sampler, input["max_tokens"]) for _ in range(input["n"])))
    candidates.sort(reverse=True)
    for score, text in candidates:
        session.send(f"{score:6.2f}  {text}\n")
    return candidates[0][1]


async def candidate(prompt, sampler, max_tokens):
    """One answer: its mean log-probability and its text."""
    with prompt.fork() as context:
        tokens = await context.generate(sampler, max_tokens=max_tokens).collect_tokens()
    return await mean_logprob(prompt, tokens), prompt.model.tokenizer().decode(tokens)


async def mean_logprob(prompt, tokens):
    """Natural logarithm of the probability per token, with everything read in one pass."""
    cue = list(chat.cue(prompt.model))
    with prompt.fork() as judge:
        forward = judge.forward().input([*cue, *tokens])
        probes = [forward.probe(place, Logprob(token)) for place, token in enumerate(tokens, len(cue) - 1)]
        output = await forward.execute()
    return sum(output.logprobs(probe)[0] for probe in probes) / max(len(tokens), 1)

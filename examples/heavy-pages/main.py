"""Heavy hitters: of a long conversation each token sees the last few tokens, and before these only the pages that got
most of the attention so far.

What a model will need again mostly is what it needed before (Zhang et al. 2023, arXiv 2306.14048; SnapKV, Li et al.
2024, arXiv 2404.14469). The scores come with each pass; the pages that nobody reads are masked, and not read at all.

    pie run examples/heavy-pages -- --pages 2
"""

from itertools import zip_longest
from typing import Any

from inferlet import AttentionScores, Context, Model, Sampler, brle, chat, runtime, session


async def main(input: dict[str, Any]) -> list[int]:
    scores = list[float]()
    with Context(Model.load(runtime.models()[0])) as context:
        for question in input["questions"]:
            answer = await reply(context, question, scores, input)
            session.send(f"{question} {answer}  [keeps pages {heaviest(scores, context, input)} of {len(scores)}]\n")
        return heaviest(scores, context, input)


async def reply(context: Context, question: str, scores: list[float], input: dict[str, Any]) -> str:
    """Ask and answer; `scores` has the attention that each page got so far."""
    model, answer = context.model, list[int]()
    tokens = [*chat.user(model, question), *chat.cue(model)]
    while len(answer) < input["max_tokens"]:
        tokens = await advance(context, tokens, scores, input)
        if tokens[0] in chat.stop_tokens(model):
            break
        answer += tokens
    await advance(context, chat.seal(model), scores, input)
    return model.tokenizer().decode(answer)


async def advance(context: Context, tokens: list[int], scores: list[float], input: dict[str, Any]) -> list[int]:
    """One pass in which every token sees the heaviest pages and the window that ends with it."""
    size, kept = context.page_size, heaviest(scores, context, input)
    spans = [(page * size, (page + 1) * size) for page in kept]
    ends = range(context.seq_len + 1, context.seq_len + len(tokens) + 1)
    masks = [brle.spans(*spans, (max(end - input["window"], 0), end)) for end in ends]
    forward = context.forward().input(tokens).attention_mask(masks)
    drawn = forward.sample([len(tokens) - 1], Sampler.argmax())
    probe = forward.probe(len(tokens) - 1, AttentionScores(rows=min(len(tokens), 64)))
    output = await forward.execute()
    (found,) = output.attention_scores(probe) or []
    scores[:] = [before + new for before, new in zip_longest(scores, found, fillvalue=0.0)]
    return output.tokens_at(drawn)


def heaviest(scores: list[float], context: Context, input: dict[str, Any]) -> list[int]:
    """Of the pages before the window those with the highest scores."""
    before = range(max(context.seq_len - input["window"], 0) // context.page_size)
    return sorted(sorted(before, key=scores.__getitem__, reverse=True)[: input["pages"]])

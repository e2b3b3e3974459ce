"""Attention sinks: a conversation may go on for ever while each token sees only the first few tokens and the last ones.

Models put much of their attention on the first tokens, whatever these say; with them in sight, a window over the rest
suffices. The pages between are not read, and the cost of a token stays the same however long the conversation is.

    pie run examples/attention-sink -- --window 40
"""

from typing import Any

from inferlet import Context, Model, Output, SampleHandle, Sampler, brle, chat, runtime, session


async def main(input: dict[str, Any]) -> int:
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        for question in input["questions"]:
            answer = await reply(context, question, input)
            seen = min(input["sink"] + input["window"], context.seq_len)
            session.send(f"{question} {answer}  [sees {seen} of {context.seq_len} tokens]\n")
        return context.seq_len


async def reply(context: Context, question: str, input: dict[str, Any]) -> str:
    """Ask and answer; the end of the turn is computed with the next question."""
    model = context.model
    answer: list[int] = []
    tokens = [*chat.user(model, question), *chat.cue(model)]
    while len(answer) < input["max_tokens"]:
        output, drawn = await advance(context, tokens, input["sink"], input["window"])
        tokens = output.tokens_at(drawn)
        if tokens[0] in chat.stop_tokens(model):
            break
        answer += tokens
    await advance(context, chat.seal(model), input["sink"], input["window"])
    return model.tokenizer().decode(answer)


async def advance(context: Context, tokens: list[int], sink: int, window: int) -> tuple[Output, SampleHandle]:
    """One pass in which every token sees the sink and the window that ends with it."""
    ends = range(context.seq_len + 1, context.seq_len + len(tokens) + 1)
    masks = [brle.spans((0, min(sink, end)), (max(end - window, 0), end)) for end in ends]
    forward = context.forward().input(tokens).attention_mask(masks)
    drawn = forward.sample([len(tokens) - 1], Sampler.argmax())
    return await forward.execute(), drawn

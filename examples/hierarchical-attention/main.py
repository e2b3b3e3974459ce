"""Hierarchical attention: each section is read by itself, the model writes a gist of each, and an answer sees all the
gists but only the one section that fits the question.

Three levels in one context, kept apart by masks: what an answer reads grows with the gists, not with the text.

    pie run examples/hierarchical-attention -- --question "What did Peter buy?"
"""

from typing import Any

from inferlet import Context, Model, Sampler, brle, chat, runtime, session

SECTIONS = (
    "Anna was looking for a flag. It was not easy to find. In the end it was in the kitchen.",
    "On Monday there was a meeting. Tom and Nina were there. They talked about music for a long time.",
    "In May, Peter travelled to Rome. The weather was sunny. Peter bought a lamp there.",
)


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        places: list[range] = []
        gists: list[range] = []
        for section in SECTIONS:
            start = context.seq_len
            gist, place = await reply(context, f"Summarize: {section}", [], input["max_tokens"])
            session.send(f"gist: {gist}\n")
            places.append(range(start, place.start))
            gists.append(place)
        best = places[most_alike(input["question"])]
        answer, place = await reply(context, input["question"], [*gists, best], input["max_tokens"])
        seen = sum(map(len, gists)) + len(best)
        session.send(f"the answer saw {seen} of {place.start} tokens before it\n")
    return answer


def most_alike(question: str) -> int:
    """The number of the section that shares most words with the question."""
    words = set(question.lower().strip("?").split())
    return max(range(len(SECTIONS)), key=lambda number: len(words & set(SECTIONS[number].lower().split())))


async def reply(context: Context, text: str, sights: list[range], max_tokens: int) -> tuple[str, range]:
    """Ask and answer, seeing what lies at `sights` and itself. The answer, and the slots where it lies."""
    model, begin = context.model, context.seq_len
    answer: list[int] = []
    tokens = [*chat.user(model, text), *chat.cue(model)]
    answer_begin = begin + len(tokens)
    while len(answer) < max_tokens:
        sight = brle.spans(*sights, (begin, context.seq_len + len(tokens)))
        forward = context.forward().input(tokens).attention_mask([sight] * len(tokens))
        drawn = forward.sample([len(tokens) - 1], Sampler.argmax())
        tokens = (await forward.execute()).tokens_at(drawn)
        if tokens[0] in chat.stop_tokens(model):
            break
        answer += tokens
    return model.tokenizer().decode(answer), range(answer_begin, context.seq_len)

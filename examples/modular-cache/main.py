"""A modular cache: pieces of a conversation are computed once and combined afterwards, in any selection.

All modules lie in one context. Attention masks keep them blind to each other, so that each is the same whatever it is
combined with; a question then sees the modules that were chosen, and the pages of the others are not even read.

    pie run examples/modular-cache -- --question "Where do I live?"
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Sampler, brle, chat, runtime, session

MODULES = {
    "name": ("My name is Anna.", "Nice to meet you, Anna!"),
    "home": ("I live in Oslo.", "Good to know."),
    "taste": ("My favourite colour is blue.", "I will remember that."),
}
SELECTIONS = (["name"], ["home"], ["name", "home"], ["taste", "home"])


async def main(input: dict[str, Any]) -> list[str]:
    with Context(Model.load(runtime.models()[0])) as library:
        places = {name: await shelve(library, *turns) for name, turns in MODULES.items()}
        answers = await asyncio.gather(
            *(ask(library, [places[name] for name in chosen], input) for chosen in SELECTIONS)
        )
    for chosen, answer in zip(SELECTIONS, answers, strict=True):
        session.send(f"{' + '.join(chosen):16} {answer}\n")
    return answers


async def shelve(library: Context, said: str, reply: str) -> range:
    """Compute a module that sees itself alone; the slots where it lies."""
    tokens = [*chat.user(library.model, said), *chat.assistant(library.model, reply)]
    place = range(library.seq_len, library.seq_len + len(tokens))
    await library.forward().input(tokens).attention_mask([brle.spans(place)] * len(tokens)).execute()
    return place


async def ask(library: Context, places: list[range], input: dict[str, Any]) -> str:
    """The answer of a fork that sees these modules and itself."""
    model = library.model
    answer: list[int] = []
    tokens = [*chat.user(model, input["question"]), *chat.cue(model)]
    with library.fork() as context:
        while len(answer) < input["max_tokens"]:
            sight = brle.spans(*places, (library.seq_len, context.seq_len + len(tokens)))
            forward = context.forward().input(tokens).attention_mask([sight] * len(tokens))
            drawn = forward.sample([len(tokens) - 1], Sampler.argmax())
            tokens = (await forward.execute()).tokens_at(drawn)
            if tokens[0] in chat.stop_tokens(model):
                break
            answer += tokens
    return model.tokenizer().decode(answer)

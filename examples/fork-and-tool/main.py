"""A prefix is computed once; two forks share its pages, write only what differs, and pay only for that.

One fork streams an answer, the other calls a tool and reads what it gave. The table in the end counts pages.

    pie run examples/fork-and-tool -- --city Lima
"""

from typing import Any

import weather

from inferlet import Context, Model, Sampler, chat, runtime, session, tools


async def main(input: dict[str, Any]) -> None:
    model = Model.load(runtime.models()[0])
    with Context(model) as common:
        common.system("You are a helpful assistant.").equip_tools([weather.SCHEMA])
        await common.flush()
        with common.fork() as first, common.fork() as second:
            session.send(f"> {input['question']}\n")
            await answer(first.user(input["question"]), input["max_tokens"])

            session.send(f"\n> What is the weather in {input['city']}?\n")
            called = await answer(second.user(f"What is the weather in {input['city']}?"), input["max_tokens"])
            for name, arguments in called:
                result = weather.call(name, arguments)
                session.send(f"[{name} {arguments} -> {result}]\n")
                second.seal().answer_tool(name, result)
            if called:
                await answer(second, input["max_tokens"])
            else:
                session.send("[the model called no tool]\n")

            session.send("\n" + page_table(common, first, second))


async def answer(context: Context, max_tokens: int) -> list[tuple[str, str]]:
    """Stream the model's turn to the client; the tool calls in it are given back."""
    text, calls = chat.Decoder(context.model), tools.Decoder(context.model)
    called: list[tuple[str, str]] = []
    async for step in context.generate(Sampler.argmax(), max_tokens=max_tokens):
        output = await step.execute()
        heard, call = text.feed(output.tokens), calls.feed(output.tokens)
        if isinstance(heard, chat.Event.Delta):
            session.send(heard.text)
        if isinstance(call, tools.Event.Call):
            called.append((call.name, call.args))
    session.send("\n")
    return called


def page_table(common: Context, *forks: Context) -> str:
    """Pages of each context, and what the pool really holds: shared pages are there once."""
    shared = common.inner().committed_page_count()
    counts = [pages(context) for context in (common, *forks)]
    own = [count - shared for count in counts]
    lines = [f"{'':10}{'pages':>8}{'shared':>8}{'own':>8}"]
    for name, count, private in zip(("common", "first", "second"), counts, own, strict=True):
        lines.append(f"{name:10}{count:>8}{shared:>8}{private:>8}")
    lines.append(f"{shared + sum(own)} pages hold what would take {sum(counts)} without sharing")
    return "\n".join(lines) + "\n"


def pages(context: Context) -> int:
    raw = context.inner()
    return raw.committed_page_count() + raw.working_page_count()

"""A conversation that outlives the program: it is saved under a name, with its pages, and the next run goes on with it.

An engine that stays (`pie serve`) has its pages still and computes nothing again. Another one, as each `pie run`
without a server starts, finds its tokens on disk, and its pages too if KV is kept there (`pie config set
model.0.engine.kv_disk on`).

    pie run examples/snapshots -- --say "My name is Anna."
    pie run examples/snapshots -- --say "What is my name?"
"""

from typing import Any

from inferlet import Context, Model, Sampler, errors, runtime, session


def kept_conversation(model: Model, name: str) -> Context | None:
    """None where there is none, or one of another model."""
    try:
        return Context.open(model, name)
    except errors.SnapshotIncompatibleError as error:
        session.send(f"[{error}; beginning anew]\n")


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    kept = None if input["forget"] else kept_conversation(model, input["name"])
    with kept or Context(model) as context:
        before = context.seq_len
        context.user(input["say"])
        answer = await context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]).collect_text()
        context.seal().save(input["name"], persist=True)
        session.send(f"[{before} tokens were kept, {context.seq_len - before} are new]\n")
    return answer

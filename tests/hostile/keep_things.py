"""A program that is not hostile: what its user keeps is what others are after."""

from inferlet import Adapter, Context, Model, messaging, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    context = Context(model)
    context.append(range(20))
    await context.flush()
    context.save("theirs")
    if Adapter.open(model, "theirs") is None:
        Adapter.create(model, "theirs")
    news = messaging.subscribe("theirs")
    messaging.push("theirs", "kept")
    session.send("kept")
    await session.receive()
    return {
        "snapshot": Context.open(model, "theirs") is not None,
        "adapter": Adapter.open(model, "theirs") is not None,
        "message": await messaging.pull("theirs"),
        "heard": news.get(),
    }

"""What belongs to another user can be neither found, read, changed nor awaited."""

import asyncio

from inferlet import Adapter, Context, Model, mcp, messaging, runtime


async def soon(work):
    async with asyncio.timeout(0.05):
        return await work


def heard():
    messaging.broadcast("theirs", "from a stranger")


async def main(input):
    model = Model.load(runtime.models()[0])
    ways = {
        "snapshot": lambda: Context.open(model, "theirs"),
        "snapshot, taken": lambda: Context.take(model, "theirs"),
        "snapshot, deleted": lambda: Context.delete(model, "theirs"),
        "adapter": lambda: Adapter.open(model, "theirs"),
        "tool server": lambda: mcp.connect("theirs"),
        "message": lambda: soon(messaging.pull("theirs")),
        "broadcast": heard,
        "program": lambda: runtime.launch(f"{input['process']}", {}).result(),
    }
    worked = []
    for name, way in ways.items():
        try:
            found = way()
            if asyncio.iscoroutine(found):
                found = await found
        except (Exception, TimeoutError):
            continue
        if found is not None:
            worked.append(name)
    if runtime.username() != "mallory":
        worked.append("name")
    return {"tried": len(ways) + 1, "worked": worked}

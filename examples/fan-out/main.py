"""Fan-out: a program launches one of its own for each text, and waits for all of them.

Children run in processes of their own, on the wallet of their parent; one that fails takes nobody with it.

    pie run examples/fan-out
"""

import asyncio
from typing import Any

from inferlet import errors, runtime, session


async def main(input: dict[str, Any]) -> str:
    children = [runtime.launch("reader.py", {"text": text}) for text in input["texts"]]
    people: list[dict[str, Any]] = []
    for child, found in zip(children, await asyncio.gather(*map(result, children)), strict=True):
        if isinstance(found, errors.ChildFailedError):
            session.send(f"{child.pid[:8]} failed: {found}\n")
        else:
            session.send(f"{child.pid[:8]} found {found}\n")
            people.append(found)
    ages = sorted((person["age"], person["name"]) for person in people)
    return f"from {ages[0][1]} ({ages[0][0]}) to {ages[-1][1]} ({ages[-1][0]})" if ages else "nobody"


async def result(child: runtime.Child) -> Any:
    """What a child returned, or the error that ended it."""
    try:
        return await child.result()
    except errors.ChildFailedError as error:
        return error

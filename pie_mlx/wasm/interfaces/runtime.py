"""`pie:core/runtime`."""

import json
from functools import partial
from typing import Any

from inferlet import runtime as sdk
from pie_mlx.errors import PieError
from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Eventually
from pie_mlx.wasm.wasi.poll import Pollable


class Child:
    """A program that this one launched. It goes on when its handle is dropped."""

    def __init__(self, child: sdk.Child) -> None:
        self._child = child
        self._ending = Eventually(partial(_outcome, child))

    def pollable(self) -> Pollable:
        return Pollable(self._ending.pending)

    def get(self) -> "str | WitError | None":
        """Its value as text, or its error; None while it runs."""
        return self._ending.now()

    def pid(self) -> str:
        return self._child.pid

    def cancel(self) -> None:
        self._child.cancel()


def launch(program: str, input: str) -> Child:
    return Child(sdk.launch(program, input))


async def _outcome(child: sdk.Child) -> "str | WitError":
    try:
        value: Any = await child.result()
    except PieError as error:
        return WitError(error.message)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


INTERFACES = (
    Interface("pie:core/runtime", (sdk.version, sdk.instance_id, sdk.username, sdk.models, launch), (Child,)),
)

"""Limits on the contents of one frame of a worker, by kind of call.

Decoding holds the interpreter, so nothing else of the engine runs: the limits bound it to about 25 ms. They also bound
the work of the call's handler.
"""

from typing import NamedTuple

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.msgpack_count import Counts


class Budget(NamedTuple):
    """`size_bytes` excludes one block of bytes, which holds a file or weights and is not decoded further."""

    size_bytes: int
    most: Counts = Counts(values=4_096, containers=256)

    def check_size(self, kind: str, size_bytes: int) -> None:
        """Raises InvalidArgumentError."""
        if size_bytes > self.size_bytes:
            raise InvalidArgumentError(
                f"{kind}: a call of {size_bytes} bytes, the limit is {self.size_bytes}", hint="send it in smaller parts"
            )

    def check_counts(self, kind: str, found: Counts) -> None:
        """Raises InvalidArgumentError."""
        for what, number, limit in zip(("values", "lists and objects"), found, self.most, strict=True):
            if number > limit:
                raise InvalidArgumentError(
                    f"{kind}: a call of more than {limit} {what}", hint="send them in several calls"
                )


USUAL = Budget(5 << 18)
"""A text of a million bytes with its envelope."""

_TOKENS = Counts(values=1 << 19, containers=256)
_CHATS = Counts(values=1 << 18, containers=1 << 15)

BUDGETS = {
    "advance_matcher": Budget(4 << 20, _TOKENS),
    "compile_grammar": Budget(4 << 20, Counts(values=1 << 18, containers=256)),
    "decode": Budget(4 << 20, _TOKENS),
    "embed": Budget(8 << 20, Counts(values=1 << 19, containers=1 << 11)),
    "encode": Budget(8 << 20),
    "forward": Budget(8 << 20, Counts(values=1 << 19, containers=1 << 16)),
    "launch_child": Budget(33 << 18),
    "parse_tool_call": Budget(4 << 20),
    "render_turn": Budget(8 << 20, _CHATS),
    "rerank": Budget(8 << 20),
    "save_snapshot": Budget(8 << 20, Counts(values=1 << 19, containers=1 << 15)),
    "update_evolution": Budget(4 << 20, Counts(values=1 << 18, containers=256)),
    "ended": Budget(6 << 20),
}
"""Budgets by call, and for the end of a program; USUAL for others."""

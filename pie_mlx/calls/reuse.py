"""How the tokens of a prompt came to have KV, and why the first that were computed had not been cached."""

import time
from typing import Literal

from pie_mlx.calls.base import Record

MissReason = Literal["new", "differs", "adapter", "mask", "positions", "evicted", "state"]


class Miss(Record, frozen=True):
    """Why the page from token `position` of the context on was not cached, although the ones before it were.

    `new`: no cached page of this user goes on there. `differs`: one does, and reads `cached_text` where this prompt
    reads `text`, from `position` on. `adapter`, `mask` and `positions`: a cached page has the same tokens, computed
    with another adapter, mask or positions. `evicted`: the page made room at `evicted_at` (Unix seconds) for
    `evicted_for`, which is empty if that is not known, or not for this user to know. `state`: the pages are there, but
    not what recurrent layers remember after them.
    """

    reason: MissReason
    position: int
    text: str = ""
    cached_text: str = ""
    evicted_at: float = 0.0
    evicted_for: str = ""

    def __str__(self) -> str:
        """One line for people, e.g. `token 96: this prompt reads 'Tues', the cached one 'Wednes'`."""
        return f"token {self.position:,}: {self._cause()}"

    def _cause(self) -> str:
        match self.reason:
            case "new":
                return "nothing was computed after it before"
            case "differs":
                return f"this prompt reads {self.text!r}, the cached one {self.cached_text!r}"
            case "adapter" | "mask":
                return f"cached with another {self.reason}"
            case "positions":
                return "cached at other positions"
            case "evicted":
                at = time.strftime("%H:%M:%S", time.localtime(self.evicted_at))
                return f"evicted at {at} for {self.evicted_for or 'another program'}"
            case "state":
                return "the state of recurrent layers after it was not kept"


class Reuse(Record, frozen=True):
    """The tokens of prompts by how they came to have KV: attached `from_memory` or `from_disk`, `replayed` by recurrent
    layers over attached pages, or `computed`. `from_disk` also counts what was read to bring a context back that had
    left the pool, or was opened. `miss` is about the first page that was not attached, None if all were.
    """

    from_memory: int = 0
    from_disk: int = 0
    replayed: int = 0
    computed: int = 0
    miss: Miss | None = None

    def __add__(self, later: "Reuse") -> "Reuse":
        """The reuse of two prompts together; the miss is that of the later one, if it has one."""
        return Reuse(
            self.from_memory + later.from_memory,
            self.from_disk + later.from_disk,
            self.replayed + later.replayed,
            self.computed + later.computed,
            later.miss or self.miss,
        )

"""Contexts, their pages, and snapshots."""

from pie_mlx.calls.base import Call, Record
from pie_mlx.calls.chat import ChatState


class PageCounters(Record, frozen=True):
    """Committed pages, working pages, and all working tokens (P9)."""

    committed: int = 0
    working: int = 0
    working_tokens: int = 0

    def sequence_length(self, page_size: int) -> int:
        """Tokens whose KV the context holds."""
        return self.committed * page_size + self.working_tokens


class ContextState(Record, frozen=True):
    """A context that the caller owns."""

    context: int
    counters: PageCounters = PageCounters()


class PendingInput(Record, frozen=True):
    """What the SDK holds for a context and has no KV yet: buffered tokens and the state of the conversation.

    `cued` is the slot after the last cue; `lead` are the tokens of the reply to it that decide what comes next: the
    header of a message, the end of a thought. `stopped`: a stop token has ended the text, and
    nothing was buffered since.
    """

    tokens: list[int] = []
    chat: ChatState = ChatState()
    cued: int | None = None
    lead: list[int] = []
    stopped: bool = False


class CreateContext(Call[ContextState], frozen=True):
    """An empty context."""

    model: str


class ForkContext(Call[ContextState], frozen=True):
    """A copy that shares every committed page (P13)."""

    context: int


class ReleaseContext(Call[None], frozen=True):
    """Give back a context and its pages; unknown ids are ignored, so releasing twice is no error (P15).

    `claimed` prefetched tokens have been used since its last pass.
    """

    context: int
    claimed: int = 0


class ReservePages(Call[PageCounters], frozen=True):
    """Add working pages (P4)."""

    context: int
    pages: int


class CommitPages(Call[PageCounters], frozen=True):
    """Turn full working pages into committed ones (P7)."""

    context: int
    pages: int


class ReleasePages(Call[PageCounters], frozen=True):
    """Free working pages from the tail (P5)."""

    context: int
    pages: int


class TruncateTokens(Call[PageCounters], frozen=True):
    """Forget working tokens from the tail (P6)."""

    context: int
    tokens: int


class CheckpointContext(Call[None], frozen=True):
    """Keep what recurrent layers remember of the tokens that have KV, if the model has such layers."""

    context: int


class SaveSnapshot(Call[str], frozen=True):
    """Save under `name`, or under a fresh name if it is empty. The reply is the name (N1-N3).

    `persist`: also on disk; None is as configured (N7).
    """

    context: int
    pending: PendingInput
    name: str = ""
    persist: bool | None = None


class OpenedSnapshot(Record, frozen=True):
    """A context made from a snapshot, and its pending input at the time of saving."""

    state: ContextState
    pending: PendingInput


class OpenSnapshot(Call[OpenedSnapshot | None], frozen=True):
    """Copy a snapshot into a context, or move it there with `take`; None if there is none of that name (N4)."""

    model: str
    name: str
    take: bool = False


class DeleteSnapshot(Call[None], frozen=True):
    """Drop a snapshot. Raises SnapshotNotFoundError."""

    model: str
    name: str

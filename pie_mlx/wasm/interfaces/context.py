"""`pie:core/context`: contexts, their pages and snapshots."""

from inferlet._calls.host import HostLink, current_host
from pie_mlx import calls
from pie_mlx.errors import SnapshotNotFoundError
from pie_mlx.wasm.interfaces.model import Model
from pie_mlx.wasm.offers import Interface

_AFTER_TOKENS = calls.ChatState("flush", inline=True)
"""The state of a conversation that was written as tokens."""


class Context:
    """A context of the engine, released with its last reference. `counters` are those of the last reply."""

    def __init__(self, model: Model, state: calls.ContextState) -> None:
        self._model = model
        self.number = state.context
        self.counters = state.counters
        self.host: HostLink = model.sdk.host

    @classmethod
    def create(cls, model: Model) -> "Context":
        return cls(model, current_host().call(calls.CreateContext(model.sdk.name)))

    @classmethod
    def open(cls, model: Model, name: str) -> "Context":
        return _opened(model, name, take=False)

    @classmethod
    def take(cls, model: Model, name: str) -> "Context":
        return _opened(model, name, take=True)

    @classmethod
    def delete(cls, model: Model, name: str) -> None:
        current_host().call(calls.DeleteSnapshot(model.sdk.name, name))

    def fork(self) -> "Context":
        return Context(self._model, self.host.call(calls.ForkContext(self.number)))

    def save(self, name: str) -> None:
        _save(self, name)

    def snapshot(self) -> str:
        return _save(self, "")

    def destroy(self) -> None:
        self.host.call(calls.ReleaseContext(self.number))

    def tokens_per_page(self) -> int:
        return self._model.sdk.info.page_size

    def model(self) -> Model:
        return Model(self._model.sdk)

    def committed_page_count(self) -> int:
        return self.counters.committed

    def working_page_count(self) -> int:
        return self.counters.working

    def working_page_token_count(self) -> int:
        return self.counters.working_tokens

    def commit_working_pages(self, count: int) -> None:
        self.counters = self.host.call(calls.CommitPages(self.number, count))

    def reserve_working_pages(self, count: int) -> None:
        self.counters = self.host.call(calls.ReservePages(self.number, count))

    def release_working_pages(self, count: int) -> None:
        self.counters = self.host.call(calls.ReleasePages(self.number, count))

    def truncate_working_page_tokens(self, count: int) -> None:
        self.counters = self.host.call(calls.TruncateTokens(self.number, count))

    def suspend(self) -> None:
        self.host.call(calls.SuspendContext(self.number))

    def bid(self, value: float) -> None:
        self.host.post(calls.SetBid(self.number, value))

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            self.host.drop(calls.ReleaseContext(self.number))
        except Exception:
            return


def _opened(model: Model, name: str, *, take: bool) -> Context:
    """What its program had not computed yet is computed. Raises SnapshotNotFoundError."""
    host = current_host()
    found = host.call(calls.OpenSnapshot(model.sdk.name, name, take))
    if found is None:
        raise SnapshotNotFoundError(f"snapshot '{name}': there is none", hint="save it first")
    context = Context(model, found.state)
    if found.pending.tokens:
        context.counters = host.call(calls.Forward(context.number, pending=found.pending.tokens)).counters
    return context


def _save(context: Context, name: str) -> str:
    is_empty = context.counters == calls.PageCounters()
    chat = calls.ChatState() if is_empty else _AFTER_TOKENS
    return context.host.call(calls.SaveSnapshot(context.number, calls.PendingInput(chat=chat), name))


INTERFACES = (Interface("pie:core/context", (), (Context,)),)

"""Contexts: sequences of KV pages with a pending buffer."""

from collections.abc import Generator as Scope
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Self, cast

from inferlet._calls.checks import checked_text, integer, number, token_list
from inferlet._calls.payload import spaced_text
from inferlet._context.handle import ContextHandle
from inferlet._context.pending import PendingBuffer
from inferlet._context.turn_tokens import TurnTokens
from inferlet._generation.drafting import Drafting, NoDrafting, ProgramDrafting, SystemDrafting
from inferlet._generation.others import Member, Others
from inferlet.adapter import Adapter, checked_adapter
from inferlet.forward import Forward
from inferlet.generator import Constraints, Generator
from inferlet.model import Model, checked_model
from inferlet.raw import RawContext
from inferlet.spec import Speculator
from pie_mlx import calls
from pie_mlx.calls import (
    CheckpointContext,
    ContextState,
    CreateContext,
    DeleteSnapshot,
    DemoteContext,
    DraftSourceName,
    ExpectContext,
    ForkContext,
    OpenSnapshot,
    ParsedToolCall,
    PendingInput,
    PrefetchContext,
    RetainContext,
    Reuse,
    Sampler,
    SaveSnapshot,
    SuspendContext,
    TruncateTokens,
    Turn,
)
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError


class Context:
    """A sequence of KV pages in the engine, and a buffer of tokens that have no KV yet.

    Pages are released by `release()`, on leaving `with`, and with the last reference; a live Forward, Generator or
    GenStep keeps them. Later use raises ContextReleasedError.
    """

    def __init__(self, model: Model) -> None:
        self._bind(model, checked_model(model).host.call(CreateContext(model.name)), PendingInput())

    @classmethod
    def open(cls, model: Model, name: str) -> "Context | None":
        """A copy of a saved snapshot, which stays; None when the name is absent. Raises SnapshotIncompatibleError
        for one that was kept on disk by another model or tokenizer."""
        return cls._opened(model, name, take=False)

    @classmethod
    def take(cls, model: Model, name: str) -> "Context | None":
        """A saved snapshot as a context; the name is removed. None when it is absent."""
        return cls._opened(model, name, take=True)

    @staticmethod
    def delete(model: Model, name: str) -> None:
        """Drop a saved snapshot. Raises SnapshotNotFoundError."""
        checked_model(model).host.call(DeleteSnapshot(model.name, checked_text(name, "snapshot name")))

    def checkpoint(self) -> None:
        """Have the engine keep what recurrent layers remember of the tokens with KV: a later `truncate`, and prompts
        that begin alike, then compute little again. Worth it before tokens that are often taken back; costs memory,
        and is dropped when that is short. Does nothing on models without such layers."""
        self._handle.compute_promised()
        self._handle.host.post(CheckpointContext(self._handle.id))

    def fork(self) -> "Context":
        """A copy that shares every committed page and has the same buffer; its bid starts at 0."""
        self._handle.compute_promised()
        state = self._handle.host.call(ForkContext(self._handle.id))
        return self._made(self._handle.model, state, self._pending.snapshot())

    def save(self, name: str, *, persist: bool | None = None) -> None:
        """Save under a name, replacing what was there. Raises InvalidArgumentError for a bad name.

        `persist` also writes it to disk, for engines that are started later, and with `kv_disk` its KV as far as the
        day's writes allow; None follows `persist_snapshots` of the configuration. Raises SnapshotError when the disk
        fails or this user's limit is reached, and SnapshotIncompatibleError for KV computed with an adapter, which ends
        with its engine; the old snapshot stays.
        """
        if not checked_text(name, "snapshot name"):
            raise InvalidArgumentError("snapshot name: it is empty", hint="use snapshot() for a generated name")
        self._save(name, persist)

    def snapshot(self) -> str:
        """Save under a fresh name; returns it. Raises SnapshotError when this user's limit is reached."""
        return self._save("", persist=False)

    def release(self) -> None:
        """Release all pages now. Releasing twice is no error."""
        self._handle.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def system(self, message: str) -> Self:
        """Buffer a system message; it may be held back until the first user message or the flush."""
        return self._turn(Turn("system", checked_text(message, "system")))

    def user(self, message: str) -> Self:
        """Buffer a user message."""
        return self._turn(Turn("user", checked_text(message, "user")))

    def assistant(self, message: str, calls: Iterable[tuple[str, str]] = ()) -> Self:
        """Buffer an assistant message of the past; `calls` are the tools it called and their arguments as JSON text."""
        called = [ParsedToolCall(checked_text(name, "tool"), checked_text(args, name)) for name, args in calls]
        return self._turn(Turn("assistant", checked_text(message, "assistant"), calls=called))

    def equip_tools(self, schemas: Iterable[str | dict[str, Any]]) -> Self:
        """Offer tools, by their JSON descriptions, where the model's template puts them."""
        return self._turn(Turn("tools", schemas=[spaced_text("tool schema", schema) for schema in schemas]))

    def answer_tool(self, name: str, value: Any) -> Self:
        """Buffer a tool's result; values other than str are JSON-encoded."""
        return self._turn(Turn("tool_result", spaced_text("tool result", value), checked_text(name, "tool")))

    def cue(self) -> Self:
        """Buffer the start of the model's turn."""
        return self._turn(Turn("cue"))

    def seal(self) -> Self:
        """Buffer the end of the model's turn. Where calls end differently, it is written with the next turn."""
        return self._turn(Turn("seal"))

    def append(self, tokens: Iterable[int] | str) -> Self:
        """Buffer raw tokens or a text, after turns that were held back. A text that begins the sequence gets the tokens
        that the tokenizer puts before one, such as BOS; tokens are taken as they are. Tokens of a turn
        (`chat.user(...)`) are rendered as that turn at this point of the conversation. Raises InvalidArgumentError
        outside the vocabulary."""
        if isinstance(tokens, TurnTokens):
            return self._turn(tokens.turn)
        if isinstance(tokens, str):
            self._handle.resolve()
            self._pending.append_text(checked_text(tokens, "append"))
            return self
        added = token_list(tokens, self._handle.model.info.vocabulary_size)
        self._handle.resolve()
        if added:
            self._pending.append(added)
        return self

    async def flush(self) -> None:
        """Compute the buffer and commit full pages; does nothing without pending tokens.

        When it raises, the buffer is as before. Raises ContextLengthError, OutOfPagesError, TokenBudgetError,
        BatchFailedError.
        """
        self._handle.resolve()
        tokens = self._pending.drain()
        if not tokens and not self._handle.owes_tokens:
            return
        pending = self._pending
        request = calls.Forward(self._handle.id, pending=tokens, horizon=self._handle.bidding.for_raw_pass())
        await self._handle.run(request, lambda: pending.give_back(tokens))

    def forward(self) -> Forward:
        """A pass built by hand. It takes over the buffer, which is computed with the pass, at the latest by the next
        operation of the context."""
        self._handle.resolve()
        self._pending.end_turn()
        self._handle.promise(self._pending.drain())
        return Forward(self._handle)

    def generate(
        self,
        sampler: Sampler,
        *,
        max_tokens: int | None = None,
        stop: Iterable[int] | None = None,
        constrain: Constraints | None = None,
        logit_mask: Sequence[int] | None = None,
        thinking_budget: int | None = None,
        speculator: Speculator | None = None,
        system_speculation: bool = False,
        speculation: DraftSourceName | None = None,
        adapter: Adapter | None = None,
        zo_seed: int | None = None,
        others: "Sequence[Context | tuple[Context, Adapter]]" = (),
        horizon: int | None = None,
        rebid_each_step: bool = True,
        auto_flush: bool = True,
    ) -> Generator:
        """Generate from here on.

        `auto_flush` buffers `cue()` now and stops at the model's stop tokens unless `stop` is given. `constrain` takes
        schemas and constraints, `logit_mask` a static BRLE mask. A model that reasons may think for `thinking_budget`
        tokens; then only the end of its thought can be drawn, and the answer follows. `horizon` is the expected number
        of tokens, for bids only. With `system_speculation` the engine drafts tokens, with `speculator` the program
        does: the tokens are the same, but one step may give several. `speculation` names who drafts in the engine:
        `ngram` repeats text, `mtp` is the model's own draft head, `draft_model` a smaller model, `grammar` writes what
        a grammar leaves no choice about but for blanks, and `auto`, as with `system_speculation`, is the one that has
        earned most lately. `adapter` is applied in every step, with the noise
        of `zo_seed` added. `others` are the contexts whose rows the sampler's rule reads, in its order, each perhaps
        with an adapter of its own: they get the same cue and go on with the same tokens. Nothing is drafted with them.

        Raises InvalidArgumentError, InvalidTypeError, GrammarError, SpeculationError.
        """
        source = speculation or ("auto" if system_speculation else None)
        if speculator is not None and source is not None:
            asked = "speculation" if speculation else "system_speculation"
            raise InvalidArgumentError(f"speculator and {asked}: they exclude each other", hint="pass one of them")
        if others and (speculator is not None or source is not None):
            raise InvalidArgumentError(
                "others: nothing is drafted where a rule reads rows of other contexts", hint="generate without drafts"
            )
        drafting: Drafting = NoDrafting() if source is None else SystemDrafting(source)
        if speculator is not None:
            drafting = ProgramDrafting(speculator, self._handle.model.info.vocabulary_size)
        return Generator(
            self._handle,
            self._pending,
            sampler,
            max_tokens=max_tokens,
            stop=stop,
            constrain=constrain,
            logit_mask=logit_mask,
            thinking_budget=thinking_budget,
            drafting=drafting,
            adapter=adapter,
            zo_seed=zo_seed,
            others=Others(self._handle, [self._member(one) for one in others], sampler),
            horizon=horizon,
            rebid_each_step=rebid_each_step,
            auto_flush=auto_flush,
        )

    def truncate(self, n: int) -> None:
        """Forget the last `n` working tokens. Raises PageBoundsError for more than there are: committed pages
        cannot be truncated."""
        self._handle.ask(TruncateTokens(self._handle.id, integer(n, "n")))

    def set_bid(self, value: float) -> float:
        """Bid credits per page per tick; under a Generator for the next pass only. Negative is 0. Returns the bid
        now in effect. Raises InvalidArgumentError for NaN and +infinity."""
        self._handle.check()
        return self._handle.bidding.set(value)

    @contextmanager
    def idle(self, seconds: float | None = None) -> Scope[None, None, None]:
        """Bid 0 inside `with`, or after `expect_return(seconds)` what that is worth; `set_bid` inside takes effect at
        its end."""
        self._handle.check()
        bidding = self._handle.bidding
        if seconds is not None:
            self.expect_return(seconds)
        bidding.enter_idle()
        try:
            yield
        finally:
            if not self._handle.released:
                bidding.leave_idle(has_pages=self._handle.has_pages)

    def retain(self, *, priority: float = 1.0, ttl_seconds: float = 60.0, prepaid: bool = False) -> float:
        """While this context does nothing, its pages are worth `priority` times what computing them again costs, for
        `ttl_seconds` (an hour at most; 0 ends it). They pay rent meanwhile, and a higher bid or an unpaid rent ends it.
        Returns for how many seconds it holds.

        With `prepaid`, the launch pays now: the make cost of the pages for each 300 seconds, or for as long as its
        credits last, times a `priority` above 1. Then the pages are reclaimed after others that no context holds, also
        when this context is gone; those of a higher priority last.
        Raises InvalidArgumentError for numbers that are negative or not finite, and for a priority above 1000.
        """
        self._handle.compute_promised()
        values = number(priority, "priority"), number(ttl_seconds, "ttl_seconds")
        return self._handle.host.call(RetainContext(self._handle.id, *values, prepaid))

    def expect_return(self, seconds: float) -> None:
        """This context will be used again in about so many seconds: the sooner, the more its pages are worth.
        Without `retain` that holds for four times as long. Raises InvalidArgumentError for a negative number."""
        self._handle.check()
        self._handle.host.call(ExpectContext(self._handle.id, number(seconds, "seconds")))

    def demote(self) -> None:
        """The pages of this context are the first to go, now and when it is released. Ends `retain`."""
        self._handle.check()
        self._handle.host.call(DemoteContext(self._handle.id))

    async def prefetch(self) -> bool:
        """Bring the pages of a suspended context back now, if no other context has to go for them. Returns whether
        they are in the pool."""
        self._handle.check()
        return await self._handle.host.submit(PrefetchContext(self._handle.id))

    @classmethod
    async def prefetch_saved(cls, model: Model, name: str) -> bool:
        """Bring the pages of a saved snapshot into the pool, as `prefetch` does, before it is opened. Returns whether
        they are there; False when the name is absent."""
        opened = cls.open(model, name)
        if opened is None:
            return False
        with opened:
            return await opened.prefetch()

    def suspend(self) -> None:
        """Release all pages now; the engine restores the context when it is used. Raises ContextBusyError while a
        pass is in flight."""
        self._handle.check()
        self._handle.host.call(SuspendContext(self._handle.id))

    def inner(self) -> RawContext:
        """The page operations."""
        return RawContext(self._handle)

    @property
    def id(self) -> int:
        """The engine's number for this context."""
        return self._handle.id

    @property
    def model(self) -> Model:
        """The model it belongs to."""
        return self._handle.model

    @property
    def page_size(self) -> int:
        """Tokens per KV page."""
        return self._handle.page_size

    @property
    def seq_len(self) -> int:
        """Tokens with KV, committed and working; the buffer is not counted."""
        return self._handle.length

    @property
    def reuse(self) -> Reuse:
        """How the tokens of its prompts came to have KV: `from_memory`, `from_disk`, `replayed` and `computed` count
        tokens. `from_disk` also counts what was read when the context came back to the pool. `miss` is why the first
        page that was computed had not been cached; None if all was. Passes of less than a page are not counted."""
        return self._handle.reuse

    def buffer(self) -> list[int]:
        """Tokens without KV, as a copy."""
        self._handle.resolve()
        return list(self._pending.tokens)

    def __repr__(self) -> str:
        if self._handle.released:
            return f"Context({self._handle.id}, released)"
        held, buffered = self._handle.known_length, len(self._pending.tokens)
        return f"Context({self._handle.id}, {held} tokens in KV, {buffered} buffered)"

    def _turn(self, turn: Turn) -> Self:
        self._handle.resolve()
        self._pending.render(turn)
        return self

    def _save(self, name: str, persist: bool | None) -> str:
        self._handle.compute_promised()
        return self._handle.host.call(SaveSnapshot(self._handle.id, self._pending.snapshot(), name, persist))

    def _bind(self, model: Model, state: ContextState, pending: PendingInput) -> None:
        self._handle = ContextHandle(model, state)
        self._pending = PendingBuffer(self._handle, pending)

    @classmethod
    def _member(cls, other: object) -> Member:
        """Raises InvalidTypeError for anything but a context, or a context and an adapter."""
        context, adapter = cast("tuple[object, object]", other) if isinstance(other, tuple) else (other, None)
        if not isinstance(context, cls):
            raise InvalidTypeError(
                f"others: got {type(context).__name__}", hint="pass contexts, or pairs of a context and an adapter"
            )
        return Member(context._handle, context._pending, checked_adapter(adapter))

    @classmethod
    def _made(cls, model: Model, state: ContextState, pending: PendingInput) -> "Context":
        made = cls.__new__(cls)
        made._bind(model, state, pending)
        return made

    @classmethod
    def _opened(cls, model: Model, name: str, *, take: bool) -> "Context | None":
        host = checked_model(model).host
        opened = host.call(OpenSnapshot(model.name, checked_text(name, "snapshot name"), take))
        return None if opened is None else cls._made(model, opened.state, opened.pending)

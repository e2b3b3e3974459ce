"""Contexts with blocking operations."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, overload

from inferlet._calls.checks import checked_text
from inferlet.context import Context as AsyncContext
from inferlet.generator import Constraints
from inferlet.model import Model, checked_model
from inferlet.raw import RawContext
from inferlet.sync._blocking import wait
from inferlet.sync._labels import labels_of
from inferlet.sync._prefill import flush_except_last, restored_on_error
from inferlet.sync.decoder import Decoder
from inferlet.sync.stream import EventStream, TokenStream
from pie_mlx.calls import Reuse, Sampler


class Context:
    """A sequence of KV pages and a buffer of tokens that have no KV yet. `name` is unique among the contexts of this
    program until this one is released or dropped."""

    def __init__(self, model: Model, name: str | None = None) -> None:
        labels_of(checked_model(model).host).check(name)  # before there is a context that would be dropped
        self._bind(AsyncContext(model), name)

    @classmethod
    def open(cls, model: Model, name: str) -> "Context | None":
        """A copy of a saved snapshot; None when the name is absent."""
        return cls._adopt(AsyncContext.open(model, name))

    @classmethod
    def take(cls, model: Model, name: str) -> "Context | None":
        """A saved snapshot as a context; the name is removed. None when it is absent."""
        return cls._adopt(AsyncContext.take(model, name))

    @staticmethod
    def delete(model: Model, name: str) -> None:
        """Drop a saved snapshot. Raises SnapshotNotFoundError."""
        AsyncContext.delete(model, name)

    def checkpoint(self) -> None:
        """Keep what recurrent layers remember of the tokens with KV, so that a later `truncate` computes little
        again."""
        self._context.checkpoint()

    def retain(self, *, priority: float = 1.0, ttl_seconds: float = 60.0, prepaid: bool = False) -> float:
        """Its pages are worth keeping while it does nothing; for how many seconds that holds."""
        return self._context.retain(priority=priority, ttl_seconds=ttl_seconds, prepaid=prepaid)

    def expect_return(self, seconds: float) -> None:
        """It will be used again in about so many seconds."""
        self._context.expect_return(seconds)

    def demote(self) -> None:
        """Its pages are the first to go, now and when it is released."""
        self._context.demote()

    def prefetch(self) -> bool:
        """Bring its pages back now, if no other context has to go for them; whether they are there."""
        return wait(self._context.prefetch())

    @staticmethod
    def prefetch_saved(model: Model, name: str) -> bool:
        """Bring the pages of a saved snapshot into the pool before it is opened; whether they are there."""
        return wait(AsyncContext.prefetch_saved(model, name))

    def fork(self, name: str | None = None) -> "Context":
        """A copy that shares every committed page."""
        labels_of(self.model.host).check(name)
        return self._made(self._context.fork(), name)

    def save(self, name: str, *, persist: bool | None = None) -> None:
        """Save under a name, replacing what was there; with `persist` on disk as well, by default as configured."""
        self._context.save(name, persist=persist)

    def snapshot(self) -> str:
        """Save under a fresh name; returns it."""
        return self._context.snapshot()

    def release(self) -> None:
        """Release all pages and the name now."""
        self._context.release()
        labels_of(self.model.host).free(self.name, self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def system(self, message: str) -> Self:
        """Buffer a system message."""
        self._context.system(message)
        return self

    def user(self, message: str) -> Self:
        """Buffer a user message."""
        self._context.user(message)
        return self

    def assistant(self, message: str, calls: Iterable[tuple[str, str]] = ()) -> Self:
        """Buffer an assistant message of the past; `calls` are the tools it called and their arguments as JSON text."""
        self._context.assistant(message, calls)
        return self

    def cue(self) -> Self:
        """Buffer the start of the model's turn."""
        self._context.cue()
        return self

    def seal(self) -> Self:
        """Buffer the end of the model's turn."""
        self._context.seal()
        return self

    def equip_tools(self, schemas: Iterable[str | dict[str, Any]]) -> Self:
        """Offer tools, by their JSON descriptions."""
        self._context.equip_tools(schemas)
        return self

    def answer_tool(self, name: str, value: Any) -> Self:
        """Buffer a tool's result; values other than str are JSON-encoded."""
        self._context.answer_tool(name, value)
        return self

    def fill(self, text: str) -> Self:
        """Buffer text; special tokens written in it are recognised. A text that begins the sequence gets the tokens
        that the tokenizer puts before one, such as BOS."""
        self._context.append(checked_text(text, "fill"))
        return self

    def fill_tokens(self, tokens: Iterable[int]) -> Self:
        """Buffer token ids."""
        self._context.append(tokens)
        return self

    def flush(self) -> None:
        """Compute the buffer and commit full pages."""
        wait(self._context.flush())

    def truncate(self, n: int) -> None:
        """Forget the last `n` working tokens."""
        self._context.truncate(n)

    def inner(self) -> RawContext:
        """The page operations."""
        return self._context.inner()

    def generate_text(self, sampler: Sampler, max_tokens: int | None = None) -> str:
        """Generate a reply; its visible text."""
        return self.generate(sampler, max_tokens=max_tokens).text()

    @overload
    def generate(
        self, sampler: Sampler, *, max_tokens: int | None = ..., auto_flush: bool = ..., decode: Literal[False] = ...,
        reasoning: bool = ..., tool_use: bool = ..., stop: Iterable[int] | None = ...,
        constrain: Constraints | None = ..., logit_mask: Sequence[int] | None = ..., **options: Any,
    ) -> TokenStream: ...  # fmt: skip

    @overload
    def generate(
        self, sampler: Sampler, *, max_tokens: int | None = ..., auto_flush: bool = ..., decode: Literal[True],
        reasoning: bool = ..., tool_use: bool = ..., stop: Iterable[int] | None = ...,
        constrain: Constraints | None = ..., logit_mask: Sequence[int] | None = ..., **options: Any,
    ) -> EventStream: ...  # fmt: skip

    def generate(
        self,
        sampler: Sampler,
        *,
        max_tokens: int | None = None,
        auto_flush: bool = True,
        decode: bool = False,
        reasoning: bool = False,
        tool_use: bool = False,
        stop: Iterable[int] | None = None,
        constrain: Constraints | None = None,
        logit_mask: Sequence[int] | None = None,
        **options: Any,
    ) -> TokenStream | EventStream:
        """Generate from here on: iterate over lists of tokens, or over events with `decode`.

        `auto_flush` writes the start of the model's turn and computes all but one token of the buffer; without it only
        `stop` and `max_tokens` end the generation. `reasoning` and `tool_use` turn on their events. Other options are
        those of the asynchronous `generate`. When it raises, the context is as before.
        """
        with restored_on_error(self._context):
            generator = self._context.generate(
                sampler,
                max_tokens=max_tokens,
                stop=stop,
                constrain=constrain,
                logit_mask=logit_mask,
                auto_flush=auto_flush,
                **options,
            )
            if auto_flush and options.get("adapter") is None:  # with one, the prompt is computed in the first step
                wait(flush_except_last(self._context))
        tokens = TokenStream(generator, self.model)
        if not decode:
            return tokens
        return EventStream(tokens, Decoder(self.model, reasoning=reasoning, tool_use=tool_use))

    @property
    def asynchronous(self) -> AsyncContext:
        """The same context in the asynchronous SDK."""
        return self._context

    @property
    def id(self) -> int:
        """The engine's number for this context."""
        return self._context.id

    @property
    def model(self) -> Model:
        """The model it belongs to."""
        return self._context.model

    @property
    def page_size(self) -> int:
        """Tokens per KV page."""
        return self._context.page_size

    @property
    def seq_len(self) -> int:
        """Tokens with KV; the buffer is not counted."""
        return self._context.seq_len

    @property
    def reuse(self) -> Reuse:
        """How the tokens of its prompts came to have KV, and why the first that were computed had not been cached."""
        return self._context.reuse

    def buffer(self) -> list[int]:
        """Tokens without KV, as a copy."""
        return self._context.buffer()

    def __repr__(self) -> str:
        return f"Context({self.name!r})"

    def _bind(self, context: AsyncContext, name: str | None) -> None:
        self.name = labels_of(context.model.host).assign(name, self)
        self._context = context

    @classmethod
    def _made(cls, context: AsyncContext, name: str | None) -> "Context":
        made = cls.__new__(cls)
        made._bind(context, name)
        return made

    @classmethod
    def _adopt(cls, context: AsyncContext | None) -> "Context | None":
        return None if context is None else cls._made(context, None)

"""Input of a context that has no KV yet: buffered tokens and how far its conversation is rendered."""

from msgspec.structs import replace

from inferlet._context.handle import ContextHandle
from inferlet._context.reply import called_tool, decoder_prefix, extended_lead
from pie_mlx.calls import ChatState, Encode, PendingInput, RenderTurn, Turn
from pie_mlx.errors import ContextBusyError, InvalidArgumentError


class PendingBuffer:
    """The pending buffer of one context. `release_held` buffers turns that wait for the first user turn. `stopped`: a
    stop token has ended the text, and nothing was buffered since."""

    def __init__(self, handle: ContextHandle, pending: PendingInput) -> None:
        self._handle = handle
        self._model = handle.model
        self.restore(pending)

    def render(self, turn: Turn) -> None:
        """Buffer a turn as the model's template writes it. Raises TemplateError."""
        if turn.role == "cue":
            self.release_held()
        if turn.role == "seal":
            turn = replace(turn, name=called_tool(self._model, self._lead))
        rendered = self._model.host.call(RenderTurn(self._model.name, turn, self._chat, self._model.template))
        self._chat = rendered.state
        self.tokens += rendered.tokens
        self.stopped = False
        if turn.role != "flush":
            self._cued, self._lead = self._end if turn.role == "cue" else None, []

    @property
    def answer_opening(self) -> str:
        """The text the reply to the cue opens with before its answer; "" for none, or once tokens follow the cue."""
        return self._model.info.formats.answer_opening if self._cued == self._end else ""

    @property
    def decoder_prefix(self) -> list[int]:
        """The tokens that a decoder must see first to continue in the reply."""
        return decoder_prefix(self._model, self._lead)

    @property
    def _end(self) -> int:
        """The slot after everything buffered."""
        return self._handle.next_slot + len(self.tokens)

    def release_held(self) -> None:
        """Buffer the turns that were held back."""
        if self._chat.held:
            self.render(Turn("flush"))

    def append(self, tokens: list[int]) -> None:
        """Buffer raw tokens after everything held back. The conversation after them counts as begun, and the separator
        that the last turn owed is dropped."""
        self.end_turn()
        self.append_to_turn(tokens)
        self._chat = ChatState("flush") if self._chat.last is None else replace(self._chat, owed="")

    def append_text(self, text: str) -> None:
        """`append` the tokens of a text."""
        self.end_turn()
        tokens = self._model.tokenizer().encode(text, begins=self._end == 0)
        if tokens:
            self.append(tokens)

    def end_turn(self) -> None:
        """Buffer everything held back, including the end of the last turn, because raw tokens follow."""
        self.release_held()
        if self._chat.due:
            self.tokens += self._model.host.call(Encode(self._model.name, self._chat.due))
            self._chat = replace(self._chat, due="")

    def append_to_turn(self, tokens: list[int], in_kv: int = 0) -> None:
        """Buffer tokens of the turn that is being written; the first `in_kv` of them are in KV already."""
        self.tokens += tokens[in_kv:]
        self.stopped = False
        if self._cued is not None:
            self._lead = extended_lead(self._model, self._lead, tokens)

    def check_empty(self, *, begun: bool) -> None:
        """Raise if another pass of this context has taken the buffer, or a text that has not `begun` has no token to go
        on from. One that a stop token has ended has none for a reason."""
        if self._handle.is_in_flight:
            raise ContextBusyError(
                "generate: the buffer is empty, and another pass of this context is still running",
                hint="await that one first, or fork the context for each text",
            )
        if not begun and not self.stopped:
            raise InvalidArgumentError(
                "generate: the context has no pending token to go on from",
                hint="append a token or a turn and do not flush it, or leave auto_flush on",
            )

    def drain(self) -> list[int]:
        """Empty the buffer, held turns included."""
        self.release_held()
        tokens, self.tokens = self.tokens, []
        return tokens

    def give_back(self, tokens: list[int]) -> None:
        """Put drained tokens back, before anything buffered since."""
        self.tokens[:0] = tokens

    def snapshot(self) -> PendingInput:
        """A copy, as a value."""
        return PendingInput(list(self.tokens), self._chat, self._cued, list(self._lead), self.stopped)

    def restore(self, pending: PendingInput) -> None:
        """Return to a snapshot."""
        self.tokens, self._chat = list(pending.tokens), pending.chat
        self._cued, self._lead, self.stopped = pending.cued, list(pending.lead), pending.stopped

"""Input of a context that has no KV yet: buffered tokens and how far its conversation is rendered."""

from msgspec.structs import replace

from pie_mlx.calls import ChatState, Encode, PendingInput, RenderTurn, Turn
from pie_mlx.sdk._context.handle import ContextHandle
from pie_mlx.sdk._context.reply import already_said, called_tool, follow


class PendingBuffer:
    """The pending buffer of one context. Turns held back for a first user turn are given out by `release_held`."""

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
        if turn.role != "flush":
            self._cued, self._lead = self._end if turn.role == "cue" else None, []

    @property
    def answer_opening(self) -> str:
        """What the reply to the cue will have before its text; "" for nothing, or with something behind the cue."""
        return self._model.info.formats.answer_opening if self._cued == self._end else ""

    @property
    def already_said(self) -> list[int]:
        """What decoders must have seen of the reply to go on in it."""
        return already_said(self._model, self._lead)

    @property
    def _end(self) -> int:
        """The slot behind everything buffered."""
        return self._handle.next_slot + len(self.tokens)

    def release_held(self) -> None:
        """Buffer the turns that were held back."""
        if self._chat.held:
            self.render(Turn("flush"))

    def append(self, tokens: list[int]) -> None:
        """Buffer raw tokens behind all that was held back; a conversation after them has already begun, and what goes
        before a next turn would come too late."""
        self.end_turn()
        self.add(tokens)
        self._chat = ChatState("flush") if self._chat.last is None else replace(self._chat, owed="")

    def end_turn(self) -> None:
        """Buffer all that was held back, the end of the last turn included, because raw tokens follow."""
        self.release_held()
        if self._chat.due:
            self.tokens += self._model.host.call(Encode(self._model.name, self._chat.due))
            self._chat = replace(self._chat, due="")

    def add(self, tokens: list[int], in_kv: int = 0) -> None:
        """Buffer tokens of the turn that is being written, of which the first are in KV."""
        self.tokens += tokens[in_kv:]
        if self._cued is not None:
            self._lead = follow(self._model, self._lead, tokens)

    def take(self) -> list[int]:
        """Empty the buffer, held turns included."""
        self.release_held()
        tokens, self.tokens = self.tokens, []
        return tokens

    def give_back(self, tokens: list[int]) -> None:
        """Put taken tokens back, before anything buffered since."""
        self.tokens[:0] = tokens

    def snapshot(self) -> PendingInput:
        """A copy as a value."""
        return PendingInput(list(self.tokens), self._chat, self._cued, list(self._lead))

    def restore(self, pending: PendingInput) -> None:
        """Be what `snapshot` answered."""
        self.tokens, self._chat = list(pending.tokens), pending.chat
        self._cued, self._lead = pending.cued, list(pending.lead)

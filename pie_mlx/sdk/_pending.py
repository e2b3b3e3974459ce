"""Input of a context that has no KV yet: buffered tokens and how far its conversation is rendered."""

from msgspec.structs import replace

from pie_mlx.calls import ChatState, Encode, PendingInput, RenderTurn, Turn
from pie_mlx.sdk.model import Model


class PendingBuffer:
    """The pending buffer of one context. Turns held back for a first user turn are given out by `release_held`."""

    def __init__(self, model: Model, pending: PendingInput) -> None:
        self._model = model
        self._chat = pending.chat
        self.tokens = list(pending.tokens)

    def render(self, turn: Turn) -> None:
        """Buffer a turn as the model's template writes it. Raises TemplateError."""
        if turn.role == "cue":
            self.release_held()
        rendered = self._model.host.call(RenderTurn(self._model.name, turn, self._chat))
        self._chat = rendered.state
        self.tokens += rendered.tokens

    def release_held(self) -> None:
        """Buffer the turns that were held back."""
        if self._chat.held:
            self.render(Turn("flush"))

    def append(self, tokens: list[int]) -> None:
        """Buffer raw tokens behind all that was held back; a conversation after them has already begun, and what goes
        before a next turn would come too late."""
        self.end_turn()
        self.tokens += tokens
        self._chat = ChatState("flush") if self._chat.last is None else replace(self._chat, owed="")

    def end_turn(self) -> None:
        """Buffer all that was held back, the end of the last turn included, because raw tokens follow."""
        self.release_held()
        if self._chat.due:
            self.tokens += self._model.host.call(Encode(self._model.name, self._chat.due))
            self._chat = replace(self._chat, due="")

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
        return PendingInput(list(self.tokens), self._chat)

    def restore(self, pending: PendingInput) -> None:
        """Be what `snapshot` answered."""
        self.tokens, self._chat = list(pending.tokens), pending.chat

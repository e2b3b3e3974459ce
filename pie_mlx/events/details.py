"""Details of programs, which an engine emits only while somebody asks for their kind: each costs time in every step."""

from collections.abc import Iterable

from pie_mlx.events.base import Event


class CallAnswered(Event, frozen=True):
    """A call of a program was answered, or refused with an error of class `error`.

    `call` is its kind; `context` the context that it names, 0 if none; `about` the topic, child or server that it
    names. Between its calls a program runs its own code.
    """

    process: str
    call: str
    began_seconds: float
    at_seconds: float
    context: int = 0
    about: str = ""
    error: str = ""


class MessageSent(Event, frozen=True):
    """A program sent a message to other programs. Those who receive it name the same topic and number."""

    process: str
    topic: str
    message: int
    at_seconds: float


class MessageReceived(Event, frozen=True):
    """A program received a message of another program."""

    process: str
    topic: str
    message: int
    at_seconds: float


class TokensComputed(Event, frozen=True):
    """The tokens of a pass: `inputs` are in the context from slot `held_tokens` on, and `drawn` were drawn after them.

    `logprobs` are natural logarithms of the probabilities of the drawn ones, and `likely` the most likely tokens in
    place of the first one with their probabilities, where the program asked for them. `pieces` are the bytes of the
    inputs and then of the drawn tokens, `likely_pieces` those of `likely`. A long prompt comes in several events.
    """

    process: str
    context: int
    held_tokens: int
    inputs: tuple[int, ...]
    drawn: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    likely: tuple[tuple[int, float], ...] = ()
    pieces: tuple[bytes, ...] = ()
    likely_pieces: tuple[bytes, ...] = ()


DETAILS: tuple[type[Event], ...] = (CallAnswered, MessageSent, MessageReceived, TokensComputed)
DETAIL_KINDS = frozenset(str(kind.__struct_config__.tag) for kind in DETAILS)


class WantedDetails:
    """Which details somebody asks for: always those of `kinds`. Any thread may read and set them."""

    def __init__(self, kinds: Iterable[str] = ()) -> None:
        self._always = frozenset(kinds)
        self.calls = self.messages = self.tokens = False
        self.want(())

    def want(self, kinds: Iterable[str]) -> None:
        """Emit details of these `kinds` too, and no longer those that were wanted before."""
        wanted = self._always.union(kinds)
        self.calls = "call_answered" in wanted
        self.messages = not wanted.isdisjoint({"message_sent", "message_received"})
        self.tokens = "tokens_computed" in wanted

"""Chat rendering and tool calls. The state is a value the SDK keeps beside its pending buffer and sends along."""

from typing import Literal

from pie_mlx.calls.base import Call, Record

Role = Literal["system", "user", "assistant", "cue", "seal", "tools", "tool_result", "flush"]


class ParsedToolCall(Record, frozen=True):
    """A tool call: name and JSON text of the arguments."""

    name: str
    arguments: str


class Turn(Record, frozen=True):
    """One step of a conversation.

    `text` is the content; `name` that of the tool a `tool_result` answers, or that a reply has called which a `seal`
    ends, as far as it is known; `schemas` the JSON texts of the `tools`; `calls` what an `assistant` turn of the past
    called.
    `cue` opens the assistant's turn, `seal` ends it, `flush` gives out what was held back for a first user turn.
    """

    role: Role
    text: str = ""
    name: str = ""
    schemas: list[str] = []
    calls: list[ParsedToolCall] = []


class ChatState(Record, frozen=True):
    """How far a conversation is written. `last` is the last turn given out; None at the start, "flush" for raw tokens.

    `held` turns wait for the first user turn; `due` is the end of the turn given out last, where what follows decides
    it; `owed` is text that goes before the next turn; `inline`: what was given out ends with ordinary text. `turns` is
    the history so far, kept only for templates that must see it.
    """

    last: Role | None = None
    held: list[Turn] = []
    due: str = ""
    owed: str = ""
    inline: bool = False
    turns: list[Turn] = []


class RenderedTurn(Record, frozen=True):
    """Tokens of a turn and the state after it."""

    tokens: list[int]
    state: ChatState


class RenderTurn(Call[RenderedTurn], frozen=True):
    """Render a turn by the model's own template (D1), told the variables of `LoadModel`. Raises TemplateError."""

    model: str
    turn: Turn
    state: ChatState = ChatState()
    template: str = ""


class ParseToolCall(Call[list[ParsedToolCall]], frozen=True):
    """The calls in a piece of text in the model's native format; empty when it does not parse (D4).

    With `schemas`, the JSON texts of the offered tools, a call of another tool is no call.
    """

    model: str
    text: str
    schemas: list[str] = []

"""Chat rendering and tool calls. The SDK keeps the state, a value, beside its buffer and sends it with each call."""

from typing import Literal

from pie_mlx.calls.base import Call, Record

Role = Literal["system", "user", "assistant", "cue", "seal", "tools", "tool_result", "flush"]


class ParsedToolCall(Record, frozen=True):
    """A tool call: name and JSON text of the arguments."""

    name: str
    arguments: str


class Turn(Record, frozen=True):
    """One step of a conversation.

    `text` is the content. `name` is the tool that a `tool_result` belongs to, or, for a `seal`, the tool that the reply
    called, if known. `schemas` are the JSON texts of the `tools`; `calls` are the calls of a past `assistant` turn.
    `cue` opens the assistant's turn, `seal` ends it, `flush` writes turns that were held for a first user turn.
    """

    role: Role
    text: str = ""
    name: str = ""
    schemas: list[str] = []
    calls: list[ParsedToolCall] = []


class ChatState(Record, frozen=True):
    """How far a conversation is written. `last` is the last turn written; None at the start, "flush" for raw tokens.

    `held` turns wait for the first user turn; `due` is the end of the last turn, if the next turn decides it;
    `owed` is text that precedes the next turn; `inline`: the tokens so far end with ordinary text. `turns` is
    the history so far, kept only for templates that need it. `began` is when the conversation began, in ISO 8601, ""
    where the template tells no date.
    """

    last: Role | None = None
    held: list[Turn] = []
    due: str = ""
    owed: str = ""
    inline: bool = False
    turns: list[Turn] = []
    began: str = ""


class RenderedTurn(Record, frozen=True):
    """Tokens of a turn and the state after it."""

    tokens: list[int]
    state: ChatState


class RenderTurn(Call[RenderedTurn], frozen=True):
    """Render a turn by the model's own template (D1) with the variables of `LoadModel`. Raises TemplateError."""

    model: str
    turn: Turn
    state: ChatState = ChatState()
    template: str = ""


class ParseToolCall(Call[list[ParsedToolCall]], frozen=True):
    """The calls in a piece of text in the model's native format; empty when it does not parse (D4).

    With `schemas`, the JSON texts of the offered tools, calls of other tools are not calls.
    """

    model: str
    text: str
    schemas: list[str] = []

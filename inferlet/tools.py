"""Tool calls of replies, and the tokens that offer tools and answer calls."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from inferlet._calls.checks import checked_text
from inferlet._calls.payload import schema_texts, spaced_text
from inferlet._context.turn_tokens import TurnTokens, write_turn
from inferlet._decoding.decoder import QueueDecoder
from inferlet._decoding.items import CallEnd, CallStart, Item
from inferlet.grammar import Grammar
from inferlet.matcher import Matcher
from inferlet.model import Model
from pie_mlx.calls import ChatState, CompileGrammar, GrammarSource, ParseToolCall, Turn


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to report."""


@dataclass(frozen=True, slots=True)
class Start:
    """A call is being written."""


@dataclass(frozen=True, slots=True)
class Call:
    """A complete call: the tool's name and its arguments as JSON text."""

    name: str
    args: str


class Event:
    """The events of the decoder, for `match`."""

    Idle: TypeAlias = Idle
    Start: TypeAlias = Start
    Call: TypeAlias = Call


AnyEvent = Idle | Start | Call


class Decoder(QueueDecoder[AnyEvent]):
    """The tool calls of a reply. With `schemas`, calls of other tools are ignored, and untyped values get the
    types of the schemas; a `chat.Decoder` with the same schemas gives the ignored calls as text."""

    def __init__(self, model: Model, schemas: Iterable[str | dict[str, Any]] = ()) -> None:
        super().__init__(model, Idle(), schema_texts(schemas))

    def _on_item(self, item: Item) -> None:
        match item:
            case CallStart():
                self._queue.append(Start())
            case CallEnd(found):
                self._queue.extend(Call(call.name, call.arguments) for call in found)
            case _:
                pass


def equip_prefix(model: Model, tools: Iterable[str | dict[str, Any]]) -> TurnTokens:
    """The tokens that offer tools at the beginning of a conversation, to be appended before the user's message.

    Raises TemplateError for a model whose template knows no tools, InvalidArgumentError for bad schemas.
    """
    return write_turn(model, Turn("tools", schemas=schema_texts(tools)), ChatState())


def answer_prefix(model: Model, name: str, value: Any) -> TurnTokens:
    """The tokens of a tool's result after a sealed call; values other than str are JSON-encoded.

    Raises TemplateError for a model whose template knows no tool results.
    """
    turn = Turn("tool_result", spaced_text("tool result", value), checked_text(name, "tool"))
    return write_turn(model, turn, ChatState("flush"))


def parse_call(model: Model, text: str, schemas: Iterable[str | dict[str, Any]] = ()) -> tuple[str, str] | None:
    """The first call in a finished text: name and arguments as JSON text; None when there is none."""
    found = model.host.call(ParseToolCall(model.name, checked_text(text, "parse_call"), schema_texts(schemas)))
    return (found[0].name, found[0].arguments) if found else None


def native_grammar(model: Model, tools: Iterable[str | dict[str, Any]]) -> Grammar | None:
    """The model's own format of calls of these tools; None for a model without an enforceable one.

    Only a message of reasoning may come before the first call, where replies are made of messages (gpt-oss).
    """
    source = GrammarSource("tools", schemas=schema_texts(tools))
    return None if _compile(model, source) is None else Grammar(source)


def native_matcher(model: Model, tools: Iterable[str | dict[str, Any]]) -> Matcher | None:
    """A matcher of `native_grammar`; None for a model without an enforceable one."""
    return _compile(model, GrammarSource("tools", schemas=schema_texts(tools)))


def _compile(model: Model, source: GrammarSource) -> Matcher | None:
    state = model.host.compile(CompileGrammar(model.name, source))
    return None if state is None else Matcher.adopt(model.host, state)

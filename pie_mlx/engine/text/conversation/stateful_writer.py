"""Writes turns by rendering the whole conversation again: for templates whose turns depend on their neighbours.

Never the difference of two renderings, because history may be rewritten: the content given out last is replaced by a
mark, and what follows the mark is new.
"""

import msgspec

from pie_mlx.calls import ChatState, Turn
from pie_mlx.engine.text.conversation.fragments import message
from pie_mlx.engine.text.conversation.sentinels import RESULTS, SYSTEM, call_id, gaps
from pie_mlx.engine.text.conversation.writing import Piece, Written, held_head, isolate, tool_schemas
from pie_mlx.engine.text.templates.template import ChatTemplate, Message
from pie_mlx.errors import TemplateError

_MARK = SYSTEM
_SPOKEN = RESULTS[0]
"""Stands for replies whose text only the program has."""

_ROLES = {"tool_result": "tool", "cue": "assistant"}


def _as_message(turn: Turn) -> Message:
    text = _SPOKEN if turn.role == "cue" else turn.text
    named = {"name": turn.name, "tool_call_id": call_id(0)} if turn.role == "tool_result" else {}
    return {**message(_ROLES.get(turn.role, turn.role), text), **named}


def _marked(turns: list[Turn]) -> list[Message]:
    messages = [_as_message(turn) for turn in turns if turn.role != "tools"]
    return [*messages[:-1], {**messages[-1], "content": _MARK}]


class StatefulWriter:
    """A `TurnWriter` for templates that do not split. A turn ends with its content; what closes it comes next."""

    def __init__(self, template: ChatTemplate, seal: str) -> None:
        self._template = template
        self._seal = seal

    def write(self, turn: Turn, state: ChatState) -> Written:
        match turn.role:
            case "tools":
                held_head([*state.held, turn])
                return Written([], msgspec.structs.replace(state, held=[*state.held, turn]))
            case "system" if state.last is None:
                return Written([], msgspec.structs.replace(state, held=[*state.held, turn]))
            case "flush":
                return Written([], state)
            case "seal":
                return Written([Piece(self._seal)], ChatState("seal", owed=self._seal, turns=state.turns))
            case "cue":
                return self._cue(state)
            case "assistant" if turn.calls:
                raise TemplateError(
                    "chat template: turns depend on their neighbours: past tool calls cannot be written alone",
                    hint="keep the context in which the model made the call",
                )
            case _:
                return self._content(turn, state)

    def _content(self, turn: Turn, state: ChatState) -> Written:
        given = [*state.turns, *state.held]
        text = self._tail(given, turn, state, cue=False)
        marked = self._tail(given, msgspec.structs.replace(turn, text=_SPOKEN), state, cue=False)
        pieces = isolate(text, marked, _SPOKEN)
        if len(pieces) > 1:
            pieces.pop()  # closes the turn, which may turn out differently when it is not the last
        owed = self._seal if turn.role == "assistant" else ""
        return Written([*pieces, Piece(owed)], ChatState(turn.role, owed=owed, turns=[*given, turn]))

    def _cue(self, state: ChatState) -> Written:
        turns = [*state.turns, *state.held]
        return Written([Piece(self._tail(turns, None, state, cue=True))], ChatState("cue", turns=[*turns, Turn("cue")]))

    def _tail(self, given: list[Turn], new: Turn | None, state: ChatState, *, cue: bool) -> str:
        """What follows the last content given out, once `new` is there; everything when nothing was given out."""
        tools = tool_schemas([schema for turn in given if turn.role == "tools" for schema in turn.schemas]) or None
        added = [_as_message(new)] if new is not None else []
        if not any(turn.role != "tools" for turn in state.turns):
            messages = [_as_message(turn) for turn in given if turn.role != "tools"]
            return self._template.render([*messages, *added], cue=cue, tools=tools)
        tail = gaps(self._template.render([*_marked(given), *added], cue=cue, tools=tools), (_MARK,))[1]
        if not tail.startswith(state.owed):
            raise TemplateError("chat template: does not end turns the same way twice", hint="see pie doctor")
        return tail.removeprefix(state.owed)

"""Writes turns from the fragments of a template: each turn costs its own text only."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from pie_mlx.calls import ChatState, ParsedToolCall, Turn
from pie_mlx.engine.text.conversation.calling import calling_turn
from pie_mlx.engine.text.conversation.fragments import Fragments, derive_late_system, message, trimmed_roles
from pie_mlx.engine.text.conversation.sentinels import SYSTEM, USERS, gaps, without_last
from pie_mlx.engine.text.conversation.tool_fragments import ResultFragments, derive_result, derive_unanswered
from pie_mlx.engine.text.conversation.writing import Piece, Written, held_head, isolate
from pie_mlx.engine.text.templates.template import ChatTemplate
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import TemplateError


class FragmentWriter:
    """A `TurnWriter`. The system text and the tools are held until the first user turn, or until a flush, because
    many templates write them together and some inside that turn. `ends` are the texts that may end a reply."""

    def __init__(self, template: ChatTemplate, fragments: Fragments, tokenizer: Tokenizer, ends: Sequence[str]) -> None:
        self._template = template
        self._fragments = fragments
        self._tokenizer = tokenizer
        self._ends = ends
        self._trimmed = trimmed_roles(template)
        self._late_system = derive_late_system(template, fragments)
        self._takes_system = self._renders_system()
        self._results = lru_cache(maxsize=64)(self._derive_results)
        self._unanswered = lru_cache(maxsize=64)(self._derive_unanswered)
        self._calls_end = self._derive_calls_end()
        suffix = fragments.user_suffix
        # A flush may come between a question and the cue, which must not be empty then.
        self._user_stem = suffix if fragments.cue else without_last(suffix, tokenizer.spans)

    def write(self, turn: Turn, state: ChatState) -> Written:
        text = turn.text.strip() if turn.role in self._trimmed else turn.text
        match turn.role:
            case "tools":
                return self._hold(turn, state)
            case "assistant" if turn.calls:
                return self._calls(text, turn.calls, state)
            case "system" if state.last is None:
                return self._hold(Turn("system", text), state)
            case "system":
                return self._system(text, state)
            case "user":
                return self._user(text, state)
            case "tool_result":
                return self._result(turn.name, text, state)
            case "flush":
                return self._flush(state)
            case "assistant":
                return self._reply(text, state)
            case "cue":
                return Written([*self._opened(state), Piece(self._cue_after(state))], ChatState("cue"))
            case "seal":
                return self._seal(turn.name, state)

    def _hold(self, turn: Turn, state: ChatState) -> Written:
        held = [*state.held, turn]
        held_head(held)  # refuses bad schemas now rather than at the first user turn
        return Written([], msgspec.structs.replace(state, held=held))

    def _user(self, text: str, state: ChatState) -> Written:
        if state.held or state.last is None:
            pieces = self._head(state)
        elif state.last == "system":  # flushed by a template that puts it inside the user's turn
            pieces = []
        else:
            pieces = [Piece(state.due + state.owed + self._fragments.user_prefix)]
        pieces += [Piece(text, is_content=True), Piece(self._user_stem)]
        return Written(pieces, ChatState("user", due=self._fragments.user_suffix.removeprefix(self._user_stem)))

    def _calls(self, text: str, calls: Sequence[ParsedToolCall], state: ChatState) -> Written:
        turn = calling_turn(self._template, self._fragments, self._ends, text, calls)
        owed = self._fragments.assistant_rest if turn.endswith(self._fragments.seal) else ""
        return Written([*self._opened(state), Piece(turn)], ChatState("assistant", owed=owed))

    def _seal(self, called: str, state: ChatState) -> Written:
        """The end of a turn, which has `called` a tool. If a turn with a call ends differently and it is unknown
        whether there was one, the next turn decides which end is written."""
        seal, owed = self._fragments.seal, self._fragments.assistant_rest
        if self._calls_end in ("", seal):
            return Written([Piece(state.due + seal)], ChatState("seal", owed=owed))
        due = self._unanswered(called) if called else seal
        return Written([Piece(state.due)], ChatState("seal", due=due, owed=owed))

    def _derive_calls_end(self) -> str:
        """What ends a turn that calls tools; "" where the template writes none."""
        try:
            return self._results("tool").end
        except TemplateError:
            return ""

    def _reply(self, text: str, state: ChatState) -> Written:
        fragments = self._fragments
        pieces = [Piece(fragments.assistant_prefix), Piece(text, is_content=True), Piece(fragments.seal)]
        return Written([*self._opened(state), *pieces], ChatState("assistant", owed=fragments.assistant_rest))

    def _system(self, text: str, state: ChatState) -> Written:
        if self._late_system is None:
            raise TemplateError(
                "chat template: has no place for a system message after the first turn",
                hint="give the system message first, or put the text into a user message",
            )
        prefix, suffix = self._late_system
        pieces = [*self._opened(state), Piece(prefix), Piece(text, is_content=True), Piece(suffix)]
        return Written(pieces, ChatState("flush"))

    def _result(self, name: str, text: str, state: ChatState) -> Written:
        around = self._results(name)
        pieces = [*self._before_result(around, state), Piece(around.spell(text), is_content=True), Piece(around.stem)]
        return Written(pieces, ChatState("tool_result", due=around.close))

    def _before_result(self, around: ResultFragments, state: ChatState) -> list[Piece]:
        if not state.held and state.last == "tool_result" and state.due == around.close:  # nothing came between
            return [Piece(around.again)]
        if not state.held and state.last == "seal" and state.due:
            return [Piece(around.end + around.rest + around.prefix)]
        return [*self._opened(state), Piece(around.prefix)]

    def _cue_after(self, state: ChatState) -> str:
        answers = state.last == "tool_result" and not state.held
        return self._results("tool").cue if answers else self._fragments.cue

    def _flush(self, state: ChatState) -> Written:
        if not state.held:
            return Written([], state)
        *rest, last = self._head(state)
        if last.text.endswith(self._fragments.user_prefix):
            own_block = Piece(last.text.removesuffix(self._fragments.user_prefix), last.is_content)
            return Written([*rest, own_block], ChatState("flush"))
        return Written([*rest, last], ChatState("system", owed=self._fragments.user_suffix))

    def _opened(self, state: ChatState) -> list[Piece]:
        """What must be written before a turn that is not the user's."""
        if state.held:
            flushed = self._flush(state)
            return [*flushed.pieces, Piece(flushed.state.owed)]
        return [Piece(self._fragments.preamble if state.last is None else state.due + state.owed)]

    def _head(self, state: ChatState) -> list[Piece]:
        """Everything before the first user's content: preamble, system text, tools, the user's own opening."""
        system, messages, tools = held_head(state.held)
        inline = bool(messages) and not self._takes_system
        text = self._render_head([] if inline else messages, tools)
        if inline:
            pieces = [Piece(text), Piece(f"{system}\n\n", is_content=True)]
        elif messages:
            pieces = isolate(text, self._render_head([message("system", SYSTEM)], tools), SYSTEM)
        else:
            pieces = [Piece(text)]
        return pieces if state.last is None else self._continued(pieces, state.due + state.owed)

    def _continued(self, pieces: list[Piece], owed: str) -> list[Piece]:
        """A head inside a conversation: without the tokens that begin a sequence."""
        text = pieces[0].text.removeprefix(self._tokenizer.begin_text).removeprefix(self._tokenizer.bos_text)
        return [Piece(owed + text), *pieces[1:]]

    def _render_head(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        turns = [*messages, message("user", USERS[0])]
        return gaps(self._template.render(turns, tools=tools or None), (USERS[0],))[0]

    def _renders_system(self) -> bool:
        turns = [message("system", SYSTEM), message("user", USERS[0])]
        try:
            return SYSTEM in gaps(self._template.render(turns), (USERS[0],))[0]
        except TemplateError:
            return False

    def _derive_unanswered(self, name: str) -> str:
        return derive_unanswered(self._template, self._fragments, self._ends, name)

    def _derive_results(self, name: str) -> ResultFragments:
        return derive_result(self._template, self._fragments, self._tokenizer.spans, self._ends, name)

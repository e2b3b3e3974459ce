"""What a template writes around tool calls and tool results, read off a marked conversation."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.engine.text.conversation.formats import opens_reasoning
from pie_mlx.engine.text.conversation.fragments import Fragments, Spans, message
from pie_mlx.engine.text.conversation.sentinels import (
    ARGUMENT,
    RESULTS,
    THOUGHT,
    USERS,
    call_id,
    common_prefix,
    gaps,
    without_last,
)
from pie_mlx.engine.text.templates.template import ChatTemplate, Message
from pie_mlx.errors import TemplateError

_CALL_IDS = (call_id(0), call_id(1))
_SECOND_ARGUMENT = "zq5G1w"
_ARGUMENTS_BEGIN = re.compile(r'\{\s*"city"\s*:\s*"$')
_ARGUMENTS_END = re.compile(r'"\s*\}')


@dataclass(frozen=True, slots=True)
class CallFragments:
    """Text around JSON objects of arguments: `opening`, arguments, then (`between`, arguments) any times, `closing`.

    For a turn that calls one tool only; `opening` and `between` name it. `last` is the closing after several calls.
    """

    opening: str
    between: str
    closing: str
    last: str


@dataclass(frozen=True, slots=True)
class ResultFragments:
    """Text around a tool's result: `stem` follows it at once, then `again` before another result or `close`.

    `end` ends the turn that called, `rest` goes before the first result. `cue` opens the reply that follows. `quoted`:
    the template writes the result as a JSON string and has put the quotes into `prefix` and `stem`.
    """

    end: str
    rest: str
    prefix: str
    stem: str
    again: str
    close: str
    cue: str
    quoted: bool

    def spell(self, text: str) -> str:
        """The result as it stands between `prefix` and `stem`."""
        return json.dumps(text, ensure_ascii=False)[1:-1] if self.quoted else text


def offered(name: str) -> dict[str, object]:
    """A tool as templates receive it."""
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": parameters}}


def _call(name: str, call_id: str) -> Message:
    city = ARGUMENT if call_id == _CALL_IDS[0] else _SECOND_ARGUMENT
    return {"type": "function", "id": call_id, "function": {"name": name, "arguments": {"city": city}}}


def _result(name: str, call_id: str, mark: str) -> Message:
    return {"role": "tool", "name": name, "tool_call_id": call_id, "content": mark}


def exchange(template: ChatTemplate, name: str, results: Sequence[str], *, cue: bool = False, thought: str = "") -> str:
    """A question, one call of `name` for each of the results, after a `thought`, and these."""
    calls = [_call(name, _CALL_IDS[i]) for i in range(len(results))]
    asked = {"role": "assistant", "content": thought, "tool_calls": calls}
    answers = [_result(name, _CALL_IDS[i], result) for i, result in enumerate(results)]
    return template.render([message("user", USERS[0]), asked, *answers], cue=cue, tools=[offered(name)])


def _exchange_gaps(template: ChatTemplate, name: str, results: int, *, cue: bool = False) -> list[str]:
    """The text between the question, the first call's argument, the results, and the end."""
    text = exchange(template, name, RESULTS[:results], cue=cue)
    return gaps(text, (USERS[0], ARGUMENT, *RESULTS[:results]))[1:]


def _turn_end(text: str, fragments: Fragments, ends: Sequence[str]) -> tuple[str, str, str]:
    """Split the text after a call's argument at the end of the turn: the call's closing, the end, and what comes after.

    A model without an end token stops at the token of the next role, which belongs to what comes after.
    """
    at, end = min(((text.index(end), end) for end in ends if end and end in text), default=(len(text), ""))
    end = end if fragments.seal else ""
    return text[:at], end, text[at + len(end) :]


def derive_call(template: ChatTemplate, fragments: Fragments, ends: Sequence[str], name: str) -> CallFragments | None:
    """The text around the arguments of calls; None for a template that writes no calls, or not with JSON arguments."""
    try:
        opening, after, *_ = _exchange_gaps(template, name, 1)
    except TemplateError:
        return None
    opening = opening.removeprefix(fragments.user_suffix)
    for prefix in (fragments.cue, fragments.assistant_prefix):
        if prefix and opening.startswith(prefix):
            opening = opening.removeprefix(prefix)
            break
    after_two = _after_two_calls(template, name) or after
    closings = [
        _ARGUMENTS_END.sub("", _turn_end(text, fragments, ends)[0], count=1)
        for text in (after if _ends_turn(after, ends) else after_two, after_two)
        if _ARGUMENTS_END.match(text)
    ]
    before = _ARGUMENTS_BEGIN.search(opening)
    if before is None or len(closings) < 2:
        return None
    return CallFragments(opening[: before.start()], _between(template, name), *closings)


def derive_thought(template: ChatTemplate, fragments: Fragments, name: str) -> tuple[str, str] | None:
    """The text around what is thought in a message of its own, from the cue to the call; None for a template that
    writes none before a call."""
    try:
        called = _exchange_gaps(template, name, 1)[0].removeprefix(fragments.user_suffix)
        text = exchange(template, name, RESULTS[:1], thought=THOUGHT)
        _, before, after, *_ = gaps(text, (USERS[0], THOUGHT, ARGUMENT))
    except TemplateError:
        return None
    before, cue = before.removeprefix(fragments.user_suffix), fragments.cue
    if not (before.startswith(cue) and after.endswith(called) and called.startswith(cue)):
        return None
    return before.removeprefix(cue), after.removesuffix(called) + cue


def _ends_turn(text: str, ends: Sequence[str]) -> bool:
    return any(end in text for end in ends if end)


def _after_two_calls(template: ChatTemplate, name: str) -> str:
    """The text from the last argument of two calls to the first result: some templates end a turn only after two."""
    try:
        return exchange(template, name, RESULTS).partition(_SECOND_ARGUMENT)[2].partition(RESULTS[0])[0]
    except TemplateError:
        return ""


def _between(template: ChatTemplate, name: str) -> str:
    """The text between the arguments of two calls; "" where the template writes one call only."""
    text = _between_values(template, name)
    after, before = _ARGUMENTS_END.match(text), _ARGUMENTS_BEGIN.search(text)
    return text[after.end() : before.start()] if after and before else ""


def _between_values(template: ChatTemplate, name: str) -> str:
    try:
        return exchange(template, name, RESULTS).partition(ARGUMENT)[2].partition(_SECOND_ARGUMENT)[0]
    except TemplateError:
        return ""


def derive_separator(template: ChatTemplate, name: str, opening: str, closing: str) -> str:
    """The white space between two blocks of calls; a line break where the template writes one block only."""
    found = re.search(rf"{re.escape(closing)}(\s*){re.escape(opening)}", _between_values(template, name))
    return found[1] if found else "\n"


def derive_unanswered(template: ChatTemplate, fragments: Fragments, ends: Sequence[str], name: str) -> str:
    """What ends a turn that calls tool `name` where a question follows; the end of a reply where that is not told."""
    asked = {"role": "assistant", "content": "", "tool_calls": [_call(name, _CALL_IDS[0])]}
    turns = [message("user", USERS[0]), asked, message("user", USERS[1])]
    try:
        after = gaps(template.render(turns, tools=[offered(name)]), (USERS[0], ARGUMENT, USERS[1]))[2]
    except TemplateError:
        return fragments.seal
    return _turn_end(after, fragments, ends)[1] or fragments.seal


def derive_result(
    template: ChatTemplate, fragments: Fragments, spans: Spans, ends: Sequence[str], name: str
) -> ResultFragments:
    """The text around the results of tool `name`. Raises TemplateError for a template that has no place for results."""
    _, between, plain_end = _exchange_gaps(template, name, 1)
    cued_end = _exchange_gaps(template, name, 1, cue=True)[-1]
    suffix = cued_end.removesuffix(fragments.cue) if cued_end.endswith(fragments.cue) else plain_end
    # Where a reply begins inside its reasoning, decoders begin there too.
    goes_on = cued_end.startswith(suffix) and not opens_reasoning(fragments.cue)
    if not _ends_turn(between, ends):
        between = _after_two_calls(template, name) or between
    _, end, after = _turn_end(between, fragments, ends)
    prefix = after.removeprefix(fragments.assistant_rest)
    rest = after.removesuffix(prefix)
    try:
        again = _exchange_gaps(template, name, 2)[2]
    except TemplateError:
        again = suffix + prefix
    stem = common_prefix(suffix, again, spans)
    quoted = f'{RESULTS[0]}\\"' in exchange(template, name, [f'{RESULTS[0]}"'])
    cue = cued_end.removeprefix(suffix) if goes_on else fragments.cue
    if not cue and stem == suffix:  # a flush may come before the cue, which must not be empty then
        stem = without_last(stem, spans)
    return ResultFragments(end, rest, prefix, stem, again.removeprefix(stem), suffix.removeprefix(stem), cue, quoted)

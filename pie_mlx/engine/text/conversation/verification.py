"""Does writing turn by turn give what the template renders as a whole?"""

from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.calls import ChatState, Role, Turn
from pie_mlx.engine.text.conversation.fragments import final_reply_suffix, first_marker, message
from pie_mlx.engine.text.conversation.sentinels import USERS
from pie_mlx.engine.text.conversation.writing import TurnWriter
from pie_mlx.engine.text.templates.template import ChatTemplate
from pie_mlx.errors import TemplateError

_CONTENTS: tuple[tuple[tuple[Role, str], ...], ...] = (
    (("user", "Hello there"),),
    (("user", "\nFirst"), ("assistant", "Fine."), ("user", "Next?")),
    (("user", "One"), ("assistant", "1"), ("user", "Two"), ("assistant", "2"), ("user", "Three")),
)
_SYSTEM: tuple[Role, str] = ("system", "Be brief.")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, the last of them a cue, and their rendering as a whole."""

    turns: list[Turn]
    text: str


def conversations(template: ChatTemplate) -> list[Conversation]:
    """Conversations of one, two and three questions with and, where the template has a place for it, without system."""
    found = [_conversation(template, contents) for contents in _CONTENTS]
    for contents in _CONTENTS:
        try:
            whole = _conversation(template, (_SYSTEM, *contents))
        except TemplateError:
            break
        if _SYSTEM[1] in whole.text[: whole.text.find(contents[0][1].strip())]:  # else it moves with the last question
            found.append(whole)
    return found


def _conversation(template: ChatTemplate, contents: Sequence[tuple[Role, str]]) -> Conversation:
    turns = [*(Turn(role, text) for role, text in contents), Turn("cue")]
    return Conversation(turns, template.render([message(role, text) for role, text in contents], cue=True))


def check_writer(writer: TurnWriter, template: ChatTemplate) -> None:
    """Raises TemplateError, naming the first differing character, when a conversation comes out differently."""
    for case in conversations(template):
        _compare(_write(writer, case.turns), case.text)


def _write(writer: TurnWriter, turns: Sequence[Turn]) -> str:
    text, state = "", ChatState()
    for turn in turns:
        written = writer.write(turn, state)
        text, state = text + written.text, written.state
    return text


def _compare(written: str, whole: str) -> None:
    if written == whole:
        return
    place = next((i for i, (one, other) in enumerate(zip(written, whole, strict=False)) if one != other), None)
    place = min(len(written), len(whole)) if place is None else place
    raise TemplateError(
        f"chat template: turn by turn it differs from the whole at character {place}: "
        f"{written[place : place + 20]!r} instead of {whole[place : place + 20]!r}",
        hint="use ctx.append with tokens of your own, or repair the template",
    )


def adapt(template: ChatTemplate) -> None:
    """Find out how the template wants contents and absent tools: as text or parts, as None or an empty list."""
    turns = [message("user", USERS[0])]
    for template.content_parts in (False, True):
        for template.no_tools in (None, ()):
            try:
                if USERS[0] in template.render(turns):
                    return
            except TemplateError:
                continue
    template.content_parts, template.no_tools = False, None


def first_seal(template: ChatTemplate, markers: Sequence[str]) -> str:
    """What ends a reply, in a template whose turns cannot be told apart."""
    return first_marker(final_reply_suffix(template) or "", markers)

"""What a template writes around the turns of a conversation, read off renderings of marked messages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pie_mlx.engine.text.conversation.sentinels import ASSISTANTS, SYSTEM, USERS, common_prefix, common_suffix, gaps
from pie_mlx.engine.text.templates.template import ChatTemplate, Message
from pie_mlx.engine.text.tokens.tokenizer import Span
from pie_mlx.errors import TemplateError

Spans = Callable[[str], list[Span]]


def message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


@dataclass(frozen=True, slots=True)
class Fragments:
    """Text around contents. `opening` precedes the first user's content when there is no system text.

    `seal` ends an assistant's turn and `assistant_rest` follows it, once there is a next turn. `cue` opens a turn to be
    generated and need not be the `assistant_prefix` of history. `stop` is the token text at which a reply ends.
    """

    opening: str
    user_prefix: str
    user_suffix: str
    assistant_prefix: str
    seal: str
    assistant_rest: str
    cue: str
    stop: str

    @property
    def preamble(self) -> str:
        """What opens a conversation that does not begin with a user's turn."""
        return self.opening.removesuffix(self.user_prefix) if self.opening.endswith(self.user_prefix) else ""


def first_marker(text: str, markers: Iterable[str]) -> str:
    """The text up to and including the first control token in it, "" if there is none."""
    ends = [(text.index(marker), -len(marker), marker) for marker in markers if marker and marker in text]
    if not ends:
        return ""
    start, _, marker = min(ends)
    return text[: start + len(marker)]


def _last_in(text: str, markers: Iterable[str]) -> str:
    return max((marker for marker in markers if marker and text.endswith(marker)), key=len, default="")


def _conversation() -> list[Message]:
    (u1, u2, u3), (a1, a2) = USERS, ASSISTANTS
    return [
        message("user", u1),
        message("assistant", a1),
        message("user", u2),
        message("assistant", a2),
        message("user", u3),
    ]


_ORDER = (USERS[0], ASSISTANTS[0], USERS[1], ASSISTANTS[1], USERS[2])


def _user_prefix(template: ChatTemplate, spans: Spans, gap: str, opening: str, user_suffix: str) -> str:
    """Split the text between a reply and the next question: where does the question's own opening begin?"""
    for rule in (_by_two_users, _by_final_reply):
        prefix = rule(template, gap, user_suffix)
        if prefix is not None:
            return prefix
    return common_suffix(gap, opening, spans)


def _by_two_users(template: ChatTemplate, gap: str, user_suffix: str) -> str | None:
    turns = [message("user", USERS[0]), message("assistant", ASSISTANTS[0])]
    turns += [message("user", USERS[1]), message("user", USERS[2])]
    try:
        between = gaps(template.render(turns), (USERS[0], ASSISTANTS[0], USERS[1], USERS[2]))[3]
    except TemplateError:
        return None
    prefix = between.removeprefix(user_suffix)
    return prefix if between.startswith(user_suffix) and gap.endswith(prefix) else None


def _by_final_reply(template: ChatTemplate, gap: str, user_suffix: str) -> str | None:
    del user_suffix
    final = final_reply_suffix(template)
    return gap.removeprefix(final) if final is not None and gap.startswith(final) else None


def final_reply_suffix(template: ChatTemplate) -> str | None:
    """What follows a reply that ends the conversation; None where the template refuses to end there."""
    turns = [message("user", USERS[0]), message("assistant", ASSISTANTS[0])]
    try:
        return gaps(template.render(turns), (USERS[0], ASSISTANTS[0]))[2]
    except TemplateError:
        return None


def derive_fragments(template: ChatTemplate, spans: Spans, markers: Sequence[str]) -> Fragments:
    """Read the fragments off the template. `markers` are the texts of the control tokens.

    Raises TemplateError for a template whose turns cannot be told apart.
    """
    turns = _conversation()
    opening, _, _, before_reply, between, plain_end = gaps(template.render(turns), _ORDER)
    cued_end = gaps(template.render(turns, cue=True), _ORDER)[-1]
    user_suffix = plain_end if cued_end.startswith(plain_end) else common_prefix(plain_end, cued_end, spans)
    if not before_reply.startswith(user_suffix):
        user_suffix = common_prefix(user_suffix, before_reply, spans)
    user_prefix = _user_prefix(template, spans, between, opening, user_suffix)
    reply_suffix = between.removesuffix(user_prefix)
    seal = first_marker(reply_suffix, markers)
    final = final_reply_suffix(template) or ""
    stop = first_marker(final, markers) or seal or first_marker(between, markers)
    return Fragments(
        opening=opening,
        user_prefix=user_prefix,
        user_suffix=user_suffix,
        assistant_prefix=before_reply.removeprefix(user_suffix),
        seal=seal,
        assistant_rest=reply_suffix.removeprefix(seal),
        cue=cued_end.removeprefix(user_suffix),
        stop=_last_in(stop, markers),
    )


def derive_late_system(template: ChatTemplate, fragments: Fragments) -> tuple[str, str] | None:
    """What surrounds a system message after the first turn; None where the template has no place for one."""
    turns = [message("user", USERS[0]), message("assistant", ASSISTANTS[0])]
    turns += [message("system", SYSTEM), message("user", USERS[1])]
    try:
        _, _, before, after, _ = gaps(template.render(turns), (USERS[0], ASSISTANTS[0], SYSTEM, USERS[1]))
    except TemplateError:
        return None
    reply_suffix = fragments.seal + fragments.assistant_rest
    if not before.startswith(reply_suffix) or not after.endswith(fragments.user_prefix):
        return None
    return before.removeprefix(reply_suffix), after.removesuffix(fragments.user_prefix)


def trimmed_roles(template: ChatTemplate) -> frozenset[str]:
    """The roles whose contents the template strips of white space."""
    turns = [message("system", f"  {SYSTEM}  "), message("user", f"  {USERS[0]}  ")]
    turns += [message("assistant", f"  {ASSISTANTS[0]}  "), message("user", USERS[1])]
    marks = {"system": SYSTEM, "user": USERS[0], "assistant": ASSISTANTS[0]}
    for begin in (0, 1):
        try:
            text = template.render(turns[begin:])
        except TemplateError:
            continue
        return frozenset(role for role, mark in marks.items() if mark in text and f"  {mark}  " not in text)
    return frozenset()

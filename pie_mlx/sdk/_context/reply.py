"""How far the reply to a cue has come: what a decoder must know to go on in it, and where its answer begins."""

import re
from collections.abc import Collection, Sequence

from pie_mlx.sdk.detokenizer import token_bytes
from pie_mlx.sdk.model import Model

_HEADER_TOKENS = 64
"""No header is longer; what is, is text without one."""
_BOUNDS = (b"<|start|>", b"<|end|>")
_CALLED = re.compile(rb"to=functions\.([^\s<]+).*<\|message\|>", re.DOTALL)


def follow(model: Model, lead: Sequence[int], tokens: Sequence[int]) -> list[int]:
    """The lead of a reply that goes on with `tokens`; [] at its beginning.

    Where replies are made of messages it is the header of the message that is being written, as far as there is one;
    else the end of the thought that the cue has opened, up to the token that closes it.
    """
    opening = model.info.formats.answer_opening.encode()
    if model.info.formats.channels:
        return _follow_messages(model, lead, tokens)
    return _follow_thought(model, lead, tokens, opening) if opening else []


def already_said(model: Model, lead: Sequence[int]) -> list[int]:
    """What a decoder is to be fed before it goes on behind `lead`: nothing of it is visible text."""
    formats = model.info.formats
    if formats.channels:
        return list(lead) if any(token in formats.control_tokens for token in lead) else []
    is_closed = formats.answer_opening and formats.answer_opening.encode() in _spelled(model, lead)
    return model.tokenizer().encode(formats.answer_opening) if is_closed else []


def called_tool(model: Model, lead: Sequence[int]) -> str:
    """The tool that a message behind its header `lead` is written to; "" for another message."""
    found = _CALLED.search(_spelled(model, lead)) if model.info.formats.channels else None
    return found[1].decode(errors="replace") if found else ""


def answer_text(model: Model, tokens: Sequence[int]) -> str:
    """The text behind the opening of the answer, in a whole reply to a cue; "" where that has not come.

    As the text was held to a grammar, there is no control token in it.
    """
    formats = model.info.formats
    if not formats.channels:
        return model.tokenizer().decode(tokens).partition(formats.answer_opening)[2]
    if not _spelled(model, follow(model, [], tokens)).endswith(formats.answer_opening.encode()):
        return ""
    controls = frozenset(formats.control_tokens)
    begin = max(place for place, token in enumerate(tokens) if token in controls) + 1
    return model.tokenizer().decode(tokens[begin:])


def _follow_thought(model: Model, lead: Sequence[int], tokens: Sequence[int], closing: bytes) -> list[int]:
    followed = list(lead)
    for token in tokens:
        if closing in _spelled(model, followed):
            break
        # Every token has a byte at least, so that no more of them can hold the closing.
        followed = [*followed, token][-len(closing) :]
    return followed


def _follow_messages(model: Model, lead: Sequence[int], tokens: Sequence[int]) -> list[int]:
    header = list(lead)
    for token in tokens:
        is_whole = bool(header) and _is_mark(model, header[-1], (b"<|message|>",))
        if _is_mark(model, token, _BOUNDS) or (is_whole and _is_mark(model, token, (b"<|channel|>",))):
            header = [token]
        elif not is_whole:
            header = [*header, token][-_HEADER_TOKENS:]
    return header


def _is_mark(model: Model, token: int, marks: Collection[bytes]) -> bool:
    return token_bytes(model).get(token) in marks and token in model.info.formats.control_tokens


def _spelled(model: Model, tokens: Sequence[int]) -> bytes:
    spelled = token_bytes(model)
    return b"".join(spelled.get(token, b"") for token in tokens)

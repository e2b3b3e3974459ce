"""The state of a reply to a cue: what a decoder needs to continue in it, and where its answer begins.

The *lead* of a reply is the header of the message being written, where replies are made of messages. Elsewhere it is
the end of the thought that the cue has opened, up to the token that closes it.
"""

import re
from collections.abc import Collection, Sequence

from inferlet.detokenizer import token_bytes
from inferlet.model import Model

_HEADER_TOKENS = 64
"""Longer headers do not exist: anything longer is plain text."""
_BOUNDS = (b"<|start|>", b"<|end|>")
_CALLED = re.compile(rb"to=functions\.([^\s<]+).*<\|message\|>", re.DOTALL)


def extended_lead(model: Model, lead: Sequence[int], tokens: Sequence[int]) -> list[int]:
    """The lead after `tokens`; [] at the beginning of a reply."""
    opening = model.info.formats.answer_opening.encode()
    if model.info.formats.channels:
        return _header_after(model, lead, tokens)
    return _thought_after(model, lead, tokens, opening) if opening else []


def decoder_prefix(model: Model, lead: Sequence[int]) -> list[int]:
    """The tokens to feed a decoder before it continues after `lead`. None of them is visible text."""
    formats = model.info.formats
    if formats.channels:
        return list(lead) if any(token in formats.control_tokens for token in lead) else []
    is_closed = formats.answer_opening and formats.answer_opening.encode() in _spelled(model, lead)
    return model.tokenizer().encode(formats.answer_opening) if is_closed else []


def called_tool(model: Model, lead: Sequence[int]) -> str:
    """The tool that the message with the header `lead` calls; "" for any other message."""
    found = _CALLED.search(_spelled(model, lead)) if model.info.formats.channels else None
    return found[1].decode(errors="replace") if found else ""


def answer_text(model: Model, tokens: Sequence[int]) -> str:
    """The text after the opening of the answer, in a whole reply to a cue; "" where there is none.

    The text was generated under a grammar, so it has no control token.
    """
    formats = model.info.formats
    if not formats.channels:
        return model.tokenizer().decode(tokens).partition(formats.answer_opening)[2]
    if not _spelled(model, extended_lead(model, [], tokens)).endswith(formats.answer_opening.encode()):
        return ""
    controls = frozenset(formats.control_tokens)
    begin = max(place for place, token in enumerate(tokens) if token in controls) + 1
    return model.tokenizer().decode(tokens[begin:])


def _thought_after(model: Model, lead: Sequence[int], tokens: Sequence[int], closing: bytes) -> list[int]:
    followed = list(lead)
    for token in tokens:
        if closing in _spelled(model, followed):
            break
        # Every token has at least one byte, so the closing fits in so many tokens.
        followed = [*followed, token][-len(closing) :]
    return followed


def _header_after(model: Model, lead: Sequence[int], tokens: Sequence[int]) -> list[int]:
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

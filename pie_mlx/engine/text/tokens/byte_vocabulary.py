"""The bytes that each token stands for, whatever spelling the tokenizer's files use."""

import json
import re
from collections.abc import Callable
from typing import Any, cast

import tokenizers

_SPACE_MARK = "▁"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _visible_bytes() -> dict[str, int]:
    """The byte-level alphabet: printable Latin-1 bytes stand for themselves, the others follow from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


_ALPHABET = _visible_bytes()
_SPELLED = re.compile(f"[{re.escape(''.join(_ALPHABET))}]*")
_BYTES = str.maketrans({character: chr(byte) for character, byte in _ALPHABET.items()})


def _byte_level(token: str) -> bytes:
    return token.translate(_BYTES).encode("latin-1") if _SPELLED.fullmatch(token) else token.encode()


def _byte_fallback(token: str) -> bytes:
    match = _BYTE_TOKEN.fullmatch(token)
    return bytes([int(match[1], 16)]) if match else token.replace(_SPACE_MARK, " ").encode()


def _steps(decoder: dict[str, Any] | None) -> list[dict[str, Any]]:
    if decoder is None:
        return []
    return cast("list[dict[str, Any]]", decoder["decoders"]) if decoder["type"] == "Sequence" else [decoder]


class ByteVocabulary:
    """Token bytes by id. `strips_first_space`: decoding a whole text drops the space the tokenizer put before it."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        steps = _steps(json.loads(backend.to_str())["decoder"])
        kinds = {step["type"] for step in steps}
        self.is_byte_level = "ByteLevel" in kinds
        self.has_byte_fallback = "ByteFallback" in kinds
        self.strips_first_space = not self.is_byte_level and bool(kinds & {"Strip", "Metaspace"})
        spelling: Callable[[str], bytes] = _byte_level if self.is_byte_level else _byte_fallback
        self.tokens: dict[int, bytes] = {
            token_id: spelling(token) for token, token_id in backend.get_vocab(with_added_tokens=False).items()
        }
        for token_id, added in backend.get_added_tokens_decoder().items():
            self.tokens[token_id] = added.content.encode()

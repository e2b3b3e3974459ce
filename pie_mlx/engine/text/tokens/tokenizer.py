"""A tokenizer as the engine uses it: text to ids and back, bytes of every token, which tokens are control tokens."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, cast

import tokenizers

from pie_mlx.calls import Vocabulary
from pie_mlx.engine.text.steps import all_steps
from pie_mlx.engine.text.tokens.byte_vocabulary import ByteVocabulary
from pie_mlx.engine.text.tokens.encoding import PieceEncoder, Steps
from pie_mlx.errors import InvalidArgumentError, ModelLoadError

_BYTE_LEVEL_REGEX = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
"""The pattern a ByteLevel pre-tokenizer applies unless it is given another (GPT-2's)."""


_MARKUP = re.compile(r"<.+>|\[.+\]", re.DOTALL)
"""Added tokens that structure text, like `<tool_call>`; the others are ordinary text, like runs of spaces."""

LONG = 4096
"""With so many characters or tokens, encoding or decoding takes milliseconds."""


class PretrainedTokenizer(Protocol):
    """The part of a transformers tokenizer this room reads."""

    @property
    def eos_token_id(self) -> int | None: ...

    @property
    def special_tokens_map(self) -> dict[str, str | list[str]]: ...

    def get_chat_template(self, chat_template: str | None = None, tools: list[Any] | None = None) -> str: ...


class Span(NamedTuple):
    """A token and the characters it covers."""

    token: int
    start: int
    end: int


def _split_pattern(pre_tokenizer: dict[str, Any] | None) -> str:
    if pre_tokenizer is None:
        return ""
    if pre_tokenizer["type"] == "Sequence":
        found = [_split_pattern(step) for step in pre_tokenizer["pretokenizers"]]
        return next((pattern for pattern in found if pattern), "")
    if pre_tokenizer["type"] == "Split":
        return cast("str", pre_tokenizer["pattern"].get("Regex", ""))
    uses_own = pre_tokenizer["type"] == "ByteLevel" and pre_tokenizer.get("use_regex", True)
    return _BYTE_LEVEL_REGEX if uses_own else ""


class Tokenizer:
    """Wraps a transformers tokenizer with a `tokenizers` backend. Immutable, so any thread may use it.

    `control_ids` are the special tokens, `markup_ids` these and the other added tokens that structure text.

    Raises ModelLoadError for a tokenizer without such a backend.
    """

    def __init__(self, pretrained: PretrainedTokenizer) -> None:
        backend = getattr(pretrained, "backend_tokenizer", None)
        if not isinstance(backend, tokenizers.Tokenizer):
            raise ModelLoadError(
                f"tokenizer: {type(pretrained).__name__} has no fast implementation",
                hint="use a model whose folder has a tokenizer.json",
            )
        self.pretrained = pretrained
        self.backend = backend
        self._plain_backend = tokenizers.Tokenizer.from_str(backend.to_str())
        self._plain_backend.encode_special_tokens = True
        self._pieces, self._plain_pieces = PieceEncoder(backend), PieceEncoder(self._plain_backend)
        self.bytes_by_id = ByteVocabulary(backend)
        added = backend.get_added_tokens_decoder()
        self.added_texts = {token_id: token.content for token_id, token in added.items()}
        self.control_ids = frozenset(token_id for token_id, token in added.items() if token.special)
        self.markup_ids = self.control_ids | {
            token_id for token_id, text in self.added_texts.items() if _MARKUP.fullmatch(text)
        }

    @property
    def size(self) -> int:
        """One more than the highest token id."""
        return max(self.bytes_by_id.tokens) + 1

    @cached_property
    def longest_token_bytes(self) -> int:
        """The most bytes that a token stands for."""
        return max(map(len, self.bytes_by_id.tokens.values()))

    @property
    def eos_ids(self) -> list[int]:
        return [] if self.pretrained.eos_token_id is None else [self.pretrained.eos_token_id]

    @property
    def has_chat_template(self) -> bool:
        return bool(getattr(self.pretrained, "chat_template", None))

    @cached_property
    def begin_tokens(self) -> list[int]:
        """The special tokens that transformers puts before a text, such as BOS.

        What it puts after a text (T5's `</s>`) is left out: a text that a model continues has not ended.
        """
        begun = self.backend.encode("a")
        return [token for token, _ in takewhile(itemgetter(1), zip(begun.ids, begun.special_tokens_mask, strict=True))]

    @cached_property
    def begin_text(self) -> str:
        """The text of `begin_tokens`."""
        return "".join(self.backend.id_to_token(token) or "" for token in self.begin_tokens)

    @property
    def bos_text(self) -> str:
        """The text of the token that begins a sequence, "" if there is none."""
        text = self.pretrained.special_tokens_map.get("bos_token", "")
        return text if isinstance(text, str) else ""

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Token ids; special tokens in the text are recognised. With `begins` the text begins a sequence:
        `begin_tokens` come first, unless the text has them itself. None are added otherwise."""
        return all_steps(self.encoding(text, begins=begins))

    def encode_plain(self, text: str) -> list[int]:
        """Token ids with the text of special tokens spelled out in ordinary ones."""
        return all_steps(self.encoding(text, plain=True))

    def encoding(self, text: str, *, plain: bool = False, begins: bool = False) -> Steps:
        """`encode`, or `encode_plain`, in steps. Raises InvalidArgumentError for a text that cannot be cut."""
        before = self.begin_tokens if begins and not text.startswith(self.begin_text) else []
        if len(text) < LONG:
            backend = self._plain_backend if plain else self.backend
            return before + backend.encode(text, add_special_tokens=False).ids
        return before + (yield from (self._plain_pieces if plain else self._pieces).steps(text))

    def spans(self, text: str) -> list[Span]:
        """The tokens of `encode` with the characters each covers."""
        encoding = self.backend.encode(text, add_special_tokens=False)
        return [Span(token, start, end) for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)]

    def decode(self, tokens: Sequence[int]) -> str:
        """Text with special tokens kept. Raises InvalidArgumentError for an id the tokenizer does not have."""
        unknown = next((token for token in tokens if token not in self.bytes_by_id.tokens), None)
        if unknown is not None:
            raise InvalidArgumentError(f"decode: token {unknown} is not in the vocabulary", hint="check the token ids")
        return self.backend.decode(list(tokens), skip_special_tokens=False)

    def shown(self, tokens: Sequence[int]) -> str:
        """`decode` for people: an id the tokenizer does not have, as of a padded vocabulary, reads `<id>`."""
        parts = groupby(tokens, self.bytes_by_id.tokens.__contains__)
        return "".join(self.decode(list(part)) if known else "".join(f"<{id}>" for id in part) for known, part in parts)

    def piece(self, token: int) -> str:
        """The text of one token for people, with its spaces; bytes that are no whole character read `\\xf0`."""
        found = self.bytes_by_id.tokens.get(token)
        return f"<{token}>" if found is None else found.decode(errors="backslashreplace")

    def vocabulary(self) -> Vocabulary:
        """Every token id and its bytes, by rising id; the same object each time."""
        return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return self._vocabulary_of(self.bytes_by_id.tokens)

    def special_tokens(self) -> Vocabulary:
        """The control tokens and their texts, by rising id."""
        return self._vocabulary_of(self.control_ids)

    def split_regex(self) -> str:
        """The pattern of the pre-tokenisation, "" if there is none."""
        return self._split_regex

    @cached_property
    def _split_regex(self) -> str:
        return _split_pattern(json.loads(self.backend.to_str())["pre_tokenizer"])

    def id_of(self, text: str) -> int | None:
        """The token spelled exactly so, added or ordinary."""
        return self.backend.token_to_id(text)

    def has_control_text(self, text: str) -> bool:
        """Whether the text of a control token occurs in `text`."""
        return any(self.added_texts[token] in text for token in self.control_ids)

    def _vocabulary_of(self, token_ids: Iterable[int]) -> Vocabulary:
        ordered = sorted(token_ids)
        return Vocabulary(ordered, [self.bytes_by_id.tokens[token] for token in ordered])

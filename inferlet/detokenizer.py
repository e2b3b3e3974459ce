"""Incremental detokenisation, in time linear in the number of tokens."""

import codecs
from collections import deque
from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

from inferlet._calls.host import HostLink
from inferlet.model import Model
from pie_mlx.calls import ReadVocabulary, Vocabulary
from pie_mlx.errors import ModelError

Table = Mapping[int, bytes]

_tables: WeakKeyDictionary[HostLink, dict[str, Table]] = WeakKeyDictionary()
_recent: deque[tuple[Vocabulary, Table]] = deque(maxlen=4)
"""Vocabularies and their tables: programs in the engine's own interpreter get the same object each time, and building a
table of 150,000 tokens takes longer than many of them run."""


def token_bytes(model: Model) -> Table:
    """The bytes of every token, requested once per model."""
    tables = _tables.setdefault(model.host, {})
    if model.name not in tables:
        tables[model.name] = _table(model.host.call(ReadVocabulary(model.name)))
    return tables[model.name]


def _table(vocabulary: Vocabulary) -> Table:
    found = next((table for known, table in list(_recent) if known is vocabulary), None)
    if found is None:
        found = dict(zip(vocabulary.token_ids, vocabulary.tokens, strict=True))
        _recent.append((vocabulary, found))
    return found


class Detokenizer:
    """Text of a token stream. Bytes of an unfinished character are held back until it is whole.

    Ids the tokenizer does not have give no text.
    """

    def __init__(self, tokens: Mapping[int, bytes]) -> None:
        self._tokens = tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._has_text, self._unknown = False, 0

    def feed(self, tokens: Iterable[int]) -> str:
        """The text that these tokens complete."""
        self._has_text = True
        return self._decoder.decode(b"".join(self._tokens.get(token, b"") for token in tokens))

    def finish(self) -> str:
        """End the text: a remainder becomes one U+FFFD. The next `feed` begins a new one."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest

    def spell(self, token: int) -> str:
        """A control token's own text, "" for an id the tokenizer does not have."""
        self._unknown += token not in self._tokens
        return self._tokens.get(token, b"").decode(errors="replace")

    def end_reply(self) -> str:
        """`finish`. Raises ModelError for a reply without text whose ids are not the tokenizer's."""
        has_text, unknown = self._has_text, self._unknown
        self._has_text, self._unknown = False, 0
        if unknown and not has_text:
            raise ModelError(
                f"reply: none of it can be decoded, {unknown:,} of its tokens are not in the tokenizer's vocabulary",
                hint="the tokenizer is not that of the weights: copy the tokenizer files of the original model",
            )
        return self.finish()

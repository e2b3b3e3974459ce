"""Token ids to text as they come, in time linear in their number."""

import codecs
from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

from pie_mlx.sdk._host import Link
from pie_mlx.sdk.model import Model

_tables: WeakKeyDictionary[Link, dict[str, Mapping[int, bytes]]] = WeakKeyDictionary()


def token_bytes(model: Model) -> Mapping[int, bytes]:
    """The bytes of every token. Asked of the engine once per model."""
    tables = _tables.setdefault(model.host, {})
    if model.name not in tables:
        ids, tokens = model.tokenizer().vocabs()
        tables[model.name] = dict(zip(ids, tokens, strict=True))
    return tables[model.name]


class Detokenizer:
    """Text of a token stream. Bytes of an unfinished character are held back until it is whole (D5).

    Ids the tokenizer does not have give no text.
    """

    def __init__(self, tokens: Mapping[int, bytes]) -> None:
        self._tokens = tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, tokens: Iterable[int]) -> str:
        """The text that became whole with these tokens."""
        return self._decoder.decode(b"".join(self._tokens.get(token, b"") for token in tokens))

    def finish(self) -> str:
        """End the text: a remainder becomes one U+FFFD. The next `feed` begins a new one."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest

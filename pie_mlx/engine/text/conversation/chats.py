"""The chat renderers of one model: of its template as it is, and of the same with variables that programs set."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import InvalidArgumentError

MOST_KEPT = 32
"""Renderers with variables that are kept; one took 30 ms to make."""

LONGEST = 1 << 14
"""Characters of the variables of one, as JSON."""


class Chats:
    """Any thread may ask."""

    def __init__(self, tokenizer: Tokenizer, generation_eos_ids: Iterable[int] = ()) -> None:
        """Raises TemplateError for text that is no template."""
        self._tokenizer, self._ends = tokenizer, tuple(generation_eos_ids)
        self._varied: OrderedDict[str, ChatRenderer] = OrderedDict()
        self._turn = threading.Lock()
        self.plain = ChatRenderer(tokenizer, self._ends)

    def of(self, variables: str) -> ChatRenderer:
        """The renderer of the template with these `variables`, the JSON text of an object; "" for none.

        Raises InvalidArgumentError for those that the template does not read.
        """
        if not variables:
            return self.plain
        with self._turn:
            if variables not in self._varied:
                self._varied[variables] = ChatRenderer(self._tokenizer, self._ends, self._read(variables))
            self._varied.move_to_end(variables)
            while len(self._varied) > MOST_KEPT:
                self._varied.popitem(last=False)
            return self._varied[variables]

    def _read(self, text: str) -> Mapping[str, Any]:
        if len(text) > LONGEST:
            raise InvalidArgumentError(
                f"template variables: {len(text):,} characters, the most is {LONGEST:,}", hint="say it in a turn"
            )
        found, known = _decoded(text), self.plain.template.variables
        unknown = sorted(found.keys() - known)
        if unknown:
            listed = ", ".join(sorted(known)) or "none"
            raise InvalidArgumentError(
                f"template variables: the model's chat template reads no {', '.join(map(repr, unknown))}",
                hint=f"those it reads: {listed}",
            )
        return found


def _decoded(text: str) -> Mapping[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidArgumentError(f"template variables: {error}", hint="send a JSON object") from error

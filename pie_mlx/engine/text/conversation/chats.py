"""The chat renderers of one model: of its template as it is, and of the same with a date or variables of programs."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from pie_mlx.calls import ChatState, RenderedTurn, Turn
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.templates.template import EPOCH
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import InvalidArgumentError

MOST_KEPT = 32
"""Renderers with variables or dates that are kept; one took 30 ms to make."""

LONGEST = 1 << 14
"""Characters of the variables of one, as JSON."""


class Chats:
    """`clock` gives the local date and time. `plain` has no date: it writes turns only where the template reads none.
    Any thread may ask."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        generation_eos_ids: Iterable[int] = (),
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        """Raises TemplateError for text that is no template."""
        self._tokenizer, self._ends, self._clock = tokenizer, tuple(generation_eos_ids), clock
        self._varied: OrderedDict[tuple[str, str], ChatRenderer] = OrderedDict()
        self._turn = threading.Lock()
        self.plain = ChatRenderer(tokenizer, self._ends)

    def rendering(self, variables: str, turn: Turn, state: ChatState) -> Generator[int, None, RenderedTurn]:
        """`ChatRenderer.rendering` with these variables. The date is that of the conversation's beginning, which the
        state keeps: what was written at first stays a prefix of what is written after midnight."""
        began = self._began(state)
        rendered = yield from self.of(variables, began).rendering(turn, state)
        return replace(rendered, state=replace(rendered.state, began=began))

    def of(self, variables: str, began: str = "") -> ChatRenderer:
        """The renderer of the template with these `variables`, the JSON text of an object; "" for none.

        Raises InvalidArgumentError for those that the template does not read.
        """
        if not variables and not began:
            return self.plain
        key = variables, began
        with self._turn:
            if key not in self._varied:
                self._varied[key] = self._made(variables, began)
            self._varied.move_to_end(key)
            while len(self._varied) > MOST_KEPT:
                self._varied.popitem(last=False)
            return self._varied[key]

    def _began(self, state: ChatState) -> str:
        """No finer than the template tells it, so that conversations of one day share their beginnings."""
        unit = self.plain.template.date_unit
        if not unit:
            return ""
        moment = _moment(state.began) if state.began else self._clock()
        if unit == "day":
            moment = moment.replace(hour=0, minute=0)
        return moment.replace(second=0, microsecond=0).isoformat()

    def _made(self, variables: str, began: str) -> ChatRenderer:
        told = self._read(variables) if variables else {}
        date = _moment(began) if began else EPOCH
        if self.plain.template.date_unit and "date" in told:
            date = _moment(told["date"])
        return ChatRenderer(self._tokenizer, self._ends, told, date)

    def _read(self, text: str) -> dict[str, Any]:
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


def _moment(text: Any) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"template variables: date is {text!r}", hint='write it as "2026-07-26" or "2026-07-26T09:30"'
        ) from None


def _decoded(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidArgumentError(f"template variables: {error}", hint="send a JSON object") from error

"""One reply of a model: the passes that read its prompt and drew its tokens."""

import json
from dataclasses import dataclass, field

from pie_mlx.events import PassCompleted, TokensComputed
from pie_mlx.trace.assembly import is_prefill

CONTENT_BYTES = 64 << 10
"""The longest prompt and the longest reply in a span; longer ones lose their beginning."""


@dataclass(slots=True)
class Reply:
    """`drawn` tokens so far. `prompt` and `text` are filled only while events carry the tokens of passes."""

    start: float = 0.0
    end: float = 0.0
    first: float = 0.0
    input_tokens: int = 0
    cached_tokens: int = 0
    drawn: int = 0
    finish: str = ""
    prompt: bytearray = field(default_factory=bytearray)
    text: bytearray = field(default_factory=bytearray)

    def is_over(self, event: PassCompleted) -> bool:
        """Whether a pass belongs to the next reply: it reads a prompt after tokens were drawn."""
        return self.drawn > 0 and is_prefill(event)

    def take(self, event: PassCompleted) -> None:
        self.start = self.start or event.requested_seconds
        self.end = event.completed_seconds
        if not event.rows_read:
            return
        if not self.drawn:
            self.first = event.completed_seconds
            self.input_tokens = event.held_tokens + event.input_tokens
            self.cached_tokens = event.held_tokens + event.attached_tokens
        self.drawn += event.drawn_tokens
        self.finish = event.finish

    def read(self, event: TokensComputed) -> None:
        """What the prompt says, and what was drawn."""
        put, drawn = event.pieces[: len(event.inputs)], event.pieces[len(event.inputs) :]
        if not self.text:
            self.prompt += b"".join(put)
            del self.prompt[:-CONTENT_BYTES]
        self.text += b"".join(drawn)
        del self.text[:-CONTENT_BYTES]

    def attributes(self) -> dict[str, str | int | float | bool | list[str]]:
        """Its figures, and its content if events carried that."""
        found: dict[str, str | int | float | bool | list[str]] = {
            "gen_ai.usage.input_tokens": self.input_tokens,
            "gen_ai.usage.output_tokens": self.drawn,
            "gen_ai.usage.cache_read.input_tokens": self.cached_tokens,
            "gen_ai.response.time_to_first_chunk": max(0.0, self.first - self.start),
        }
        if self.finish:
            found["gen_ai.response.finish_reasons"] = [self.finish]
        if self.text:
            found["gen_ai.input.messages"] = json.dumps([_message("user", self.prompt)], ensure_ascii=False)
            answer = {**_message("assistant", self.text), "finish_reason": self.finish}
            found["gen_ai.output.messages"] = json.dumps([answer], ensure_ascii=False)
        return found


def _message(role: str, text: bytearray) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": text.decode("utf-8", "replace")}]}

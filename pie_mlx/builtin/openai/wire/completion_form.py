"""The base of the answers of both completions."""

import functools
import time
import uuid

from inferlet import runtime

from wire.refusals import error_object

_version = functools.cache(runtime.version)


class CompletionForm:
    """Answers are `kind` objects with choices, streams are `chunk_kind` objects; their ids begin with `prefix`.

    Subclasses format the `choices(pieces)` of a whole answer, and the `chunks(piece)` of a stream.
    """

    END = b"data: [DONE]\n\n"

    def __init__(self, request, model, prefix, kind, chunk_kind):
        self._request, self._kind = request, kind
        self._head = {
            "id": f"{prefix}-{uuid.uuid4().hex}",
            "object": chunk_kind,
            "created": int(time.time()),
            "model": model.name,
            "system_fingerprint": f"pie-{_version()}",
        }

    def whole(self, pieces, costs):
        return {**self._head, "object": self._kind, "choices": self.choices(pieces), **costs.figures()}

    def closing(self, costs):
        return [{**self._head, "choices": [], **costs.figures()}] if self._request.includes_usage else []

    def failed(self, error):
        return [{"error": error_object(error)}]

    def chunk(self, choice):
        """A chunk of one choice."""
        usage = {"usage": None} if self._request.includes_usage else {}
        return {**self._head, "choices": [choice], **usage}

"""A response in the client's format, whole or as a stream of events."""

import time

import msgspec
from wire.refusals import refusal_of
from wire.sending import identifier

from responses.output import Output

CODES = {400: "invalid_prompt", 429: "rate_limit_exceeded"}
"""The error codes that clients know, by HTTP status; others are server_error."""


class ResponseForm:
    """Events are numbered in order."""

    END = b""

    def __init__(self, request, model):
        self._head = {
            "id": identifier("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "model": model.name,
            **_settings(request),
        }
        self._output = Output()
        self._count = 0
        self._finish = None

    def whole(self, pieces, costs):
        for piece in pieces:
            self.chunks(piece)
        return self._finished(costs)

    def opening(self):
        begun = self._response("in_progress")
        return self._numbered({"type": f"response.{what}", "response": begun} for what in ("created", "in_progress"))

    def chunks(self, piece):
        self._finish = piece.finish
        return self._numbered(self._output.add(piece))

    def closing(self, costs):
        response = self._finished(costs)
        return self._numbered([{"type": f"response.{response['status']}", "response": response}])

    def failed(self, error):
        refusal = refusal_of(error)
        error = {"code": CODES.get(refusal.status, "server_error"), "message": str(refusal)}
        ending = self._numbered(self._output.close("incomplete"))
        return ending + self._numbered([{"type": "response.failed", "response": self._response("failed", error=error)}])

    def _finished(self, costs):
        figures = costs.figures()
        cut = {"incomplete_details": {"reason": "max_output_tokens"}} if self._finish == "length" else {}
        fields = {**cut, "usage": _usage(figures["usage"]), "timings": figures["timings"]}
        return self._response("incomplete" if cut else "completed", **fields)

    def _response(self, status, **fields):
        unknown = {"error": None, "incomplete_details": None, "usage": None}
        return {**self._head, "status": status, "output": self._output.data(), **unknown, **fields}

    def _numbered(self, events):
        found = [{**event, "sequence_number": self._count + place} for place, event in enumerate(events)]
        self._count += len(found)
        return found


def _settings(request):
    """The fields of the request that a response repeats."""
    given = ("max_output_tokens", "metadata", "parallel_tool_calls", "temperature", "top_logprobs", "top_p")
    return {
        **{name: getattr(request, name) for name in given},
        "instructions": request.instructions or None,
        "text": msgspec.to_builtins(request.text),
        "tool_choice": msgspec.to_builtins(request.tool_choice),
        "tools": msgspec.to_builtins(request.tools),
        "background": False,
        "previous_response_id": None,
        "reasoning": {"effort": request.reasoning.effort, "summary": None},
        "store": False,
        "truncation": "disabled",
    }


def _usage(usage):
    """The usage under the names of a response."""
    return {
        "input_tokens": usage["prompt_tokens"],
        # Typed clients require the tokens written to a cache, which cost nothing here.
        "input_tokens_details": {**usage["prompt_tokens_details"], "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
    }

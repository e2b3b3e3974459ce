"""HTTP answers that refuse a request."""

from dataclasses import dataclass

from starlette.responses import JSONResponse

RETRY_SECONDS = 1
"""When to retry after a refusal under load."""
_KINDS = {401: "authentication_error", 403: "permission_error"}
_ANTHROPIC_KINDS = {**_KINDS, 413: "request_too_large", 503: "overloaded_error"}
_CODES = {401: "invalid_api_key"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP answer that refuses. Retry after `retry_seconds`, unless 0."""

    status: int
    text: str
    retry_seconds: int = 0


def refused(status: int, text: str, path: str = "") -> JSONResponse:
    """A refusal in the form that clients of this path read: Anthropic's, Ollama's or OpenAI's."""
    headers = {"retry-after": str(RETRY_SECONDS)} if status == 503 else None
    if path.startswith("/v1/messages"):
        kind = _ANTHROPIC_KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return JSONResponse({"type": "error", "error": {"type": kind, "message": text}}, status, headers)
    if path.startswith("/api/"):
        return JSONResponse({"error": text}, status, headers)
    kind, code = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error"), _CODES.get(status)
    return JSONResponse({"error": {"message": text, "type": kind, "param": None, "code": code}}, status, headers)

"""HTTP answers that refuse a request."""

from dataclasses import dataclass

from starlette.responses import JSONResponse

RETRY_SECONDS = 1
"""When to retry after a refusal under load."""
_KINDS = {401: "authentication_error", 403: "permission_error"}
_CODES = {401: "invalid_api_key"}
_HEADERS = {415: {"accept-encoding": "gzip"}, 503: {"retry-after": str(RETRY_SECONDS)}}
_MESSAGES_KINDS = {**_KINDS, 404: "not_found_error", 413: "request_too_large", 503: "overloaded_error"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP answer that refuses. Retry after `retry_seconds`, unless 0."""

    status: int
    text: str
    retry_seconds: int = 0


def refused(status: int, text: str, path: str = "") -> JSONResponse:
    """A refusal in the form of the interface at `path`: Anthropic's, Ollama's, or else OpenAI's."""
    return JSONResponse(_content(status, text, path), status, _HEADERS.get(status))


def _content(status: int, text: str, path: str) -> object:
    if path.startswith("/api/"):
        return {"error": text}
    if path.startswith("/v1/messages"):
        kind = _MESSAGES_KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": text}}
    kind = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": text, "type": kind, "param": None, "code": _CODES.get(status)}}

"""Errors, in the form that clients of this interface expect."""

STATUS = {
    "invalid_argument": 400,
    "invalid_type": 400,
    "grammar": 400,
    "template": 400,
    "empty_mask": 400,
    "context_length": 400,
    "out_of_pages": 400,
    "model_not_found": 404,
    "token_budget": 429,
    "admission": 429,
}
"""The engine's errors by their code; all others are 500."""
HINTS = {"grammar": "remove or rewrite it"}
"""Hints for errors whose own hint is for authors of programs."""
TOO_LONG = {"context_length", "out_of_pages"}
KINDS = {400: "invalid_request_error", 404: "invalid_request_error", 405: "invalid_request_error", 429: "rate_limit"}


class Refusal(Exception):  # noqa: N818 - it is an answer
    """An error of the client: `param` is the field of its body, `code` a word for programs."""

    def __init__(self, status, message, *, param=None, code=None):
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    @classmethod
    def unknown_model(cls, name, names):
        known = ", ".join(names)
        return cls(404, f"The model '{name}' does not exist: there is {known}", param="model", code="model_not_found")


def refusal_of(error):
    """Any error as a refusal."""
    if isinstance(error, Refusal):
        return error
    kind = getattr(error, "code", "")
    status = STATUS.get(kind, 500)
    hint = HINTS.get(kind, getattr(error, "hint", ""))
    text = str(error) or type(error).__name__
    code = "context_length_exceeded" if kind in TOO_LONG else kind or None
    return Refusal(status, f"{text} ({hint})" if hint else text, code=code)


def error_object(error):
    """The object inside `{"error": ...}`."""
    refusal = refusal_of(error)
    kind = KINDS.get(refusal.status, "server_error")
    return {"message": str(refusal), "type": kind, "param": refusal.param, "code": refusal.code}


def answered(error):
    """An error as an HTTP answer."""
    refusal = refusal_of(error)
    return {"status": refusal.status, "body": {"error": error_object(refusal)}}

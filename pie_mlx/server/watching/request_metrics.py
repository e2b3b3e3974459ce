"""What requests to `/v1` and its like cost, for Prometheus: counted at their end, timed by the passes of processes."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram

from pie_mlx.events import Event, PassCompleted

OTHER = "other"
CLIENT_LEFT = 499
"""The status of a request whose client went away before the answer was complete, as nginx counts it."""
STORED_RESPONSE = "/v1/responses/{id}"
ENDPOINTS: Mapping[str, bool] = {
    "/v1/chat/completions": True,
    "/v1/completions": True,
    "/v1/responses": True,
    "/v1/responses/input_tokens": False,
    "/v1/responses/compact": False,
    STORED_RESPONSE: False,
    "/v1/messages": True,
    "/v1/messages/count_tokens": False,
    "/v1/embeddings": False,
    "/v1/models": False,
    "/api/chat": True,
    "/api/generate": True,
    "/api/embed": False,
    "/api/embeddings": False,
    "/api/tags": False,
    "/api/show": False,
    "/api/ps": False,
    "/api/version": False,
    OTHER: False,
}
"""The values of the label `endpoint`, with whether tokens are generated there."""
FINISH_REASONS = frozenset({"stop", "length", "tool_calls"})
_FIRST_TOKEN = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_TOKEN = (0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1)
_QUEUE = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 30, 60)
_WHOLE = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class Usage(msgspec.Struct, frozen=True):
    """What a program returned about its answer; `finish_reasons` of all choices."""

    finish_reasons: tuple[str, ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    @staticmethod
    def of(value: str) -> "Usage":
        """Read from a returned value, whatever a program returned."""
        try:
            return msgspec.json.decode(value, type=Usage)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return Usage()

    @property
    def finish_reason(self) -> str:
        """The finish reason of the first choice; "" if nothing was generated."""
        first = self.finish_reasons[0] if self.finish_reasons else ""
        return first if first in FINISH_REASONS or not first else OTHER


@dataclass(slots=True, eq=False)
class ServedRequest:
    """A request, in monotonic seconds. `process` is "" if none was started, `returned` what that returned.

    `duration_seconds` is 0 if no process answered it completely.
    """

    path: str
    status: int = CLIENT_LEFT
    process: str = ""
    asked_seconds: float = 0.0
    duration_seconds: float = 0.0
    returned: str = ""

    def end(self, status: int) -> None:
        """The answer is complete."""
        self.status, self.duration_seconds = status, time.monotonic() - self.asked_seconds


@dataclass(slots=True)
class _Passes:
    """The passes of one process that drew tokens, for `contexts` at once."""

    endpoint: str
    asked_seconds: float
    is_started: bool = False
    first_seconds: float = 0.0
    last_seconds: float = 0.0
    later_tokens: int = 0
    contexts: set[int] = field(default_factory=set[int])


class RequestMetrics:
    """Counts on one loop, for one model. All labels have few values, whatever clients send."""

    def __init__(self, model: str, registry: CollectorRegistry) -> None:
        self._model = model
        self._passes: dict[str, _Passes] = {}
        requests, labels = ("endpoint", "model", "status", "finish_reason"), ("endpoint", "model")
        self._requests = Counter("pie_http_requests", "Requests that are over", requests, registry=registry)
        self._prompt = Counter("pie_prompt_tokens", "Tokens of prompts, in all", labels, registry=registry)
        self._cached = Counter(
            "pie_prompt_cached_tokens", "Tokens of prompts that were cached", labels, registry=registry
        )
        self._generated = Counter("pie_generated_tokens", "Tokens of replies", labels, registry=registry)
        times = [
            ("pie_time_to_first_token_seconds", "From a request to its first token", _FIRST_TOKEN),
            ("pie_time_per_output_token_seconds", "Between the tokens of a reply, on average", _TOKEN),
            ("pie_request_queue_seconds", "From a request until the device computes for it", _QUEUE),
            ("pie_request_duration_seconds", "From a request to the end of its answer", _WHOLE),
        ]
        self._first_token, self._token, self._queue, self._whole = (
            Histogram(name, help, labels, buckets=buckets, registry=registry) for name, help, buckets in times
        )

    def begin(self, process: str, path: str, asked_seconds: float) -> None:
        """A process was started for a request."""
        self._passes[process] = _Passes(endpoint_of(path), asked_seconds)

    def observe(self, event: Event) -> None:
        if isinstance(event, PassCompleted) and (passes := self._passes.get(event.process)) is not None:
            self._observe_pass(passes, event)

    def finish(self, request: ServedRequest) -> None:
        """The request is over, and so is its process."""
        endpoint, usage = endpoint_of(request.path), Usage.of(request.returned)
        labels = (endpoint, self._model)
        self._requests.labels(*labels, str(request.status), usage.finish_reason).inc()
        self._prompt.labels(*labels).inc(max(usage.prompt_tokens, 0))
        self._cached.labels(*labels).inc(max(usage.cached_tokens, 0))
        self._generated.labels(*labels).inc(max(usage.completion_tokens, 0))
        passes = self._passes.pop(request.process, None)
        if passes is not None and passes.later_tokens:
            seconds = (passes.last_seconds - passes.first_seconds) * len(passes.contexts)
            self._token.labels(*labels).observe(seconds / passes.later_tokens)
        if request.duration_seconds:
            self._whole.labels(*labels).observe(request.duration_seconds)

    def _observe_pass(self, passes: _Passes, event: PassCompleted) -> None:
        labels = (passes.endpoint, self._model)
        if not passes.is_started and event.started_seconds >= passes.asked_seconds:
            passes.is_started = True
            self._queue.labels(*labels).observe(event.started_seconds - passes.asked_seconds)
        if not event.rows_read or not ENDPOINTS[passes.endpoint]:
            return
        passes.last_seconds = event.completed_seconds
        if event.context in passes.contexts:
            passes.later_tokens += event.drawn_tokens
            return
        passes.contexts.add(event.context)
        if not passes.first_seconds:
            passes.first_seconds = event.completed_seconds
            self._first_token.labels(*labels).observe(event.completed_seconds - passes.asked_seconds)


def endpoint_of(path: str) -> str:
    """The label of a path: OTHER for unknown ones. `/v1/models` stands for those of single models."""
    path = path.rstrip("/")
    if path.startswith("/v1/models/"):
        return "/v1/models"
    if path.startswith("/v1/responses/") and path not in ENDPOINTS:
        return STORED_RESPONSE
    return path if path in ENDPOINTS else OTHER

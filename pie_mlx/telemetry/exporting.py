"""Sends spans to a collector with OpenTelemetry's SDK, on its own thread. Only this module imports it."""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

import pie_mlx
from pie_mlx.events import Event
from pie_mlx.telemetry.spans import Finished, SpanFold
from pie_mlx.trace.traceparent import TraceParent

QUEUE_SPANS = 2048
"""Spans that wait to be sent; later ones are lost."""
SEND_SECONDS = 5.0
STOP_SECONDS = 3.0
"""How long the last spans may take when the engine stops."""
_PATH = "/v1/traces"
_KINDS = {"internal": SpanKind.INTERNAL, "server": SpanKind.SERVER, "client": SpanKind.CLIENT}

# A collector that is away must not fill the log: `WatchedExporter` tells it once.
logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
logging.getLogger("opentelemetry").propagate = False


class Telemetry:
    """An observer of events: `observe` makes spans and queues them. It never waits for the collector."""

    def __init__(
        self,
        exporter: SpanExporter,
        service_name: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        resource = Resource.create({"service.name": service_name, "service.version": pie_mlx.__version__})
        self._ids = _PlannedIds()
        self._provider = TracerProvider(
            sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False, id_generator=self._ids
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=QUEUE_SPANS))
        self._tracer = self._provider.get_tracer("pie_mlx", pie_mlx.__version__)
        self._fold = SpanFold()
        self._offset_seconds = wall_clock() - clock()

    def observe(self, event: Event) -> None:
        for span in self._fold.observe(event):
            self._record(span)

    def flush(self) -> None:
        """Send everything now; waits for the collector."""
        self._provider.force_flush()

    def close(self) -> None:
        """Send what is queued, and give up after STOP_SECONDS."""
        closing = threading.Thread(target=self._provider.shutdown, name="pie-telemetry", daemon=True)
        closing.start()
        closing.join(STOP_SECONDS)

    def _record(self, finished: Finished) -> None:
        self._ids.plan(finished.trace, finished.span)
        span = self._tracer.start_span(
            finished.name,
            None if finished.above is None else set_span_in_context(NonRecordingSpan(_context(finished.above))),
            _KINDS[finished.kind],
            finished.attributes,
            start_time=self._nanoseconds(finished.start),
        )
        if finished.error:
            span.set_attribute("error.type", finished.error)
            span.set_status(Status(StatusCode.ERROR))
        span.end(self._nanoseconds(max(finished.start, finished.end)))

    def _nanoseconds(self, seconds: float) -> int:
        return int((seconds + self._offset_seconds) * 1e9)


class WatchedExporter(SpanExporter):
    """Passes spans to another exporter. `report` gets one line when spans are lost, and one when the next arrive."""

    def __init__(self, exporter: SpanExporter, endpoint: str, report: Callable[[str], None]) -> None:
        self._exporter, self._endpoint, self._report = exporter, endpoint, report
        self._fails = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._exporter.export(spans)
        except Exception:
            result = SpanExportResult.FAILURE
        fails = result is not SpanExportResult.SUCCESS
        if fails and not self._fails:
            self._report(f"telemetry: {self._endpoint} takes no spans: they are lost until it does; all else goes on")
        elif self._fails and not fails:
            self._report(f"telemetry: {self._endpoint} takes spans again")
        self._fails = fails
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _PlannedIds(IdGenerator):
    """Gives the next span the names that were planned for it. For one thread."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._trace = self._span = ""

    def plan(self, trace: str, span: str) -> None:
        """`span` "" is a random one."""
        self._trace, self._span = trace, span

    def generate_span_id(self) -> int:
        return int(self._span, 16) if self._span else self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        return int(self._trace, 16)


def otlp_exporter(endpoint: str, report: Callable[[str], None]) -> WatchedExporter:
    """Sends to an OTLP/HTTP collector at `endpoint`, with or without the path."""
    url = endpoint if endpoint.rstrip("/").endswith(_PATH) else endpoint.rstrip("/") + _PATH
    return WatchedExporter(OTLPSpanExporter(endpoint=url, timeout=SEND_SECONDS), endpoint, report)


def _context(place: TraceParent) -> SpanContext:
    return SpanContext(int(place.trace, 16), int(place.span, 16), is_remote=True, trace_flags=TraceFlags(1))

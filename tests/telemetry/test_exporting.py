"""Spans through OpenTelemetry's SDK, into memory and to a collector that speaks OTLP over HTTP."""

import sys
import threading
import uuid

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pie_mlx.config.schema import TelemetryConfig
from pie_mlx.errors import ConfigError
from pie_mlx.events import McpCalled, ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.telemetry.configured import content_details, telemetry_of
from pie_mlx.telemetry.exporting import Telemetry, otlp_exporter
from pie_mlx.trace.traceparent import process_span

ID = str(uuid.UUID(int=7))
EVENTS = [
    ProcessLaunched(ID, "ada", "agent@1.0.0", at_seconds=100.0),
    McpCalled(ID, "web", "tools/call", 0.5, tool="search", at_seconds=101.0, span="00f067aa0ba902b7"),
    ProcessFailed(ID, "ValueError", "no", at_seconds=102.5),
]


def test_the_sdk_gets_spans_with_their_own_names_times_and_places():
    memory = InMemorySpanExporter()
    telemetry = Telemetry(memory, "pie", clock=lambda: 100.0, wall_clock=lambda: 1_700_000_000.0)
    for event in EVENTS:
        telemetry.observe(event)
    telemetry.flush()
    tool, agent = memory.get_finished_spans()
    telemetry.close()
    assert (agent.name, agent.kind, agent.parent) == ("invoke_agent agent", SpanKind.INTERNAL, None)
    assert (agent.context.trace_id, f"{agent.context.span_id:016x}") == (7, process_span(ID))
    assert (agent.start_time, agent.end_time) == (1_700_000_000 * 10**9, 1_700_000_002_500_000_000)
    assert (agent.status.status_code, agent.attributes["error.type"]) == (StatusCode.ERROR, "ValueError")
    assert (tool.context.trace_id, f"{tool.context.span_id:016x}") == (7, "00f067aa0ba902b7")
    assert tool.parent.span_id == agent.context.span_id
    assert agent.resource.attributes["service.name"] == "pie"


def test_a_collector_receives_them_over_http(collector):
    with telemetry_of(TelemetryConfig(True, collector.endpoint, "mine"), pytest.fail) as observe:
        for event in EVENTS:
            observe(event)
    assert set(collector.paths) == {"/v1/traces"}
    tool, agent = collector.spans()
    assert collector.services == {"mine"}
    assert (tool.name, agent.name, tool.parent_span_id == agent.span_id) == (
        "tools/call search",
        "invoke_agent agent",
        True,
    )
    found = {each.key: each.value for each in tool.attributes}
    assert found["gen_ai.tool.name"].string_value == "search"


def test_an_endpoint_may_name_the_path(collector):
    with telemetry_of(TelemetryConfig(True, f"{collector.endpoint}/v1/traces"), pytest.fail) as observe:
        for event in EVENTS:
            observe(event)
    assert collector.paths == ["/v1/traces"]


def test_a_collector_that_refuses_is_told_once_and_again_when_it_takes_them(collector):
    told = []
    telemetry = Telemetry(otlp_exporter(collector.endpoint, told.append), "pie")
    for status in (400, 400, 200):
        collector.status = status
        for event in EVENTS:
            telemetry.observe(event)
        telemetry.flush()
    telemetry.close()
    assert told == [
        f"telemetry: {collector.endpoint} takes no spans: they are lost until it does; all else goes on",
        f"telemetry: {collector.endpoint} takes spans again",
    ]


def test_nobody_waits_for_a_collector_that_is_away_and_its_spans_take_bounded_memory():
    """The exporter hangs for ever: events go on being observed, and the end does not wait for it."""
    hangs, released = threading.Event(), threading.Event()

    class Hanging(InMemorySpanExporter):
        def export(self, spans):
            hangs.set()
            released.wait()
            return super().export(spans)

    memory = Hanging()
    telemetry = Telemetry(memory, "pie")
    for number in range(5000):
        process = str(uuid.UUID(int=number + 1))
        telemetry.observe(ProcessLaunched(process, "ada", "p@1.0.0", at_seconds=1.0))
        telemetry.observe(ProcessReturned(process, "", at_seconds=2.0))
    assert hangs.wait(10)
    released.set()
    telemetry.flush()
    telemetry.close()
    assert 0 < len(memory.get_finished_spans()) < 4000


def test_off_is_off_and_content_is_asked_for_apart():
    with telemetry_of(TelemetryConfig(), pytest.fail) as observe:
        assert observe is None
    assert content_details(TelemetryConfig(enabled=True)) == ()
    assert content_details(TelemetryConfig(enabled=True, capture_content=True)) == ("tokens_computed",)
    assert content_details(TelemetryConfig(capture_content=True)) == ()


def test_without_the_extra_the_start_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "pie_mlx.telemetry.exporting", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with (
        pytest.raises(ConfigError, match="is not installed") as raised,
        telemetry_of(TelemetryConfig(enabled=True), pytest.fail),
    ):
        pass
    assert "pie-mlx[telemetry]" in raised.value.hint

import uuid

import pytest

from pie_mlx.trace.traceparent import TraceParent, parse_traceparent, process_span, trace_of, traceparent_header

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_a_header_names_a_span_and_whether_it_is_recorded():
    assert parse_traceparent(VALID) == TraceParent(TRACE, SPAN, sampled=True)
    assert parse_traceparent(VALID[:-1] + "0") == TraceParent(TRACE, SPAN, sampled=False)
    assert str(TraceParent(TRACE, SPAN)) == VALID


def test_a_later_version_may_be_longer():
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01-what-comes") == TraceParent(TRACE, SPAN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        VALID.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"{VALID}-more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        VALID[:-3],
    ],
)
def test_anything_else_is_none(text):
    assert parse_traceparent(text) is None


def test_two_headers_are_as_good_as_none():
    assert traceparent_header([("traceparent", VALID)]) == VALID
    assert traceparent_header([("traceparent", VALID)] * 2) == ""
    assert traceparent_header([("traceparent", "no")]) == ""


def test_a_process_has_a_span_in_the_trace_above_it_or_begins_one():
    process = str(uuid.uuid4())
    assert trace_of(process, TraceParent(TRACE, SPAN, sampled=False)) == TraceParent(
        TRACE, process_span(process), False
    )
    assert trace_of(process, None) == TraceParent(uuid.UUID(process).hex, process_span(process))

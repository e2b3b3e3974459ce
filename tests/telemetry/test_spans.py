"""Events become spans with the names and attributes of the conventions."""

import json
import uuid

import pytest

from pie_mlx.events import (
    ContextReleased,
    EngineStarted,
    HttpFetched,
    McpCalled,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessReturned,
    TokensComputed,
)
from pie_mlx.telemetry.spans import SpanFold
from pie_mlx.trace.traceparent import process_span

PARENT, CHILD = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
ASKED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
LAUNCHED = ProcessLaunched(PARENT, "ada", "agent@1.0.0", at_seconds=1.0)
RETURNED = ProcessReturned(PARENT, "", at_seconds=9.0)


def spans(*events):
    fold = SpanFold("m")
    return [span for event in events for span in fold.observe(event)]


def pass_(inputs, start, end, *, held=0, attached=0, rows=1, following=0, finish="", context=1):
    return PassCompleted(
        PARENT,
        context,
        attached,
        inputs - attached + following,
        rows,
        held_tokens=held,
        requested_seconds=start,
        completed_seconds=end,
        following=following,
        finish=finish,
    )


def test_a_process_is_an_agent_that_was_invoked():
    (span,) = spans(EngineStarted("pie-tiny", "market", 1, 1), LAUNCHED, RETURNED)
    assert (span.name, span.kind, span.start, span.end) == ("invoke_agent agent", "internal", 1.0, 9.0)
    assert (span.trace, span.span, span.above, span.error) == (f"{1:032x}", process_span(PARENT), None, "")
    assert span.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "pie_mlx",
        "gen_ai.agent.name": "agent",
        "gen_ai.agent.version": "1.0.0",
        "gen_ai.request.model": "pie-tiny",
        "pie.process.id": PARENT,
        "user.name": "ada",
    }


def test_a_failure_names_its_class():
    (span,) = spans(LAUNCHED, ProcessFailed(PARENT, "ValueError", "no", at_seconds=2.0))
    assert span.error == "ValueError"


def test_a_child_is_a_part_of_its_parent():
    child = ProcessLaunched(CHILD, "ada", "helper@1.0.0", parent=PARENT, at_seconds=2.0)
    inner, outer = spans(LAUNCHED, child, ProcessReturned(CHILD, "", at_seconds=3.0), RETURNED)
    assert (inner.trace, inner.above.span) == (outer.trace, outer.span)


def test_a_request_is_served_below_the_span_that_asked():
    asked = json.dumps({"path": "/v1/chat/completions"})
    launched = ProcessLaunched(
        PARENT, "ada", "openai@1.0.0", input=asked, asked_seconds=0.5, at_seconds=1.0, traceparent=f"{ASKED}-01"
    )
    (span,) = spans(launched, ProcessReturned(PARENT, "", status=200, at_seconds=2.0))
    assert (span.name, span.kind, span.start) == ("/v1/chat/completions", "server", 0.5)
    assert (span.trace, span.above.span) == (ASKED[3:35], ASKED[36:])
    assert (span.attributes["url.path"], span.attributes["http.response.status_code"]) == ("/v1/chat/completions", 200)


def test_a_request_that_its_client_does_not_record_has_no_spans():
    launched = ProcessLaunched(PARENT, "ada", "p@1.0.0", at_seconds=1.0, traceparent=f"{ASKED}-00")
    assert spans(launched, pass_(20, 1.0, 2.0), ContextReleased(PARENT, 1), RETURNED) == []


def test_a_reply_is_a_chat_with_the_tokens_it_took():
    chat, _ = spans(
        LAUNCHED,
        pass_(30, 2.0, 3.0, held=10, attached=16),
        pass_(1, 3.0, 4.0, held=40, following=3, finish="stop"),
        RETURNED,
    )
    assert (chat.name, chat.kind, chat.start, chat.end) == ("chat m", "internal", 2.0, 4.0)
    assert (chat.trace, chat.above.span) == (f"{1:032x}", process_span(PARENT))
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "pie_mlx",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m",
        "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 26,
        "gen_ai.response.time_to_first_chunk": 1.0,
        "gen_ai.response.finish_reasons": ["stop"],
        "pie.context": 1,
    }


@pytest.mark.parametrize("end", [ContextReleased(PARENT, 1), pass_(20, 5.0, 6.0, rows=0), RETURNED])
def test_a_reply_ends_with_its_context_its_process_or_the_next_prompt(end):
    found = spans(LAUNCHED, pass_(30, 2.0, 3.0), end)
    assert [span.name for span in found if span.name.startswith("chat")] == ["chat m"]
    assert found[0].end == 3.0


def test_a_prompt_that_draws_nothing_is_no_reply():
    assert [span.name for span in spans(LAUNCHED, pass_(30, 2.0, 3.0, rows=0), RETURNED)] == ["invoke_agent agent"]


def test_texts_are_there_only_if_the_tokens_of_passes_are_told():
    prompt = TokensComputed(PARENT, 1, 0, (1, 2), (3,), pieces=(b"Hel", b"lo", "é".encode()[:1]))
    later = TokensComputed(PARENT, 1, 2, (3,), (4,), pieces=("é".encode()[:1], "é".encode()[1:]))
    chat, _ = spans(LAUNCHED, prompt, pass_(30, 2.0, 3.0), later, pass_(1, 3.0, 4.0, finish="length"), RETURNED)
    asked, told = (json.loads(chat.attributes[f"gen_ai.{side}.messages"]) for side in ("input", "output"))
    assert asked == [{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}]
    assert told == [
        {"role": "assistant", "parts": [{"type": "text", "content": "é"}], "finish_reason": "length"},
    ]


def test_a_tool_is_executed_by_the_conventions_of_mcp():
    called = McpCalled(PARENT, "web", "tools/call", 0.5, "refused", "search", at_seconds=3.0, span="00f067aa0ba902b7")
    tool, _ = spans(LAUNCHED, called, RETURNED)
    assert (tool.name, tool.kind, tool.span, tool.error) == (
        "tools/call search",
        "client",
        "00f067aa0ba902b7",
        "tool_error",
    )
    assert (tool.start, tool.end, tool.above.span) == (2.5, 3.0, process_span(PARENT))
    assert tool.attributes == {
        "mcp.method.name": "tools/call",
        "pie.mcp.server": "web",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
    }
    listed, _ = spans(LAUNCHED, McpCalled(PARENT, "web", "tools/list", 0.5, at_seconds=3.0), RETURNED)
    assert (listed.name, set(listed.attributes)) == ("tools/list", {"mcp.method.name", "pie.mcp.server"})


def test_a_fetch_is_a_request_of_a_client():
    fetch, _ = spans(LAUNCHED, HttpFetched(PARENT, "pypi.org", 443, 0.5, 3.0), RETURNED)
    assert (fetch.name, fetch.kind) == ("CONNECT", "client")
    assert fetch.attributes == {"http.request.method": "CONNECT", "server.address": "pypi.org", "server.port": 443}

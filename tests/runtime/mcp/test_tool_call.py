import json

import pytest

from pie_mlx.runtime.mcp.tool_call import ERROR_CHARACTERS, called_tool, tool_error, with_traceparent
from pie_mlx.trace.traceparent import TraceParent


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", '{"name": "read", "arguments": {}}', "read"),
        ("tools/list", '{"name": "read"}', ""),
        ("tools/call", '{"arguments": {}}', ""),
        ("tools/call", "no JSON", ""),
    ],
)
def test_only_a_call_of_a_tool_names_one(method, params, name):
    assert called_tool(method, params) == name


def test_a_tool_that_failed_is_quoted_and_one_that_says_nothing_is_told():
    parts = [{"type": "text", "text": "no such"}, {"type": "image", "data": "aGk="}, {"type": "text", "text": "file"}]
    assert tool_error(json.dumps({"isError": True, "content": parts})) == "no such file"
    assert tool_error('{"isError": true, "content": []}') == "the tool failed and does not say why"
    long = {"isError": True, "content": [{"type": "text", "text": "x" * 9999}]}
    assert len(tool_error(json.dumps(long))) == ERROR_CHARACTERS


@pytest.mark.parametrize("result", ['{"content": []}', '{"isError": false, "content": [{"text": "fine"}]}', "[]", "x"])
def test_an_answer_without_a_failure_has_no_error(result):
    assert tool_error(result) == ""


TRACE = TraceParent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")


def test_a_call_names_its_trace_beside_what_the_program_put_there():
    params = json.loads(with_traceparent('{"name": "read", "_meta": {"progressToken": 1}}', TRACE))
    assert params == {"name": "read", "_meta": {"progressToken": 1, "traceparent": str(TRACE)}}
    assert json.loads(with_traceparent("{}", TRACE)) == {"_meta": {"traceparent": str(TRACE)}}


@pytest.mark.parametrize("params", ['{"_meta": {"traceparent": "its own"}}', '{"_meta": 3}'])
def test_a_trace_of_the_programs_own_stays_and_so_does_what_is_no_object(params):
    assert json.loads(with_traceparent(params, TRACE)) == json.loads(params)

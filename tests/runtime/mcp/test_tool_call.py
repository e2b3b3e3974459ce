import json

import pytest

from pie_mlx.runtime.mcp.tool_call import ERROR_CHARACTERS, called_tool, tool_error


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

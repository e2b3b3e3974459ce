"""Tool calls whose arguments are not written as JSON: tagged parameters, Python calls, unquoted keys."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from pie_mlx.calls import ParsedToolCall
from pie_mlx.engine.text.tools.json_calls import named_call, parse_llama
from pie_mlx.engine.text.tools.tagged import tagged
from pie_mlx.engine.text.value_kinds import TEXT_ALONE, kinds_of, value_kinds
from pie_mlx.syntax import parsing

LONGEST_PYTHON = 32 << 10
"""Characters of calls written in Python: its parser takes the square of a text's length for some."""

_FUNCTION = re.compile(r"<function=([^>\n]{1,256})>")
_PARAMETER = re.compile(r"<parameter=([^>\n]{1,256})>")
_INVOKE = re.compile(r'<invoke name="([^"]{1,256})">')
_INVOKE_PARAMETER = re.compile(r'<parameter name="([^"]{1,256})">')
_GLM_KEY = re.compile(r"<arg_key>([^<]{0,256})</arg_key>\s{0,16}<arg_value>")
_GEMMA = re.compile(r"\s*call:([\w.\-]+)\s*(\{.*\})\s*", re.DOTALL)
_GEMMA_STRING = re.compile(r'<\|"\|>(.*?)<\|"\|>|<escape>(.*?)<escape>', re.DOTALL)
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_][\w.\-]*)\s*:")

_PYTHON = {"True": True, "False": False, "None": None}

Schemas = Mapping[str, Mapping[str, Any]]


def _one_line_break_less(text: str) -> str:
    return text.removeprefix("\n").removesuffix("\n")


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def typed_value(text: str, schema: Mapping[str, Any] | None, root: object = None) -> Any:
    """An untyped value as its schema says: JSON where it is JSON of a kind that is allowed, else text as written.

    `root` is the schema that references lead into.
    """
    kinds = kinds_of(schema, root)
    if kinds == TEXT_ALONE:
        return text
    if "string" not in kinds and text.strip() in _PYTHON:
        value: Any = _PYTHON[text.strip()]
        return value if value_kinds(value) <= kinds else text
    try:
        value = json.loads(text, parse_constant=_no_json)
    except ValueError:
        return text
    if isinstance(value, str):
        return text if "string" in kinds else value
    return value if "string" not in kinds or value_kinds(value) & kinds else text


def _typed(name: str, pairs: list[tuple[str, str]], schemas: Schemas) -> ParsedToolCall:
    root = schemas.get(name, {})
    properties = cast("dict[str, Any]", root.get("properties", {}))
    return named_call(name, {key.strip(): typed_value(text, properties.get(key.strip()), root) for key, text in pairs})


def parse_function_tags(body: str, schemas: Schemas) -> list[ParsedToolCall]:
    """`<function=f>` with `<parameter=k>` inside."""
    functions = list(tagged(body, _FUNCTION, "</function>", may_stay_open=True))
    if not functions:
        raise ValueError("no function tag")
    return [_typed(name.strip(), _parameters(inner), schemas) for name, inner in functions]


def _parameters(inner: str) -> list[tuple[str, str]]:
    return [(key, _one_line_break_less(text)) for key, text in tagged(inner, _PARAMETER, "</parameter>")]


def parse_invoke_tags(body: str, schemas: Schemas) -> list[ParsedToolCall]:
    """`<invoke name="f">` with `<parameter name="k">` inside."""
    invocations = list(tagged(body, _INVOKE, "</invoke>"))
    if not invocations:
        raise ValueError("no invoke tag")
    return [
        _typed(name, list(tagged(inner, _INVOKE_PARAMETER, "</parameter>")), schemas) for name, inner in invocations
    ]


def parse_key_value_tags(body: str, schemas: Schemas) -> list[ParsedToolCall]:
    """The name, then pairs of key and value tags."""
    name = body.partition("<arg_key>")[0].strip()
    if not name or "\n" in name:
        raise ValueError("no name before the arguments")
    return [_typed(name, list(tagged(body, _GLM_KEY, "</arg_value>")), schemas)]


def parse_gemma(body: str, schemas: Schemas) -> list[ParsedToolCall]:
    """`call:f{k:v}` with bare keys, and strings between marks of their own."""
    del schemas
    found = _GEMMA.fullmatch(body)
    if not found:
        raise ValueError("no call")
    strings: list[str] = []

    def keep(match: re.Match[str]) -> str:
        strings.append(match[1] if match[1] is not None else match[2])
        return f'"\ue000{len(strings) - 1}\ue000"'

    quoted = _BARE_KEY.sub(r'\1"\2":', _GEMMA_STRING.sub(keep, found[2]))
    restored = re.sub(
        '"\ue000(\\d+)\ue000"', lambda match: json.dumps(strings[int(match[1])], ensure_ascii=False), quoted
    )
    return [named_call(found[1], json.loads(restored))]


def parse_python(body: str, schemas: Schemas) -> list[ParsedToolCall]:
    """A list of Python calls with keyword arguments that are literals."""
    del schemas
    if len(body) > LONGEST_PYTHON:
        raise ValueError("longer than any list of calls")
    try:
        with parsing():
            tree = ast.parse(body.strip(), mode="eval").body
        items = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
        return [_python_call(item) for item in items]
    except (SyntaxError, MemoryError, TypeError) as error:  # TypeError: literals that JSON has not
        raise ValueError("not a list of calls") from error


def _python_call(node: ast.expr) -> ParsedToolCall:
    if not isinstance(node, ast.Call) or node.args or any(keyword.arg is None for keyword in node.keywords):
        raise ValueError("not a call with keyword arguments")
    name = ast.unparse(node.func)
    return named_call(name, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords})


def parse_python_tag(body: str, schemas: Schemas) -> list[ParsedToolCall]:
    """What follows `<|python_tag|>`: a call as JSON, or of a built-in tool as `tool.call(query="...")`."""
    try:
        return parse_llama(body, schemas)
    except ValueError:
        calls = parse_python(body, schemas)
        return [ParsedToolCall(call.name.removesuffix(".call"), call.arguments) for call in calls]

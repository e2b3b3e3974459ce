"""The bodies of requests, read strictly: what is not supported is refused, whatever else the body says."""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from refusals import Refusal

NEUTRAL = {
    "audio": (),
    "best_of": (1,),
    "frequency_penalty": (0,),
    "function_call": (),
    "functions": (),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "prediction": (),
    "presence_penalty": (0,),
    "reasoning_effort": (),
    "service_tier": ("auto", "default"),
    "store": (False,),
    "suffix": ("",),
    "verbosity": (),
    "web_search_options": (),
}
"""Fields that are not supported, and the values that ask for nothing."""
INSTEAD = {
    "format": "use response_format",
    "function_call": "use tool_choice",
    "functions": "use tools",
    "guided_json": "use response_format",
    "max_new_tokens": "use max_tokens",
    "num_predict": "use max_tokens",
    "structured_outputs": "use response_format",
}
"""What to do about fields of OpenAI's past, of vLLM and of Ollama; others are to be left out."""
LABELS = ("metadata", "prompt_cache_key", "safety_identifier", "user")
"""Fields that only name the caller, or are for the records of whoever stores answers, which is nobody here."""

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(rb"%b(?!%b)|(?<!%b)%b" % (_HIGH, _LOW, _HIGH, _LOW))
"""What a client writes that cuts a text inside of an emoji; msgspec says of it that the input was truncated."""
_PLACED = re.compile(r"(.*?)(?: - at `\$\.?([^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(.*)`$", re.DOTALL)
_PART = re.compile(r"messages\[\d+\]\.content\[\d+\]\.type")
_MISSING = re.compile(r"missing required field `(.*)`$")

Whole = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
StopText = Annotated[str, Meta(min_length=1)]


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Refuses what it does not know."""


class Text(Strict, tag="text"):
    text: str


Content = str | list[Text]


class Turn(Strict):
    """`name` says who speaks. The model is not told: turns are written without names."""

    content: Content
    name: str | None = None


class System(Turn, tag="system", tag_field="role"):
    pass


class Developer(Turn, tag="developer", tag_field="role"):
    pass


class User(Turn, tag="user", tag_field="role"):
    pass


class CalledFunction(Strict):
    name: str
    arguments: str


class ToolCall(Strict):
    id: str
    function: CalledFunction
    type: Literal["function"] = "function"
    index: int = 0


class Assistant(Turn, tag="assistant", tag_field="role"):
    """`reasoning_content` may come back with a message; templates leave out the reasoning of earlier turns."""

    content: Content | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    refusal: str | None = None
    annotations: Annotated[list[Any], Meta(max_length=0)] | None = None
    audio: None = None
    function_call: None = None


class Tool(Strict, tag="tool", tag_field="role"):
    """`name` repeats that of the tool, if it is there."""

    content: Content
    tool_call_id: str
    name: str | None = None


Message = System | Developer | User | Assistant | Tool


class Function(Strict):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class OfferedTool(Strict):
    type: Literal["function"]
    function: Function


class NamedFunction(Strict):
    name: str


class NamedChoice(Strict):
    type: Literal["function"]
    function: NamedFunction


class PlainText(Strict, tag="text", frozen=True):
    pass


class AnyObject(Strict, tag="json_object"):
    pass


class Schema(Strict):
    name: str
    schema: dict[str, Any]
    description: str | None = None
    strict: bool | None = None


class SchemaFormat(Strict, tag="json_schema"):
    json_schema: Schema


class StreamOptions(Strict):
    include_usage: bool = False
    include_obfuscation: Literal[False] = False


class Request(Strict):
    """What both endpoints take."""

    model: str
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] = 1.0
    top_p: Share = 1.0
    top_k: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    min_p: Share = 0.0
    seed: int | None = None
    n: Annotated[int, Meta(ge=1, le=64)] = 1
    stop: StopText | list[StopText] = []
    max_tokens: Whole | None = None

    @property
    def includes_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @property
    def stop_texts(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else self.stop


class ChatRequest(Request, kw_only=True):
    messages: Annotated[list[Message], Meta(min_length=1)]
    max_completion_tokens: Whole | None = None
    tools: list[OfferedTool] = []
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None
    parallel_tool_calls: bool = True
    response_format: PlainText | AnyObject | SchemaFormat = PlainText()
    logprobs: bool = False
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] = 0


class CompletionRequest(Request, kw_only=True):
    prompt: str | list[str | int | list[int]]
    echo: bool = False
    logprobs: Annotated[int, Meta(ge=0, le=5)] | None = None
    max_tokens: Whole | None = 16


def read_fields(body: bytes, kind: type[Any]) -> Any:
    """The body as `kind`. Raises Refusal that names the field."""
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = "a \\u escape is half of a surrogate pair" if _HALF.search(body) else error
        raise Refusal(400, f"the body is not JSON: {why}") from None
    if not isinstance(found, dict):
        raise Refusal(400, "the body is no JSON object")
    given = {name: value for name, value in found.items() if value is not None and name not in LABELS}
    for name in given.keys() & NEUTRAL.keys() - set(kind.__struct_fields__):
        if given.pop(name) not in NEUTRAL[name]:
            raise _unsupported(name)
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise _refused(str(error)) from None


def _unsupported(name: str) -> Refusal:
    advice = INSTEAD.get(name, "leave it out")
    return Refusal(400, f"'{name}' is not supported: {advice}", param=name, code="unsupported_parameter")


def _refused(text: str) -> Refusal:
    """msgspec says `... - at `$.messages[0].content`` or `... unknown field `x``, and x may be anything."""
    found = _PLACED.fullmatch(text)
    problem, path = (found[1], found[2] or "") if found else (text, "")
    unknown = _UNKNOWN.search(problem)
    if unknown:
        return _unsupported(f"{path}.{unknown[1]}" if path else unknown[1])
    if _PART.fullmatch(path):
        return Refusal(400, f"{problem} - at `{path}`: only text is read", param=path, code="invalid_value")
    missing = _MISSING.search(problem)
    param = ".".join(part for part in (path, missing[1] if missing else "") if part)
    return Refusal(400, f"invalid body: {text.replace('$.', '')}", param=param or None, code="invalid_value")

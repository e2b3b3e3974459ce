"""The body of a request for a response."""

from typing import Annotated, Any, ClassVar, Literal

from fields import AnyObject, DrawnBody, PlainText, ReasoningOptions, RefusedText, Schema, Whole
from msgspec import Meta
from wire import Body, Strict, leave_out_tools, without_nulls

LOGPROBS = "message.output_text.logprobs"
EXTRAS = {"reasoning": {"generate_summary", "summary"}, "text": {"verbosity"}}


class InputText(Strict, tag="input_text"):
    text: str


class OutputText(Strict, tag="output_text"):
    """Text of an earlier response."""

    text: str
    annotations: Annotated[list[Any], Meta(max_length=0)] = []
    logprobs: list[Any] = []


Content = str | list[InputText | OutputText | RefusedText]


class Item(Strict):
    """`id`, `status` and `phase` are those of an earlier response, and are ignored."""

    id: str | None = None
    phase: str | None = None
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class Message(Item, tag="message", kw_only=True):
    role: Literal["user", "assistant", "system", "developer"]
    content: Content


class FunctionCall(Item, tag="function_call", kw_only=True):
    call_id: str
    name: str
    arguments: str


class FunctionCallOutput(Item, tag="function_call_output", kw_only=True):
    """`name`, if given, repeats that of the function."""

    call_id: str
    output: Content
    name: str | None = None


class Reasoning(Item, tag="reasoning"):
    """Reasoning of an earlier response; templates omit it."""

    summary: list[Any] = []
    content: list[Any] = []
    encrypted_content: str | None = None


class ItemReference(Item, tag="item_reference"):
    """An item of the output of a response that is kept."""


Items = list[Message | FunctionCall | FunctionCallOutput | Reasoning]


class FunctionTool(Strict, tag="function"):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class NamedTool(Strict, tag="function"):
    name: str


class FlatSchemaFormat(Schema, tag="json_schema"):
    pass


class TextOptions(Strict, frozen=True):
    format: PlainText | AnyObject | FlatSchemaFormat = PlainText()


class ResponseRequest(DrawnBody, kw_only=True):
    LABELS: ClassVar[frozenset[str]] = Body.LABELS | {"client_metadata"}
    HINTS: ClassVar[frozenset[str]] = frozenset({"prompt_cache_options", "service_tier", "timings_per_token"})
    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {
        "background": (False,),
        "context_management": ([],),
        "service_tier": ("auto", "default"),
        "timings_per_token": (False,),
        "stream_options": ({}, {"include_obfuscation": False}),
        "truncation": ("disabled",),
    }
    INSTEAD: ClassVar[dict[str, str]] = {
        "background": "leave it out, and set stream to see a response as it comes",
        "conversation": "use previous_response_id, or send all of it as input",
        "functions": "use tools",
        "logprobs": f"put {LOGPROBS} into include",
        "max_completion_tokens": "use max_output_tokens",
        "max_tokens": "use max_output_tokens",
        "max_tool_calls": "leave it out, for the client makes the calls",
        "messages": "use input",
        "prompt": "write it as instructions and input",
        "response_format": "use text.format",
        "truncation": "leave it out, for an input that is too long is refused",
    }
    ADVICE: ClassVar[dict[str, str]] = {
        r"input\[\d+\]\.(content|output)\[\d+\]\.type": "only text is read, as input_text or output_text",
        r"input\[\d+\]\.type": "send message, function_call, function_call_output, reasoning or item_reference",
        r"tool_choice\.type": "name one function, or offer no others than those that may be called",
        r"tools\[\d+\]\.type": "offer functions, which the client calls: none are built in",
    }

    input: (
        str
        | Annotated[
            list[Message | FunctionCall | FunctionCallOutput | Reasoning | ItemReference],
            Meta(min_length=1),
        ]
    )
    previous_response_id: str | None = None
    instructions: str = ""
    max_output_tokens: Whole | None = None
    metadata: dict[str, str] = {}
    tools: list[FunctionTool] = []
    tool_choice: Literal["none", "auto", "required"] | NamedTool = "auto"
    parallel_tool_calls: bool = True
    text: TextOptions = TextOptions()
    reasoning: ReasoningOptions = ReasoningOptions()
    include: list[Literal["message.output_text.logprobs"]] = []
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] = 0
    store: bool = True
    chat_template_kwargs: dict[str, Any] = {}

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        """Fill in items as clients keep them: with nulls, and messages without a type."""
        given = {name: without_nulls(value) for name, value in given.items()}
        if isinstance(given.get("input"), list):
            given["input"] = [_item(item) for item in given["input"]]
        if given.get("tool_choice", "auto") in ("auto", "none"):
            leave_out_tools(given, left_out, "function")
        _leave_out_extras(given, left_out)
        return given


def _leave_out_extras(given: dict[str, Any], left_out: list[str]) -> None:
    """What a client may ask for on top of the answer, and how wordy it would like the answer to be."""
    for name, fields in EXTRAS.items():
        options = given.get(name)
        if isinstance(options, dict):
            left_out += [f"{name}.{field}" for field in options if field in fields]
            given[name] = {field: value for field, value in options.items() if field not in fields}
    include = given.get("include")
    if isinstance(include, list):
        left_out += [f"include ({name})" for name in include if isinstance(name, str) and name != LOGPROBS]
        given["include"] = [name for name in include if name == LOGPROBS or not isinstance(name, str)]


def _item(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    kept = {name: without_nulls(value) for name, value in item.items() if value is not None}
    return {"type": "message", **kept} if "role" in kept else kept

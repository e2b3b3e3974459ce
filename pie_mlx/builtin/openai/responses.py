"""/v1/responses, written in terms of a chat request."""

from typing import Annotated, Any, ClassVar, Literal

import fields
import msgspec
from fields import AnyObject, DrawnBody, Function, OfferedTool, PlainText, ReasoningOptions, RefusedText, Schema, Whole
from msgspec import Meta
from prompts import begin_replies, count_tokens, plain_text
from response_output import STORE, ResponseForm
from sending import send
from wire import SHORT_BYTES, Body, Refusal, Strict, Terms, aside, leave_out_tools, read_body, reported

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


Items = Annotated[list[Message | FunctionCall | FunctionCallOutput | Reasoning | ItemReference], Meta(min_length=1)]


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

    input: str | Items
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
        """Fill in messages without a type, and leave out tools that no one here runs."""
        for item in given["input"] if isinstance(given.get("input"), list) else []:
            if isinstance(item, dict) and "role" in item:
                item.setdefault("type", "message")
        if given.get("tool_choice", "auto") in ("auto", "none"):
            leave_out_tools(given, left_out, "function")
        _leave_out_extras(given, left_out)
        return given


def _leave_out_extras(given: dict[str, Any], left_out: list[str]) -> None:
    """What a client may ask for on top of the answer, and how wordy it would like the answer to be."""
    for name, extras in EXTRAS.items():
        options = given.get(name)
        if isinstance(options, dict):
            left_out += [f"{name}.{field}" for field in options if field in extras]
            given[name] = {field: value for field, value in options.items() if field not in extras}
    include = given.get("include")
    if isinstance(include, list):
        left_out += [f"include ({name})" for name in include if isinstance(name, str) and name != LOGPROBS]
        given["include"] = [name for name in include if name == LOGPROBS or not isinstance(name, str)]


ROLES = {"assistant": fields.Assistant, "developer": fields.Developer, "system": fields.System, "user": fields.User}


def conversation_of(request):
    """The items that the model reads, each with its path in the request. Raises Refusal for what is not kept."""
    own = [Message(role="user", content=request.input)] if isinstance(request.input, str) else request.input
    placed = [(f"input[{place}]", item) for place, item in enumerate(own)]
    before = [("previous_response_id", item) for item in _previous(request.previous_response_id)]
    return before + [(path, _referred(path, item)) for path, item in placed]


def _previous(name):
    if name is None:
        return []
    stored = STORE.find(name)
    if stored is None:
        text = f"Previous response with id '{name}' not found: send the whole conversation as input"
        raise Refusal(400, text, param="previous_response_id", code="previous_response_not_found")
    return msgspec.json.decode(stored.conversation, type=Items)


def _referred(path, item):
    if not isinstance(item, ItemReference):
        return item
    found = STORE.find_item(item.id)
    if found is None:
        raise Refusal(400, f"Item with id '{item.id}' not found: send the item itself", param=f"{path}.id")
    return msgspec.convert([found], Items)[0]


def chat_of(request):
    """The chat of a request for a response, the names of its parts, and its items. Raises as `conversation_of`."""
    conversation = conversation_of(request)
    turns = _turns(request.instructions, conversation)
    drawn = {name: getattr(request, name) for name in DrawnBody.__struct_fields__}
    chat = fields.ChatRequest(
        **drawn,
        messages=[message for _, message in turns],
        max_completion_tokens=request.max_output_tokens,
        tools=[OfferedTool(Function(one.name, one.description, one.parameters, one.strict)) for one in request.tools],
        tool_choice=_choice(request.tool_choice),
        parallel_tool_calls=request.parallel_tool_calls,
        response_format=_format(request.text.format),
        logprobs=LOGPROBS in request.include,
        top_logprobs=request.top_logprobs,
        reasoning=request.reasoning,
        chat_template_kwargs=request.chat_template_kwargs,
    )
    chat.left_out = request.left_out
    places = [path for path, _ in turns]
    terms = Terms("input", "text.format", "tools[].strict", "call_id", "reasoning.effort", places)
    return chat, terms, [item for _, item in conversation]


def _turns(instructions, conversation):
    """Messages, each with the path of its first item."""
    turns = [("instructions", fields.System(content=instructions))] if instructions else []
    for path, item in conversation:
        match item:
            case Message(role=role, content=content):
                turns.append((path, ROLES[role](content=plain_text(content))))
            case FunctionCall():
                _add_call(turns, path, item)
            case FunctionCallOutput(call_id=call, output=output, name=name):
                turns.append((path, fields.Tool(content=plain_text(output), tool_call_id=call, name=name)))
    return turns


def _add_call(turns, path, item):
    """Add a call to the preceding turn of the assistant, or to a new one."""
    if not turns or not isinstance(turns[-1][1], fields.Assistant):
        turns.append((path, fields.Assistant()))
    message = turns[-1][1]
    call = fields.ToolCall(item.call_id, fields.CalledFunction(item.name, item.arguments))
    message.tool_calls = [*(message.tool_calls or []), call]


def _choice(choice):
    if isinstance(choice, NamedTool):
        return fields.NamedChoice(fields.NamedFunction(choice.name))
    # The default of a chat too, with tools and without.
    return None if choice == "auto" else choice


def _format(format):
    return fields.SchemaFormat(format) if isinstance(format, FlatSchemaFormat) else format


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ResponseRequest)
    if request.top_logprobs and not request.include:
        raise Refusal(400, f"top_logprobs: put {LOGPROBS} into include as well", param="top_logprobs")
    size = _size(body, request)
    chat, terms, items = await aside(size > SHORT_BYTES, chat_of, request)
    return await send(request, ResponseForm(request, items), begin_replies(chat, size, terms))


async def count(body):
    """Count the tokens of a request."""
    request = await read_body(body, ResponseRequest)
    size = _size(body, request)
    chat, terms, _ = await aside(size > SHORT_BYTES, chat_of, request)
    tokens = await count_tokens(chat, size, terms)
    counted = {"object": "response.input_tokens", "input_tokens": tokens}
    return {"headers": reported(request.left_out), "body": counted}


def _size(body, request):
    """The bytes of a request, those of the conversation that it goes on from among them."""
    stored = STORE.find(request.previous_response_id)
    return len(body) + (stored.size_bytes if stored else 0)


async def compact(body):
    """Nothing is written in a form that only a server reads."""
    raise Refusal(404, "/v1/responses/compact: ask for a summary with POST /v1/responses, and send it as input")


def answer_stored(method, name, query):
    """Answer a request for a response that is kept, or to delete it."""
    if method not in ("GET", "DELETE"):
        raise Refusal(405, f"{method} /v1/responses/{name}: send a GET or a DELETE")
    if query.get("stream") == "true":
        raise Refusal(400, "stream: leave it out, for the response is complete", param="stream")
    stored = STORE.find(name)
    if stored is None:
        raise Refusal(404, f"Response with id '{name}' not found: it was not stored, or too long ago")
    if method == "GET":
        return {"headers": {"content-type": "application/json"}, "body": stored.response}
    STORE.delete(name)
    return {"body": {"id": name, "object": "response.deleted", "deleted": True}}

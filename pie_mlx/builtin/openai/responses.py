"""/v1/responses, written in terms of a chat request."""

import time
from dataclasses import asdict

import msgspec
from costs import Progress
from fields import (
    Assistant,
    CalledFunction,
    ChatRequest,
    Developer,
    DrawnBody,
    Function,
    NamedChoice,
    NamedFunction,
    OfferedTool,
    SchemaFormat,
    System,
    Tool,
    ToolCall,
    User,
)
from prompts import begin_replies, count_tokens, plain_text
from response_fields import (
    LOGPROBS,
    FlatSchemaFormat,
    FunctionCall,
    FunctionCallOutput,
    ItemReference,
    Items,
    Message,
    NamedTool,
    ResponseRequest,
)
from response_output import Output
from response_store import ResponseStore
from wire import EventForm, Refusal, Terms, identifier, read_body, refusal_of, reported, send

ROLES = {"assistant": Assistant, "developer": Developer, "system": System, "user": User}
STORE = ResponseStore()
"""Lives as long as this program stays loaded: where each request has a process of its own, nothing is found again."""


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


def chat_of(request, conversation):
    """The chat of a request for a response, and the names of its parts."""
    turns = _turns(request.instructions, conversation)
    drawn = {name: getattr(request, name) for name in DrawnBody.__struct_fields__}
    chat = ChatRequest(
        **drawn,
        messages=[message for _, message in turns],
        max_completion_tokens=request.max_output_tokens,
        tools=[_tool(tool) for tool in request.tools],
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
    return chat, Terms("input", "text.format", "tools[].strict", "call_id", "reasoning.effort", places)


def _turns(instructions, conversation):
    """Messages, each with the path of its first item."""
    turns = [("instructions", System(content=instructions))] if instructions else []
    for path, item in conversation:
        match item:
            case Message(role=role, content=content):
                turns.append((path, ROLES[role](content=plain_text(content))))
            case FunctionCall():
                _add_call(turns, path, item)
            case FunctionCallOutput(call_id=call, output=output, name=name):
                turns.append((path, Tool(content=plain_text(output), tool_call_id=call, name=name)))
    return turns


def _add_call(turns, path, item):
    """Add a call to the preceding turn of the assistant, or to a new one."""
    if not turns or not isinstance(turns[-1][1], Assistant):
        turns.append((path, Assistant()))
    message = turns[-1][1]
    call = ToolCall(id=item.call_id, function=CalledFunction(name=item.name, arguments=item.arguments))
    message.tool_calls = [*(message.tool_calls or []), call]


def _tool(tool):
    function = Function(name=tool.name, description=tool.description, parameters=tool.parameters, strict=tool.strict)
    return OfferedTool(type="function", function=function)


def _choice(choice):
    if isinstance(choice, NamedTool):
        return NamedChoice(type="function", function=NamedFunction(name=choice.name))
    # The default of a chat too, with tools and without.
    return None if choice == "auto" else choice


def _format(format):
    return SchemaFormat(json_schema=format) if isinstance(format, FlatSchemaFormat) else format


REPEATED = (
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "store",
    "temperature",
    "top_logprobs",
    "top_p",
)
CODES = {400: "invalid_prompt", 429: "rate_limit_exceeded"}
"""The error codes that clients know, by HTTP status; others are server_error."""


class ResponseForm(EventForm):
    """Events are numbered in order. At its end the response is kept with the items of its input, if that is asked."""

    def __init__(self, request, items):
        self._items = items
        self._head = {
            "id": identifier("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "model": request.model,
            **_settings(request),
        }
        self._output = Output()
        self._count = 0
        self._finish = None

    def whole(self, pieces):
        for piece in pieces:
            self.chunks(piece)
        return self._finished()

    def opening(self):
        begun = self._response("in_progress")
        return self._numbered({"type": f"response.{what}", "response": begun} for what in ("created", "in_progress"))

    def chunks(self, piece):
        if isinstance(piece, Progress):
            event = {"type": "response.in_progress", "response": self._response("in_progress")}
            return self._numbered([{**event, "prompt_progress": asdict(piece)}])
        self._finish = piece.finish
        return self._numbered(self._output.add(piece))

    def closing(self):
        response = self._finished()
        return self._numbered([{"type": f"response.{response['status']}", "response": response}])

    def failed(self, error):
        refusal = refusal_of(error)
        # Codex finds out by this code that it has to shorten a conversation.
        is_long = refusal.code == "context_length_exceeded"
        code = refusal.code if is_long else CODES.get(refusal.status, "server_error")
        before = self._numbered(self._output.close("incomplete")) if self._count else self.opening()
        failed = self._response("failed", error={"code": code, "message": str(refusal)})
        return before + self._numbered([{"type": "response.failed", "response": failed}])

    def _finished(self):
        figures = self.costs.figures()
        cut = {"incomplete_details": {"reason": "max_output_tokens"}} if self._finish == "length" else {}
        fields = {**cut, "usage": _usage(figures["usage"]), "timings": figures["timings"]}
        response = self._response("incomplete" if cut else "completed", **fields)
        if response["store"]:
            STORE.keep(response, self._items)
        return response

    def _response(self, status, **fields):
        unknown = {"error": None, "incomplete_details": None, "usage": None}
        return {**self._head, "status": status, "output": self._output.data(), **unknown, **fields}

    def _numbered(self, events):
        found = [{**event, "sequence_number": self._count + place} for place, event in enumerate(events)]
        self._count += len(found)
        return found


def _settings(request):
    """The fields of the request that a response repeats."""
    return {
        **{name: getattr(request, name) for name in REPEATED},
        "instructions": request.instructions or None,
        "text": msgspec.to_builtins(request.text),
        "tool_choice": msgspec.to_builtins(request.tool_choice),
        "tools": msgspec.to_builtins(request.tools),
        "background": False,
        "reasoning": {"effort": request.reasoning.effort, "summary": None},
        "truncation": "disabled",
    }


def _usage(usage):
    """The usage under the names of a response."""
    return {
        "input_tokens": usage["prompt_tokens"],
        # Typed clients require the tokens written to a cache, which cost nothing here.
        "input_tokens_details": {**usage["prompt_tokens_details"], "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
    }


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ResponseRequest)
    if request.top_logprobs and not request.include:
        raise Refusal(400, f"top_logprobs: put {LOGPROBS} into include as well", param="top_logprobs")
    conversation = conversation_of(request)
    chat, terms = chat_of(request, conversation)
    beginning = await begin_replies(chat, _size(body, request), terms)
    return await send(request, ResponseForm(request, [item for _, item in conversation]), beginning)


async def count(body):
    """Count the tokens of a request."""
    request = await read_body(body, ResponseRequest)
    chat, terms = chat_of(request, conversation_of(request))
    tokens = await count_tokens(chat, _size(body, request), terms)
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

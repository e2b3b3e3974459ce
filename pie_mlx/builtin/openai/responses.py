"""/v1/responses, written in terms of a chat request. Nothing is kept between two of them."""

import time

import msgspec
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
from prompts import begin_replies, plain_text, prepared
from response_fields import (
    LOGPROBS,
    FlatSchemaFormat,
    FunctionCall,
    FunctionCallOutput,
    Message,
    NamedTool,
    ResponseRequest,
)
from response_output import Output
from wire import EventForm, Refusal, Terms, identifier, read_body, refusal_of, reported, send

ROLES = {"assistant": Assistant, "developer": Developer, "system": System, "user": User}


def chat_of(request):
    """The chat, and the names of its parts in a request for a response."""
    turns = _turns(request)
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
    places = [f"input[{place}]" for place, _ in turns]
    return chat, Terms("input", "text.format", "tools[].strict", "call_id", "reasoning.effort", places)


def _turns(request):
    """Messages, each with the index of its first item."""
    turns = [(0, System(content=request.instructions))] if request.instructions else []
    if isinstance(request.input, str):
        return [*turns, (0, User(content=request.input))]
    for place, item in enumerate(request.input):
        match item:
            case Message(role=role, content=content):
                turns.append((place, ROLES[role](content=plain_text(content))))
            case FunctionCall():
                _add_call(turns, place, item)
            case FunctionCallOutput(call_id=call, output=output, name=name):
                turns.append((place, Tool(content=plain_text(output), tool_call_id=call, name=name)))
    return turns


def _add_call(turns, place, item):
    """Add a call to the preceding turn of the assistant, or to a new one."""
    if not turns or not isinstance(turns[-1][1], Assistant):
        turns.append((place, Assistant()))
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


CODES = {400: "invalid_prompt", 429: "rate_limit_exceeded"}
"""The error codes that clients know, by HTTP status; others are server_error."""


class ResponseForm(EventForm):
    """Events are numbered in order."""

    def __init__(self, request, model):
        self._head = {
            "id": identifier("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "model": model.name,
            **_settings(request),
        }
        self._output = Output()
        self._count = 0
        self._finish = None

    def whole(self, pieces, costs):
        for piece in pieces:
            self.chunks(piece)
        return self._finished(costs)

    def opening(self):
        begun = self._response("in_progress")
        return self._numbered({"type": f"response.{what}", "response": begun} for what in ("created", "in_progress"))

    def chunks(self, piece):
        self._finish = piece.finish
        return self._numbered(self._output.add(piece))

    def closing(self, costs):
        response = self._finished(costs)
        return self._numbered([{"type": f"response.{response['status']}", "response": response}])

    def failed(self, error):
        refusal = refusal_of(error)
        error = {"code": CODES.get(refusal.status, "server_error"), "message": str(refusal)}
        ending = self._numbered(self._output.close("incomplete"))
        return ending + self._numbered([{"type": "response.failed", "response": self._response("failed", error=error)}])

    def _finished(self, costs):
        figures = costs.figures()
        cut = {"incomplete_details": {"reason": "max_output_tokens"}} if self._finish == "length" else {}
        fields = {**cut, "usage": _usage(figures["usage"]), "timings": figures["timings"]}
        return self._response("incomplete" if cut else "completed", **fields)

    def _response(self, status, **fields):
        unknown = {"error": None, "incomplete_details": None, "usage": None}
        return {**self._head, "status": status, "output": self._output.data(), **unknown, **fields}

    def _numbered(self, events):
        found = [{**event, "sequence_number": self._count + place} for place, event in enumerate(events)]
        self._count += len(found)
        return found


def _settings(request):
    """The fields of the request that a response repeats."""
    given = ("max_output_tokens", "metadata", "parallel_tool_calls", "temperature", "top_logprobs", "top_p")
    return {
        **{name: getattr(request, name) for name in given},
        "instructions": request.instructions or None,
        "text": msgspec.to_builtins(request.text),
        "tool_choice": msgspec.to_builtins(request.tool_choice),
        "tools": msgspec.to_builtins(request.tools),
        "background": False,
        "previous_response_id": None,
        "reasoning": {"effort": request.reasoning.effort, "summary": None},
        "store": False,
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
    chat, terms = chat_of(request)
    model, costs, pieces = await begin_replies(chat, len(body), terms)
    form = ResponseForm(request, model)
    return await send(costs, pieces, form, stream=request.stream, left_out=request.left_out)


async def count(body):
    """Count the tokens of a request."""
    request = await read_body(body, ResponseRequest)
    chat, terms = chat_of(request)
    _, context = await prepared(chat, len(body), terms)
    counted = {"object": "response.input_tokens", "input_tokens": len(context.buffer())}
    return {"headers": reported(request.left_out), "body": counted}


async def compact(body):
    """Nothing is kept that could be compacted, and nothing is written in a form that only a server reads."""
    raise Refusal(404, "/v1/responses/compact: ask for a summary with POST /v1/responses, and send it as input")

"""/v1/messages, Anthropic's interface, written in terms of a chat request."""

import json

import fields
from decoding import arguments_object
from message_fields import Assistant as AssistantMessage
from message_fields import MessageRequest, Text, ToolResult, ToolUse
from message_fields import User as UserMessage
from prompts import begin_replies, count_tokens
from wire import EventForm, Refusal, Terms, identifier, read_body, refusal_of, reported, send

KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
"""The error types that clients know, by HTTP status; others are invalid_request_error below 500, and api_error."""
SIGNATURE = "unsigned"
"""Some clients drop a thought without a signature. It is not checked when it comes back."""
CHOICES = {"any": "required", "auto": "auto", "none": "none"}
PART_BREAK = "\n\n"
"""Between successive texts of one message."""


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, MessageRequest)
    if request.max_tokens is None:
        raise Refusal(400, "max_tokens: it is required", param="max_tokens")
    chat, terms = chat_of(request)
    beginning = await begin_replies(chat, len(body), terms)
    return await send(request, MessageForm(request), beginning)


async def count(body):
    """Count the tokens of a request."""
    request = await read_body(body, MessageRequest)
    chat, terms = chat_of(request)
    tokens = await count_tokens(chat, len(body), terms)
    return {"headers": reported(request.left_out), "body": {"input_tokens": tokens}}


def error_body(refusal):
    """A refusal as Anthropic's clients read it."""
    kind = KINDS.get(refusal.status, "invalid_request_error" if refusal.status < 500 else "api_error")
    # Claude Code finds out by these words that it has to shorten a conversation.
    too_long = "prompt is too long: " if refusal.code == "context_length_exceeded" else ""
    return {"type": "error", "error": {"type": kind, "message": f"{too_long}{refusal}"}, "request_id": None}


def chat_of(request):
    """The chat, and the names of its parts in a request for a message."""
    turns = _turns(request)
    choice, format = request.tool_choice, request.output_config.format
    chat = fields.ChatRequest(
        model=request.model,
        messages=[message for _, message in turns],
        max_completion_tokens=request.max_tokens,
        stream=request.stream,
        stop=request.stop_sequences,
        temperature=request.temperature,
        top_p=request.top_p,
        top_k=request.top_k,
        tools=[_tool(tool) for tool in request.tools],
        tool_choice=_choice(choice),
        parallel_tool_calls=choice is None or not choice.disable_parallel_tool_use,
        response_format=fields.SchemaFormat(fields.Schema(name="answer", schema=format.schema))
        if format
        else fields.PlainText(),
        reasoning=_reasoning(request),
        prompt_cache_retention=_retention(request),
    )
    chat.left_out = request.left_out
    paths = [path for path, _ in turns]
    effort = "thinking" if request.thinking and not request.output_config.effort else "output_config.effort"
    terms = Terms("messages", "output_config.format", "tools[].strict", "tool_use_id", effort, paths, continues=True)
    return chat, terms


def _turns(request):
    """Messages, each with its path in the request."""
    turns = [("system", fields.System(content=_joint(request.system)))] if request.system else []
    for place, message in enumerate(request.messages):
        path, content = f"messages[{place}]", message.content
        blocks = [Text(text=content)] if isinstance(content, str) else content
        match message:
            case UserMessage():
                turns += _of_user(path, blocks)
            case AssistantMessage():
                turns.append((path, _of_assistant(blocks)))
            case _:
                turns.append((path, fields.System(content=_joint(blocks))))
    return turns


def _of_user(path, blocks):
    """Results of tools and texts, in their order; successive texts are one turn."""
    turns, texts = [], []
    for place, block in enumerate([*blocks, None]):
        if isinstance(block, Text):
            texts.append(block)
            continue
        if texts:
            turns.append((path, fields.User(content=_joint(texts))))
            texts = []
        if block is not None:
            turns.append((f"{path}.content[{place}]", _result(block)))
    return turns or [(path, fields.User(content=""))]


def _result(block: ToolResult):
    text = _joint(block.content)
    said = f"Error: {text}" if block.is_error and not text.lower().startswith("error") else text
    return fields.Tool(content=said, tool_call_id=block.tool_use_id)


def _of_assistant(blocks):
    text = "".join(block.text for block in blocks if isinstance(block, Text))
    calls = [
        fields.ToolCall(id=block.id, function=fields.CalledFunction(name=block.name, arguments=json.dumps(block.input)))
        for block in blocks
        if isinstance(block, ToolUse)
    ]
    return fields.Assistant(content=text, tool_calls=calls or None)


def _joint(content):
    return content if isinstance(content, str) else PART_BREAK.join(part.text for part in content)


def _tool(tool):
    function = fields.Function(
        name=tool.name, description=tool.description, parameters=tool.input_schema, strict=tool.strict
    )
    return fields.OfferedTool(type="function", function=function)


def _choice(choice):
    if choice is None:
        return None
    if choice.type == "tool":
        return fields.NamedChoice(type="function", function=fields.NamedFunction(name=choice.name or ""))
    # The default of a chat too, with tools and without.
    return None if choice.type == "auto" else CHOICES[choice.type]


def _retention(request):
    """The longest time to live that is named, as the other interfaces name it. Without `ttl`, nothing is asked for."""
    texts = request.system if isinstance(request.system, list) else []
    contents = [message.content for message in request.messages if isinstance(message.content, list)]
    marked = [request, *texts, *request.tools, *(block for blocks in contents for block in blocks)]
    controls = [one.cache_control for one in marked if isinstance(one.cache_control, dict)]
    lives = {control.get("ttl") for control in controls}
    return "24h" if "1h" in lives else "in_memory" if "5m" in lives else None


def _reasoning(request):
    """How much to think; the model's own habit where nothing is said."""
    effort, thinking = request.output_config.effort, request.thinking
    if thinking is not None and thinking.type == "disabled":
        return fields.ReasoningOptions(effort="none")
    usual = "medium" if thinking and thinking.type == "enabled" else None
    effort = {None: usual, "max": "xhigh"}.get(effort, effort)
    return fields.ReasoningOptions(effort=effort, max_tokens=thinking.budget_tokens if thinking else None)


class MessageForm(EventForm):
    """A message and its blocks: thoughts, texts and calls, one after the other."""

    SILENCE = b'event: ping\ndata: {"type": "ping"}\n\n'

    def __init__(self, request):
        self._request = request
        self._head = {"id": identifier("msg"), "type": "message", "role": "assistant", "model": request.model}
        self._shows_thoughts = request.thinking is None or request.thinking.display != "omitted"
        self._blocks = []
        self._ending = {"stop_reason": None, "stop_sequence": None}

    def whole(self, pieces):
        for piece in pieces:
            self.chunks(piece)
        content = [_whole(block) for block in self._blocks]
        return {**self._head, "content": content, **self._ending, "usage": _usage(self.costs)}

    def opening(self):
        """How much of the prompt is found again is known only at the end."""
        usage = {"input_tokens": self.costs.usage()["prompt_tokens"], "output_tokens": 0}
        message = {**self._head, "content": [], **self._ending, "usage": usage}
        return [{"type": "message_start", "message": message}]

    def chunks(self, piece):
        return [*self._events(piece)]

    def closing(self):
        return [{"type": "message_delta", "delta": self._ending, "usage": _usage(self.costs)}, {"type": "message_stop"}]

    def failed(self, error):
        return [error_body(refusal_of(error))]

    def _events(self, piece):
        if piece.reasoning:
            shown = piece.reasoning if self._shows_thoughts else ""
            yield from self._grow({"type": "thinking", "thinking": shown, "signature": SIGNATURE}, "thinking")
        if piece.text:
            yield from self._grow({"type": "text", "text": piece.text}, "text")
        for name, arguments in piece.calls:
            yield from self._close()
            call = {"type": "tool_use", "id": identifier("toolu"), "name": name, "input": arguments}
            yield from self._open(call, {**call, "input": {}})
            yield self._delta({"type": "input_json_delta", "partial_json": arguments})
        if piece.finish:
            yield from self._close()
            self._ending = self._reason(piece)

    def _grow(self, block, field):
        """More of the last block, or the next one."""
        if not self._blocks or self._blocks[-1]["type"] != block["type"]:
            yield from self._close()
            shown = {**block, field: ""}
            yield from self._open(dict(shown), {**shown, "signature": ""} if field == "thinking" else shown)
        self._blocks[-1][field] += block[field]
        if block[field]:
            yield self._delta({"type": f"{field}_delta", field: block[field]})

    def _open(self, block, shown):
        self._blocks.append(block)
        yield {"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": shown}

    def _close(self):
        """The events that end the last block."""
        if self._blocks:
            if self._blocks[-1]["type"] == "thinking":
                yield self._delta({"type": "signature_delta", "signature": SIGNATURE})
            yield {"type": "content_block_stop", "index": len(self._blocks) - 1}

    def _delta(self, delta):
        return {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}

    def _reason(self, piece):
        if piece.stop_text is not None:
            return {"stop_reason": "stop_sequence", "stop_sequence": piece.stop_text}
        reason = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}[piece.finish]
        if reason == "max_tokens" and self.costs.usage()["completion_tokens"] < self._request.max_tokens:
            reason = "model_context_window_exceeded"
        return {"stop_reason": reason, "stop_sequence": None}


def _whole(block):
    return {**block, "input": arguments_object(block["input"])} if block["type"] == "tool_use" else block


def _usage(costs):
    """The prompt is what was found again, what a later request finds again, and the rest."""
    usage = costs.usage()
    found = usage["prompt_tokens_details"]["cached_tokens"]
    kept = max(0, costs.kept_tokens() - found)
    return {
        "input_tokens": usage["prompt_tokens"] - found - kept,
        "cache_read_input_tokens": found,
        "cache_creation_input_tokens": kept,
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"thinking_tokens": usage["completion_tokens_details"]["reasoning_tokens"]},
        "cache": costs.cache(),
    }

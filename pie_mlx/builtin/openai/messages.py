"""/v1/messages, Anthropic's interface, written in terms of a chat request."""

import json
import re
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

import fields
import msgspec
import wire
from decoding import arguments_object
from fields import Count, Function, OfferedTool, Share, StopText, Whole
from msgspec import Meta
from prompts import begin_replies, count_tokens
from sending import send
from wire import Body, EventForm, Refusal, Strict, Terms, identifier, read_body, reported

BILLING = re.compile(r"x-anthropic-billing-header:[^\n]*\s*")
"""A text that Claude Code puts first into the system prompt. It is for a bill, and differs between sessions."""


class Block(Strict):
    """All that was computed is found again, by its content: of `cache_control`, only the `ttl` is a hint to keep it."""

    cache_control: Any = None


class Text(Block, tag="text", kw_only=True):
    text: str
    citations: Any = None


class Thinking(Block, tag="thinking", kw_only=True):
    """A thought of an earlier reply; templates omit it."""

    thinking: str
    signature: str = ""


class RedactedThinking(Block, tag="redacted_thinking", kw_only=True):
    data: str


class ToolUse(Block, tag="tool_use", kw_only=True):
    id: str
    name: str
    input: dict[str, Any]
    caller: Any = None


class ToolResult(Block, tag="tool_result", kw_only=True):
    tool_use_id: str
    content: str | list[Text] = ""
    is_error: bool = False


class User(Strict, tag="user", tag_field="role"):
    content: str | list[Text | ToolResult]


class Assistant(Strict, tag="assistant", tag_field="role"):
    content: str | list[Text | Thinking | RedactedThinking | ToolUse]


class System(Strict, tag="system", tag_field="role"):
    content: str | list[Text]


class CustomTool(Block, kw_only=True):
    """A tool that the client runs. The ignored fields say when and how to show it."""

    name: str
    input_schema: dict[str, Any]
    type: Literal["custom"] = "custom"
    description: str | None = None
    strict: bool | None = None
    allowed_callers: Any = None
    defer_loading: Any = None
    eager_input_streaming: Any = None
    input_examples: Any = None


class ToolChoice(Strict):
    type: Literal["auto", "any", "none", "tool"]
    name: str | None = None
    disable_parallel_tool_use: bool = False


class ThinkingOptions(Strict):
    """A thought that is `omitted` is a block without text."""

    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: Count | None = None
    display: Literal["summarized", "omitted"] | None = None


class SchemaFormat(Strict, tag="json_schema"):
    schema: dict[str, Any]


class OutputOptions(Strict):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: SchemaFormat | None = None


class MessageRequest(Body, kw_only=True):
    """`max_tokens` is missing where tokens are counted only."""

    HINTS: ClassVar[frozenset[str]] = frozenset({"inference_geo", "service_tier", "speed"})
    LABELS: ClassVar[frozenset[str]] = frozenset({"diagnostics", "metadata", "user_profile_id", "workspace_id"})
    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {
        "container": (),
        "mcp_servers": ([],),
        "service_tier": ("auto", "standard_only"),
        "speed": ("standard",),
    }
    INSTEAD: ClassVar[dict[str, str]] = {
        "container": "offer tools that the client runs",
        "context_management": "leave out the edits: the client decides what it sends",
        "max_completion_tokens": "use max_tokens",
        "mcp_servers": "connect the client to them, and offer their tools",
        "output_format": "use output_config.format",
        "stop": "use stop_sequences",
    }
    ADVICE: ClassVar[dict[str, str]] = {
        r"messages\[\d+\]\.content\[\d+\](\.content\[\d+\])?\.type": "only text, calls and results are read",
        r"tools\[\d+\]\.type": "offer tools with an input_schema, which the client runs: none are built in",
    }

    model: str
    messages: Annotated[list[User | Assistant | System], Meta(min_length=1)]
    max_tokens: Whole | None = None
    system: str | list[Text] = ""
    stream: bool = False
    stop_sequences: Annotated[list[StopText], Meta(max_length=64)] = []
    temperature: fields.Temperature = 1.0
    top_p: Share = 1.0
    top_k: fields.Most = 0
    tools: list[CustomTool] = []
    tool_choice: ToolChoice | None = None
    thinking: ThinkingOptions | None = None
    output_config: OutputOptions = msgspec.field(default_factory=OutputOptions)
    cache_control: Any = None
    expect_return_seconds: fields.Pause = 0.0

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        """Leave out what only Anthropic's own servers act on, and tools that no one here runs."""
        _leave_out_edits(given, left_out)
        _leave_out_billing(given, left_out)
        choice = given.get("tool_choice")
        if not isinstance(choice, dict) or choice.get("type") in ("auto", "none"):
            wire.leave_out_tools(given, left_out, "custom")
        return given


def _leave_out_edits(given: dict[str, Any], left_out: list[str]) -> None:
    """Templates omit earlier thoughts; how many to keep is a hint. Other edits would change the conversation."""
    options = given.pop("context_management", None)
    if options is None:
        return
    edits = options.get("edits", []) if isinstance(options, dict) else None
    if not isinstance(edits, list) or not all(map(_clears_thoughts, edits)):
        raise wire.unsupported("context_management", MessageRequest)
    left_out.append("context_management")


def _clears_thoughts(edit: object) -> bool:
    return isinstance(edit, dict) and str(edit.get("type")).startswith("clear_thinking_")


def _leave_out_billing(given: dict[str, Any], left_out: list[str]) -> None:
    """A line that differs between sessions would keep all after it from being found again."""
    system = given.get("system")
    if isinstance(system, list):
        kept = [part for part in system if not (isinstance(part, dict) and BILLING.fullmatch(str(part.get("text"))))]
        left_out += ["system (billing header)"] if len(kept) < len(system) else []
        given["system"] = kept


KINDS = {404: "not_found_error", 429: "rate_limit_error"}
"""The error types that clients know, by HTTP status; others are invalid_request_error below 500, and api_error."""
SIGNATURE = "unsigned"
"""Some clients drop a thought without a signature. It is not checked when it comes back."""
PART_BREAK = "\n\n"
"""Between successive texts of one message."""


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, MessageRequest)
    if request.max_tokens is None:
        raise Refusal(400, "max_tokens: it is required", param="max_tokens")
    chat, terms = await wire.aside(len(body) > wire.SHORT_BYTES, chat_of, request)
    return await send(request, MessageForm(request), begin_replies(chat, len(body), terms))


async def count(body):
    """Count the tokens of a request."""
    request = await read_body(body, MessageRequest)
    chat, terms = await wire.aside(len(body) > wire.SHORT_BYTES, chat_of, request)
    tokens = await count_tokens(chat, len(body), terms)
    return {"headers": reported(request.left_out), "body": {"input_tokens": tokens}}


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
        tools=[OfferedTool(Function(one.name, one.description, one.input_schema, one.strict)) for one in request.tools],
        tool_choice=_choice(choice),
        parallel_tool_calls=choice is None or not choice.disable_parallel_tool_use,
        response_format=fields.SchemaFormat(fields.Schema("answer", format.schema)) if format else fields.PlainText(),
        reasoning=_reasoning(request),
        prompt_cache_retention=_retention(request),
        expect_return_seconds=request.expect_return_seconds,
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
            case User():
                turns += _of_user(path, blocks)
            case Assistant():
                turns.append((path, _of_assistant(blocks)))
            case _:
                turns.append((path, fields.System(content=_joint(blocks))))
    return turns


def _of_user(path, blocks):
    """Results of tools and texts, in their order; successive texts are one turn."""
    turns = []
    for are_texts, run in groupby(enumerate(blocks), lambda placed: isinstance(placed[1], Text)):
        if are_texts:
            turns.append((path, fields.User(_joint([block for _, block in run]))))
        else:
            turns += [(f"{path}.content[{place}]", _result(block)) for place, block in run]
    return turns or [(path, fields.User(""))]


def _result(block: ToolResult):
    text = _joint(block.content)
    said = f"Error: {text}" if block.is_error and not text.lower().startswith("error") else text
    return fields.Tool(content=said, tool_call_id=block.tool_use_id)


def _of_assistant(blocks):
    text = "".join(block.text for block in blocks if isinstance(block, Text))
    calls = [
        fields.ToolCall(block.id, fields.CalledFunction(block.name, json.dumps(block.input)))
        for block in blocks
        if isinstance(block, ToolUse)
    ]
    return fields.Assistant(content=text, tool_calls=calls or None)


def _joint(content):
    return content if isinstance(content, str) else PART_BREAK.join(part.text for part in content)


def _choice(choice):
    if choice is None or choice.type == "auto":
        return None  # the default of a chat too, with tools and without
    if choice.type == "tool":
        return fields.NamedChoice(fields.NamedFunction(choice.name or ""))
    return "required" if choice.type == "any" else "none"


def _retention(request):
    """The longest time to live that is named, as the other interfaces name it. Without `ttl`, nothing is asked for."""
    texts = request.system if isinstance(request.system, list) else []
    contents = [message.content for message in request.messages if isinstance(message.content, list)]
    marked = [request, *texts, *request.tools, *(block for blocks in contents for block in blocks)]
    lives = {one.cache_control.get("ttl") for one in marked if isinstance(one.cache_control, dict)}
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
            list(self.chunks(piece))
        return {**self._head, "content": self._blocks, **self._ending, "usage": _usage(self.costs)}

    def opening(self):
        """How much of the prompt is found again is known only at the end."""
        usage = {"input_tokens": self.costs.usage()["prompt_tokens"], "output_tokens": 0}
        message = {**self._head, "content": [], **self._ending, "usage": usage}
        return [{"type": "message_start", "message": message}]

    def chunks(self, piece):
        if piece.reasoning:
            yield from self._grow("thinking", piece.reasoning if self._shows_thoughts else "", signature="")
        if piece.text:
            yield from self._grow("text", piece.text)
        for name, arguments in piece.calls:
            yield from self._open({"type": "tool_use", "id": identifier("toolu"), "name": name, "input": {}})
            self._blocks[-1]["input"] = arguments_object(arguments)
            yield self._delta({"type": "input_json_delta", "partial_json": arguments})
        if piece.finish:
            yield from self._close()
            self._ending = self._reason(piece)

    def closing(self):
        return [{"type": "message_delta", "delta": self._ending, "usage": _usage(self.costs)}, {"type": "message_stop"}]

    @staticmethod
    def error_body(refusal):
        """A refusal as Anthropic's clients read it."""
        kind = KINDS.get(refusal.status, "invalid_request_error" if refusal.status < 500 else "api_error")
        # Claude Code finds out by these words that it has to shorten a conversation.
        too_long = "prompt is too long: " if refusal.code == "context_length_exceeded" else ""
        return {"type": "error", "error": {"type": kind, "message": f"{too_long}{refusal}"}, "request_id": None}

    def _grow(self, kind, text, **more):
        """More of the last block, or the next one."""
        if not self._blocks or self._blocks[-1]["type"] != kind:
            yield from self._open({"type": kind, kind: "", **more})
        self._blocks[-1][kind] += text
        if text:
            yield self._delta({"type": f"{kind}_delta", kind: text})

    def _open(self, block):
        yield from self._close()
        self._blocks.append(block)
        yield {"type": "content_block_start", "index": len(self._blocks) - 1, "content_block": dict(block)}

    def _close(self):
        """The events that end the last block."""
        if self._blocks:
            if self._blocks[-1]["type"] == "thinking":
                self._blocks[-1]["signature"] = SIGNATURE
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

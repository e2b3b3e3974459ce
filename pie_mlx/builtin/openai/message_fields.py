"""The body of a request for a message."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from fields import Count, StopText, Whole
from msgspec import Meta
from wire import Body, Refusal, Strict, leave_out_tools, without_nulls

BILLING = "x-anthropic-billing-header:"
"""Begins a text that Claude Code puts first into the system prompt. It is for a bill, and differs between sessions."""


class Block(Strict):
    """`cache_control` marks what to cache. Here all that was computed is found again, by its content; only its `ttl` is
    a hint to keep it."""

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
    temperature: Annotated[float, Meta(ge=0, le=2)] = 1.0
    top_p: Annotated[float, Meta(ge=0, le=1)] = 1.0
    top_k: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    tools: list[CustomTool] = []
    tool_choice: ToolChoice | None = None
    thinking: ThinkingOptions | None = None
    output_config: OutputOptions = msgspec.field(default_factory=OutputOptions)
    cache_control: Any = None

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        """Leave out what only Anthropic's own servers act on, and tools that no one here runs."""
        given = {name: without_nulls(value) for name, value in given.items()}
        for message in given["messages"] if isinstance(given.get("messages"), list) else []:
            if isinstance(message, dict):
                message["content"] = without_nulls(message.get("content"))
        _leave_out_edits(given, left_out)
        _leave_out_billing(given, left_out)
        choice = given.get("tool_choice")
        if not isinstance(choice, dict) or choice.get("type") in ("auto", "none"):
            leave_out_tools(given, left_out, "custom")
        return given


def _leave_out_edits(given: dict[str, Any], left_out: list[str]) -> None:
    """Templates omit earlier thoughts; how many to keep is a hint. Other edits would change the conversation."""
    if "context_management" not in given:
        return
    options = given.pop("context_management")
    edits = options.get("edits", []) if isinstance(options, dict) else None
    if not isinstance(edits, list) or not all(map(_clears_thoughts, edits)):
        text = f"'context_management' is not supported: {MessageRequest.INSTEAD['context_management']}"
        raise Refusal(400, text, param="context_management", code="unsupported_parameter")
    left_out.append("context_management")


def _clears_thoughts(edit: object) -> bool:
    return isinstance(edit, dict) and str(edit.get("type")).startswith("clear_thinking_")


def _leave_out_billing(given: dict[str, Any], left_out: list[str]) -> None:
    """A line that differs between sessions would keep all after it from being found again."""
    system = given.get("system")
    if isinstance(system, list):
        kept = [part for part in system if not (isinstance(part, dict) and _is_billing(part.get("text")))]
        left_out += ["system (billing header)"] if len(kept) < len(system) else []
        given["system"] = kept


def _is_billing(text: object) -> bool:
    return isinstance(text, str) and text.startswith(BILLING) and "\n" not in text.strip()

"""The bodies of requests for completions."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta
from wire import Body, Strict

Whole = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Most = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
Pause = Annotated[float, Meta(ge=0, le=3600)]
Repetition = Annotated[float, Meta(gt=0, le=100)]
TokenId = Annotated[str, Meta(pattern="^[0-9]{1,9}$")]
StopText = Annotated[str, Meta(min_length=1, max_length=1024)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class Text(Strict, tag="text"):
    """`cache_control`, as other vendors have it, is ignored: all that was computed is found again."""

    text: str
    cache_control: Any = None


class RefusedText(Strict, tag="refusal"):
    text: str = msgspec.field(name="refusal")


Content = str | list[Text]
KeepAlive = float | Annotated[str, Meta(pattern=r"^-?[0-9]+(\.[0-9]+)?(ms|s|m|h)?$")] | None
"""How long Ollama's requests leave a model in memory: seconds, or a text like "5m"."""


class Turn(Strict):
    """`name` identifies the speaker. It is ignored: turns are written without names."""

    content: Content
    name: str | None = None
    cache_control: Any = None


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
    """`reasoning_content` may come back with a message; templates omit the reasoning of earlier turns."""

    content: str | list[Text | RefusedText] | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    refusal: str | None = None
    annotations: Annotated[list[Any], Meta(max_length=0)] | None = None
    audio: None = None
    function_call: None = None


class Tool(Strict, tag="tool", tag_field="role"):
    """`name`, if given, repeats that of the tool."""

    content: Content
    tool_call_id: str
    name: str | None = None
    cache_control: Any = None


Message = System | Developer | User | Assistant | Tool


class Function(Strict, omit_defaults=True):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class OfferedTool(Strict, tag="function"):
    function: Function
    cache_control: Any = None


class NamedFunction(Strict):
    name: str


class NamedChoice(Strict, tag="function"):
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
    known_formats: bool = False
    separators: tuple[str, str] | None = None


class SchemaFormat(Strict, tag="json_schema"):
    json_schema: Schema


class ReasoningOptions(Strict, frozen=True):
    """How much to think: at most `max_tokens`. There are no summaries: the reasoning itself is sent."""

    effort: Effort | None = None
    max_tokens: Count | None = None


class StreamOptions(Strict):
    include_usage: bool = False
    include_obfuscation: Literal[False] = False


class OfModel(Body):
    """A request of Ollama's that names a model, perhaps with the tag that means the newest of its name."""

    model: str = ""

    @property
    def model_name(self) -> str:
        return self.model.removesuffix(":latest")


class Drawing(Strict, kw_only=True):
    """How tokens are drawn."""

    temperature: Temperature = 1.0
    top_p: Share = 1.0
    top_k: Most = 0
    min_p: Share = 0.0
    frequency_penalty: Penalty = 0.0
    presence_penalty: Penalty = 0.0
    seed: int | None = None
    stop: StopText | Annotated[list[StopText], Meta(max_length=64)] = []


PATIENCE = 4.0
"""How late a client may be, in parts of the time after which it is expected: as for contexts of programs."""


class DrawnBody(Drawing, Body, kw_only=True, gc=True):
    """The fields of all endpoints: how tokens are drawn, and how they are sent.

    `return_progress` is llama.cpp's: a stream then also tells how far its prompt is. The next request of the
    conversation is sent about `expect_return_seconds` after the reply, say because a tool runs meanwhile.
    """

    model: str
    stream: bool = False
    return_progress: bool = False
    repetition_penalty: Repetition = 1.0
    logit_bias: dict[TokenId, Annotated[float, Meta(ge=-100, le=100)]] = {}
    prompt_cache_retention: Literal["in_memory", "in-memory", "24h"] | None = None
    expect_return_seconds: Pause = 0.0

    @property
    def kept_seconds(self) -> float:
        """For how long the pages of prompt and reply shall be kept, as far as credits last; the engine bounds it."""
        asked = {None: 0.0, "24h": 86_400.0}.get(self.prompt_cache_retention, 300.0)
        return max(asked, PATIENCE * self.expect_return_seconds)

    @property
    def tells_progress(self) -> bool:
        return self.stream and self.return_progress

    @property
    def stop_texts(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else self.stop


class Request(DrawnBody):
    """The fields of both completions."""

    HINTS: ClassVar[frozenset[str]] = frozenset(
        {
            "cache_prompt",
            "prediction",
            "prompt_cache_options",
            "service_tier",
            "store",
            "timings_per_token",
            "verbosity",
        }
    )
    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {
        "audio": (),
        "best_of": (1,),
        "cache_prompt": (True,),
        "function_call": (),
        "functions": (),
        "modalities": (["text"],),
        "reasoning_effort": (),
        "service_tier": ("auto", "default"),
        "store": (False,),
        "suffix": ("",),
        "timings_per_token": (False,),
        "web_search_options": (),
    }
    # Fields of earlier versions of the interface, of vLLM and of Ollama.
    INSTEAD: ClassVar[dict[str, str]] = {
        "format": "use response_format",
        "function_call": "use tool_choice",
        "functions": "use tools",
        "guided_json": "use response_format",
        "max_new_tokens": "use max_tokens",
        "thinking": "use reasoning",
        "thinking_token_budget": "use thinking_budget",
        "num_predict": "use max_tokens",
        "structured_outputs": "use response_format",
    }
    ADVICE: ClassVar[dict[str, str]] = {r"messages\[\d+\]\.content\[\d+\]\.type": "only text is read"}

    stream_options: StreamOptions | None = None
    n: Annotated[int, Meta(ge=1, le=64)] = 1
    max_tokens: Whole | None = None

    @property
    def includes_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


class ChatRequest(Request, kw_only=True):
    messages: Annotated[list[Message], Meta(min_length=1)]
    max_completion_tokens: Whole | None = None
    tools: list[OfferedTool] = []
    tool_choice: Literal["none", "auto", "required"] | NamedChoice | None = None
    parallel_tool_calls: bool = True
    response_format: PlainText | AnyObject | SchemaFormat = PlainText()
    logprobs: bool = False
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] = 0
    reasoning: ReasoningOptions = ReasoningOptions()
    reasoning_effort: Effort | None = None
    thinking_budget: Count | None = None
    chat_template_kwargs: dict[str, Any] = {}

    @property
    def effort(self) -> Effort | None:
        return self.reasoning_effort or self.reasoning.effort

    @property
    def thought_tokens(self) -> int | None:
        """How many tokens the thoughts of a reply may take, None without a limit."""
        return self.reasoning.max_tokens if self.thinking_budget is None else self.thinking_budget


Prompts = str | list[str | int | list[int]]
"""A text, a list of texts, of tokens, or of lists of tokens."""


class CompletionRequest(Request, kw_only=True):
    prompt: Prompts
    echo: bool = False
    logprobs: Annotated[int, Meta(ge=0, le=5)] | None = None
    max_tokens: Annotated[int, Meta(ge=0)] | None = 16

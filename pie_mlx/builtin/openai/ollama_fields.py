"""The bodies of requests of Ollama's interface."""

from typing import Annotated, Any, ClassVar, Literal

from fields import Function, Penalty, Share, StopText, Whole
from msgspec import Meta
from wire import Body, Refusal, Strict, without_nulls

NoImages = Annotated[list[Any], Meta(max_length=0)]


class CalledFunction(Strict):
    name: str
    arguments: dict[str, Any] = {}
    index: int = 0


class ToolCall(Strict):
    function: CalledFunction
    id: str = ""
    type: Literal["function"] = "function"


class Message(Strict):
    """`tool_name`, or in older clients `name`, is that of the tool whose result it is. Templates omit `thinking`."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    thinking: str = ""
    images: NoImages = []
    tool_calls: list[ToolCall] = []
    tool_name: str = ""
    tool_call_id: str = ""
    name: str = ""


class Tool(Strict):
    function: Function
    type: Literal["function"] = "function"


class Options(Strict, frozen=True):
    """How tokens are drawn. A `num_predict` below zero is no limit."""

    HINTS: ClassVar[frozenset[str]] = frozenset(
        {"embedding_only", "f16_kv", "logits_all", "low_vram", "main_gpu", "mirostat_eta", "mirostat_tau", "num_batch"}
        | {"num_ctx", "num_gpu", "num_keep", "num_thread", "numa", "penalize_newline", "repeat_last_n"}
        | {"use_mlock", "use_mmap", "vocab_only"}
    )
    NEUTRAL: ClassVar[dict[str, float]] = {
        "mirostat": 0,
        "tfs_z": 1,
        "typical_p": 1,
    }

    temperature: Annotated[float, Meta(ge=0, le=2)] = 1.0
    top_p: Share = 1.0
    top_k: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    min_p: Share = 0.0
    frequency_penalty: Penalty = 0.0
    presence_penalty: Penalty = 0.0
    repeat_penalty: Annotated[float, Meta(gt=0, le=100)] = 1.0
    seed: int | None = None
    stop: StopText | Annotated[list[StopText], Meta(max_length=64)] = []
    num_predict: int = -1


class OfModel(Body):
    """A request that names a model, perhaps with the tag that means the newest of its name."""

    model: str = ""

    @property
    def model_name(self) -> str:
        return self.model.removesuffix(":latest")


class Drawn(OfModel):
    """The fields of chats and of texts. `format` is "json" or a JSON Schema."""

    HINTS: ClassVar[frozenset[str]] = frozenset({"keep_alive"})
    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {
        "context": ([],),
        "height": (0,),
        "images": ([],),
        "steps": (0,),
        "suffix": ("",),
        "template": ("",),
        "width": (0,),
    }
    INSTEAD: ClassVar[dict[str, str]] = {
        "context": "send the conversation to /api/chat",
        "images": "only text is read",
        "suffix": "leave it out, for nothing is filled in",
        "template": "set raw, and write the prompt as the model reads it",
    }
    ADVICE: ClassVar[dict[str, str]] = {r"messages\[\d+\]\.images": "only text is read"}

    stream: bool = True
    format: Literal["", "json"] | dict[str, Any] = ""
    think: bool | Literal["low", "medium", "high"] | None = None
    options: Options = Options()
    logprobs: bool = False
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] = 0

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        """Leave out options that only say how to use the machine."""
        given = {name: without_nulls(value) for name, value in given.items()}
        options = given.get("options")
        if isinstance(options, dict):
            given["options"] = _options(options, left_out)
        return given


class ChatRequest(Drawn, kw_only=True):
    messages: list[Message] = []
    tools: list[Tool] = []


class GenerateRequest(Drawn, kw_only=True):
    """A `raw` prompt is continued; others are what a user says."""

    prompt: str = ""
    system: str = ""
    raw: bool = False


class NamedModel(OfModel, kw_only=True):
    """Older clients send `name`."""

    name: str = ""
    verbose: bool = False

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        return {**given, "model": given.get("model") or given.get("name", "")}


class Embedded(OfModel):
    """The fields of both requests for vectors. No option changes them."""

    HINTS: ClassVar[frozenset[str]] = frozenset({"keep_alive", "options"})


class EmbedRequest(Embedded, kw_only=True):
    input: str | list[str]
    truncate: bool = True
    dimensions: Whole | None = None


class EmbeddingsRequest(Embedded, kw_only=True):
    prompt: str = ""


def _options(options: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in options.items():
        if name in Options.HINTS:
            left_out.append(f"options.{name}")
        elif name in Options.NEUTRAL:
            if value != Options.NEUTRAL[name]:
                text = f"'options.{name}' is not supported: leave it out"
                raise Refusal(400, text, param=f"options.{name}", code="unsupported_parameter")
        else:
            kept[name] = value
    return kept

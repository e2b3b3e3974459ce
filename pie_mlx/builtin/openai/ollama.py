"""/api, Ollama's interface, for the tools that speak only that. Chats are written in terms of a chat request."""

import asyncio
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

import fields
import msgspec
from choices import joined
from completions import begin_texts
from decoding import arguments_object
from fields import OfModel
from msgspec import Meta
from prompts import begin_replies, load_kept, load_model
from sending import send
from wire import EventForm, Refusal, Strict, Terms, read_body, reported, unsupported

from inferlet import runtime

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


class Options(fields.Drawing, kw_only=True):
    """How tokens are drawn. A `num_predict` below zero is no limit."""

    HINTS: ClassVar[frozenset[str]] = frozenset(
        {"embedding_only", "f16_kv", "logits_all", "low_vram", "main_gpu", "mirostat_eta", "mirostat_tau", "num_batch"}
        | {"num_ctx", "num_gpu", "num_keep", "num_thread", "numa", "penalize_newline", "repeat_last_n"}
        | {"use_mlock", "use_mmap", "vocab_only"}
    )
    NEUTRAL: ClassVar[dict[str, float]] = {"mirostat": 0, "tfs_z": 1, "typical_p": 1}

    repeat_penalty: fields.Repetition = 1.0
    num_predict: int = -1


class Drawn(OfModel):
    """The fields of chats and of texts. `format` is "json" or a JSON Schema."""

    NEUTRAL: ClassVar[dict[str, tuple[Any, ...]]] = {
        **dict.fromkeys(("context", "images"), ([],)),
        **dict.fromkeys(("suffix", "template"), ("",)),
        **dict.fromkeys(("height", "steps", "width"), (0,)),
    }
    INSTEAD: ClassVar[dict[str, str]] = {
        "context": "send the conversation to /api/chat",
        "images": "only text is read",
        "suffix": "leave it out, for nothing is filled in",
        "template": "set raw, and write the prompt as the model reads it",
    }
    ADVICE: ClassVar[dict[str, str]] = {r"messages\[\d+\]\.images": "only text is read"}

    stream: bool = True
    keep_alive: fields.KeepAlive = None
    format: Literal["", "json"] | dict[str, Any] = ""
    think: bool | Literal["low", "medium", "high"] | None = None
    options: Options = msgspec.field(default_factory=Options)
    logprobs: bool = False
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] = 0

    @classmethod
    def prepared(cls, given: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
        """Leave out options that only say how to use the machine."""
        options = given.get("options")
        if isinstance(options, dict):
            given["options"] = _options(options, left_out)
        return given


class ChatRequest(Drawn, kw_only=True):
    messages: list[Message] = []
    tools: list[fields.OfferedTool] = []


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


def _options(options: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in options.items():
        if name in Options.HINTS:
            left_out.append(f"options.{name}")
        elif name in Options.NEUTRAL:
            if value != Options.NEUTRAL[name]:
                raise unsupported(f"options.{name}")
        else:
            kept[name] = value
    return kept


SPOKEN_VERSION = "0.12.6"
"""The version of the interface. Clients ask for it to find out what they may send."""
NEVER = "9999-12-31T23:59:59Z"
LONG = 100 * 365.25 * 24 * 3600.0
"""Seconds that count as for ever: dates have an end."""
_encode = msgspec.json.Encoder().encode


async def chat(body):
    """/api/chat. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ChatRequest)
    if not request.messages:
        return await _loaded(request, ChatForm)
    return await _answer(request, body, _messages(request.messages), ChatForm, tools=request.tools)


async def generate(body):
    """/api/generate. Raises Refusal, and the engine's errors."""
    request = await read_body(body, GenerateRequest)
    if not request.prompt:
        return await _loaded(request, TextForm)
    if not request.raw:
        system = [fields.System(content=request.system)] if request.system else []
        return await _answer(request, body, [*system, fields.User(content=request.prompt)], TextForm)
    if request.system or request.format or request.think:
        raise Refusal(400, "raw: leave out system, format and think, for the prompt is continued as it is", param="raw")
    top = min(request.top_logprobs, 5) if request.logprobs else None
    text = fields.CompletionRequest(prompt=request.prompt, logprobs=top, **_drawn(request))
    return await send(request, TextForm(request), _kept(request, begin_texts(text, len(body))))


async def tags(body):
    """/api/tags: the models that can be used."""
    return {"body": {"models": [_described(name) for name in runtime.models()]}}


async def ps(body):
    """/api/ps: those in memory."""
    return {"body": {"models": [_running(state) for state in runtime.model_states() if state.state == "loaded"]}}


def _running(state):
    left = state.expires_in_seconds
    expires = NEVER if left is None or left > LONG else _written(datetime.now(UTC) + timedelta(seconds=left))
    known = {"expires_at": expires, "size_vram": 0, "context_length": state.maximum_positions}
    return {**_described(state.name), **known}


async def show(body):
    """/api/show. Raises Refusal for an unknown model."""
    request = await read_body(body, NamedModel)
    info = (await asyncio.to_thread(load_model, request.model_name)).info
    thinks, calls = info.formats.reasoning or info.formats.channels, info.formats.tools or info.formats.channels
    writes = ["completion", *(["tools"] if calls else []), *(["thinking"] if thinks else [])]
    family = DETAILS["family"]
    length = {
        f"{family}.context_length": info.maximum_positions,
        f"{family}.embedding_length": info.embedding.dimensions,
    }
    known = {"general.architecture": family, "general.basename": info.name, **length}
    texts = {"modelfile": f"FROM {info.name}", "parameters": "", "template": "", "license": ""}
    return {
        "body": {
            **texts,
            "details": DETAILS,
            "model_info": known,
            "capabilities": writes if info.generates else ["embedding"],
        }
    }


async def version(body):
    """/api/version, with the engine's own beside it."""
    return {"body": {"version": SPOKEN_VERSION, "pie": runtime.version()}}


UNKNOWN = dict.fromkeys(("parent_model", "parameter_size", "quantization_level"), "")
DETAILS = {**UNKNOWN, "format": "mlx", "family": "mlx", "families": ["mlx"]}


def _described(name):
    digest = hashlib.sha256(name.encode()).hexdigest()
    return {"name": name, "model": name, "modified_at": _now(), "size": 0, "digest": digest, "details": DETAILS}


def _now():
    return _written(datetime.now(UTC))


def _written(moment):
    return moment.isoformat().replace("+00:00", "Z")


async def _loaded(request, form):
    """The answer to a request that says nothing: clients load a model by it."""
    await asyncio.to_thread(load_kept, request)
    return {"headers": reported(request.left_out), "body": form(request).line("", done=True, done_reason="load")}


async def _answer(request, body, messages, form, tools=()):
    asked = fields.ChatRequest(
        **_drawn(request),
        messages=messages,
        tools=tools,
        response_format=_format(request.format),
        logprobs=request.logprobs,
        top_logprobs=request.top_logprobs,
        reasoning_effort={None: None, False: "none", True: "medium"}.get(request.think, request.think),
    )
    asked.left_out = request.left_out
    terms = Terms("messages", "format", "tools[].function.strict", "tool_name", "think")
    return await send(request, form(request), _kept(request, begin_replies(asked, len(body), terms)))


async def _kept(request, checking):
    """`checking`, once the model has been told how long to stay."""
    if request.keep_alive is not None:
        await asyncio.to_thread(load_kept, request)
    return await checking


def _drawn(request):
    options = msgspec.structs.asdict(request.options)
    limit, penalty = options.pop("num_predict"), options.pop("repeat_penalty")
    limits = {"max_tokens": limit if limit > 0 else None, "repetition_penalty": penalty}
    return {**options, **limits, "model": request.model_name, "stream": request.stream}


def _format(format):
    if isinstance(format, dict):
        return fields.SchemaFormat(fields.Schema("answer", format))
    return fields.AnyObject() if format == "json" else fields.PlainText()


def _messages(messages):
    """The messages of a chat. Calls have no ids here: a result is that of the first call of its tool without one."""
    turns, open_calls = [], []
    for place, message in enumerate(messages):
        match message.role:
            case "system":
                turns.append(fields.System(content=message.content))
            case "user":
                turns.append(fields.User(content=message.content))
            case "assistant":
                calls = [_call(call, f"call_{place}_{number}") for number, call in enumerate(message.tool_calls)]
                open_calls = [(call.id, call.function.name) for call in calls]
                turns.append(fields.Assistant(content=message.content, tool_calls=calls or None))
            case _:
                turns.append(_result(message, open_calls, place))
    return turns


def _call(call, number):
    function = fields.CalledFunction(call.function.name, json.dumps(call.function.arguments))
    return fields.ToolCall(call.id or number, function)


def _result(message, open_calls, place):
    tool = message.tool_name or message.name
    for call in open_calls:
        if message.tool_call_id == call[0] or (not message.tool_call_id and tool in ("", call[1])):
            open_calls.remove(call)
            return fields.Tool(content=message.content, tool_call_id=call[0])
    path = f"messages[{place}]"
    raise Refusal(400, f"{path}: no call of '{tool}' without a result is before it", param=f"{path}.tool_name")


class Form(EventForm):
    """Lines of JSON: a part of the reply each, the last one with what it cost."""

    TYPE = "application/x-ndjson"

    def __init__(self, request):
        self._request = request
        self._finish = None

    @property
    def SILENCE(self):  # noqa: N802 - lines have no comments: a part without text
        return self.encode([self.line("")])

    def loading(self, model, part):
        return self.encode([self.line("", loading=round(part, 2))])

    @staticmethod
    def encode(values):
        return b"".join(_encode(value) + b"\n" for value in values)

    def line(self, text, *, thinking="", calls=(), done=False, **more):
        """One line, with a part of the reply."""
        head = {"model": self._request.model_name, "created_at": _now()}
        return {**head, **self._part(text, thinking, calls), "done": done, **more}

    def whole(self, pieces):
        return {**self._said(joined(pieces)), **self._ending()}

    def opening(self):
        return []

    def chunks(self, piece):
        line = self._said(piece)
        return [line] if piece.text or piece.reasoning or piece.calls or piece.entries else []

    def closing(self):
        return [self.line("", **self._ending())]

    @staticmethod
    def error_body(refusal):
        """A refusal as Ollama's clients read it."""
        return {"error": str(refusal)}

    def _said(self, piece):
        self._finish = piece.finish
        logprobs = {"logprobs": piece.entries} if self._request.logprobs and piece.entries else {}
        return self.line(piece.text, thinking=piece.reasoning, calls=piece.calls, **logprobs)

    def _ending(self):
        usage, timings = self.costs.usage(), self.costs.timings()
        prompt_ns, reply_ns = (int(timings[name] * 1_000_000) for name in ("prompt_ms", "predicted_ms"))
        return {
            "done": True,
            "done_reason": "length" if self._finish == "length" else "stop",
            "total_duration": prompt_ns + reply_ns,
            "load_duration": 0,
            "prompt_eval_count": usage["prompt_tokens"],
            "prompt_eval_duration": prompt_ns,
            "eval_count": usage["completion_tokens"],
            "eval_duration": reply_ns,
            "cache": timings["cache"],
        }


class ChatForm(Form):
    def _part(self, text, thinking, calls):
        message = {"role": "assistant", "content": text}
        if thinking:
            message["thinking"] = thinking
        if calls:
            message["tool_calls"] = [_called(place, *call) for place, call in enumerate(calls)]
        return {"message": message}


class TextForm(Form):
    def _part(self, text, thinking, calls):
        return {"response": text, "thinking": thinking} if thinking else {"response": text}


def _called(place, name, arguments):
    return {"function": {"index": place, "name": name, "arguments": arguments_object(arguments)}}

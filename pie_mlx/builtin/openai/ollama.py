"""/api, Ollama's interface, for the tools that speak only that. Chats are written in terms of a chat request."""

import hashlib
import json
from datetime import UTC, datetime

import embeddings
import fields
import msgspec
from completions import begin_texts
from ollama_fields import ChatRequest, GenerateRequest, NamedModel
from prompts import begin_replies, load_model
from wire import EventForm, Refusal, Terms, read_body, refusal_of, reported, send

from inferlet import runtime

SPOKEN_VERSION = "0.12.6"
"""The version of the interface. Clients ask for it to find out what they may send."""
NEVER = "9999-12-31T23:59:59Z"
_encode = msgspec.json.Encoder().encode


async def chat(body):
    """/api/chat. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ChatRequest)
    if not request.messages:
        return _loaded(request, ChatForm)
    messages, tools = _messages(request.messages), [_tool(tool) for tool in request.tools]
    return await _answer(request, body, messages, ChatForm, tools=tools)


async def generate(body):
    """/api/generate. Raises Refusal, and the engine's errors."""
    request = await read_body(body, GenerateRequest)
    if not request.prompt:
        return _loaded(request, TextForm)
    if not request.raw:
        system = [fields.System(content=request.system)] if request.system else []
        return await _answer(request, body, [*system, fields.User(content=request.prompt)], TextForm)
    if request.system or request.format or request.think:
        raise Refusal(400, "raw: leave out system, format and think, for the prompt is continued as it is", param="raw")
    top = min(request.top_logprobs, 5) if request.logprobs else None
    text = fields.CompletionRequest(prompt=request.prompt, logprobs=top, max_tokens=_limit(request), **_drawn(request))
    model, costs, pieces, _ = await begin_texts(text, len(body))
    return await send(costs, pieces, TextForm(request, model), stream=request.stream, left_out=request.left_out)


async def tags(body):
    """/api/tags: the loaded models."""
    return {"body": {"models": [_described(name) for name in runtime.models()]}}


async def ps(body):
    """/api/ps: the same, for what is loaded stays so."""
    models = [(name, load_model(name).info.maximum_positions) for name in runtime.models()]
    running = [{"expires_at": NEVER, "size_vram": 0, "context_length": length} for _, length in models]
    return {"body": {"models": [{**_described(name), **more} for (name, _), more in zip(models, running, strict=True)]}}


async def show(body):
    """/api/show. Raises Refusal for an unknown model."""
    request = await read_body(body, NamedModel)
    info = load_model(request.model_name).info
    thinks, calls = info.formats.reasoning or info.formats.channels, info.formats.tools or info.formats.channels
    capabilities = ["completion", *(["tools"] if calls else []), *(["thinking"] if thinks else [])]
    family = DETAILS["family"]
    length = {f"{family}.context_length": info.maximum_positions}
    known = {"general.architecture": family, "general.basename": info.name, **length}
    texts = {"modelfile": f"FROM {info.name}", "parameters": "", "template": "", "license": ""}
    return {"body": {**texts, "details": DETAILS, "model_info": known, "capabilities": capabilities}}


async def version(body):
    """/api/version, with the engine's own beside it."""
    return {"body": {"version": SPOKEN_VERSION, "pie": runtime.version()}}


def refusing(text):
    """A door that refuses whatever is asked, and says what to do."""

    async def refuse(body):
        raise Refusal(501, text)

    return refuse


ROUTES = {
    "/api/chat": ("POST", chat),
    "/api/generate": ("POST", generate),
    "/api/embed": ("POST", embeddings.embed),
    "/api/embeddings": ("POST", embeddings.embed_one),
    "/api/tags": ("GET", tags),
    "/api/ps": ("GET", ps),
    "/api/show": ("POST", show),
    "/api/version": ("GET", version),
    "/api/pull": (
        "POST",
        refusing("models are not pulled here: run 'pie model pull REPO', then 'pie serve --model REPO'"),
    ),
    "/api/push": ("POST", refusing("models are not pushed from here: use 'hf upload'")),
    "/api/create": ("POST", refusing("models are not made here: run 'pie serve --model DIR'")),
    "/api/copy": ("POST", refusing("models are not copied here: run 'pie model list' for those on this machine")),
    "/api/delete": ("DELETE", refusing("models are not deleted here: run 'pie model remove REPO'")),
}
DETAILS = {
    "parent_model": "",
    "format": "mlx",
    "family": "mlx",
    "families": ["mlx"],
    "parameter_size": "",
    "quantization_level": "",
}


def answered(error):
    """An error as an HTTP answer."""
    refusal = refusal_of(error)
    return {"status": refusal.status, "body": {"error": str(refusal)}}


def _described(name):
    digest = hashlib.sha256(name.encode()).hexdigest()
    return {"name": name, "model": name, "modified_at": _now(), "size": 0, "digest": digest, "details": DETAILS}


def _now():
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _loaded(request, form):
    """The answer to a request that says nothing: clients load a model by it."""
    answer = form(request, load_model(request.model_name))
    return {"headers": reported(request.left_out), "body": answer.line("", done=True, done_reason="load")}


async def _answer(request, body, messages, form, tools=()):
    asked = fields.ChatRequest(
        **_drawn(request),
        messages=messages,
        max_completion_tokens=_limit(request),
        tools=list(tools),
        response_format=_format(request.format),
        logprobs=request.logprobs,
        top_logprobs=request.top_logprobs,
        reasoning_effort={None: None, False: "none", True: "medium"}.get(request.think, request.think),
    )
    asked.left_out = request.left_out
    terms = Terms("messages", "format", "tools[].function.strict", "tool_name", "think")
    model, costs, pieces = await begin_replies(asked, len(body), terms)
    return await send(costs, pieces, form(request, model), stream=request.stream, left_out=request.left_out)


def _drawn(request):
    options = request.options
    alike = ("temperature", "top_p", "top_k", "min_p", "seed", "stop", "frequency_penalty", "presence_penalty")
    drawn = {name: getattr(options, name) for name in alike}
    return {
        **drawn,
        "repetition_penalty": options.repeat_penalty,
        "model": request.model_name,
        "stream": request.stream,
    }


def _limit(request):
    return request.options.num_predict if request.options.num_predict > 0 else None


def _format(format):
    if isinstance(format, dict):
        return fields.SchemaFormat(fields.Schema(name="answer", schema=format))
    return fields.AnyObject() if format == "json" else fields.PlainText()


def _tool(tool):
    return fields.OfferedTool(type="function", function=tool.function)


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
    function = fields.CalledFunction(name=call.function.name, arguments=json.dumps(call.function.arguments))
    return fields.ToolCall(id=call.id or number, function=function)


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

    def __init__(self, request, model):
        self._request, self._name = request, model.name
        self._finish = None

    @property
    def SILENCE(self):  # noqa: N802 - lines have no comments: a part without text
        return self.encode([self.line("")])

    @staticmethod
    def encode(values):
        return b"".join(_encode(value) + b"\n" for value in values)

    def line(self, text, *, thinking="", calls=(), done=False, **more):
        """One line, with a part of the reply."""
        head = {"model": self._name, "created_at": _now()}
        return {**head, **self._part(text, thinking, calls), "done": done, **more}

    def whole(self, pieces, costs):
        self._finish = pieces[-1].finish
        calls = [call for piece in pieces for call in piece.calls]
        entries = [entry for piece in pieces for entry in piece.entries]
        thinking, text = "".join(piece.reasoning for piece in pieces), "".join(piece.text for piece in pieces)
        return self.line(text, thinking=thinking, calls=calls, **self._logprobs(entries), **self._ending(costs))

    def opening(self):
        return []

    def chunks(self, piece):
        self._finish = piece.finish
        if not (piece.text or piece.reasoning or piece.calls or piece.entries):
            return []
        return [self.line(piece.text, thinking=piece.reasoning, calls=piece.calls, **self._logprobs(piece.entries))]

    def closing(self, costs):
        return [self.line("", **self._ending(costs))]

    def failed(self, error):
        return [{"error": str(refusal_of(error))}]

    def _logprobs(self, entries):
        return {"logprobs": entries} if self._request.logprobs and entries else {}

    def _ending(self, costs):
        usage, timings = costs.usage(), costs.timings()
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
    """A call with its arguments as an object, an empty one where they were cut short."""
    try:
        found = json.loads(arguments)
    except ValueError:
        found = {}
    return {"function": {"index": place, "name": name, "arguments": found if isinstance(found, dict) else {}}}

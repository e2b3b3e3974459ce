"""/v1/chat/completions."""

from generation.replies import begin_replies
from wire.bodies import read_body
from wire.completion_form import CompletionForm
from wire.fields import ChatRequest
from wire.refusals import Refusal
from wire.sending import answer as send
from wire.sending import identifier
from wire.terms import CHAT


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ChatRequest)
    if request.top_logprobs and not request.logprobs:
        raise Refusal(400, "top_logprobs: set logprobs as well", param="top_logprobs")
    if request.max_tokens and request.max_completion_tokens:
        raise Refusal(400, "max_tokens and max_completion_tokens: give one of them", param="max_tokens")
    model, account, pieces = await begin_replies(request, len(body), CHAT)
    return await send(account, pieces, ChatForm(request, model), stream=request.stream)


class ChatForm(CompletionForm):
    """What the parts of a chat look like to the client."""

    def __init__(self, request, model):
        super().__init__(request, model, "chatcmpl", "chat.completion", "chat.completion.chunk")
        self._counts = [0] * request.n

    def choices(self, pieces):
        return [_whole([p for p in pieces if p.index == i], i, self._request) for i in range(self._request.n)]

    def opening(self):
        for index in range(self._request.n):
            yield self._one(index, {"role": "assistant", "content": ""})

    def chunks(self, piece):
        """The chunks of one part, reasoning by itself; none for an empty one."""
        thought = [self._one(piece.index, {"reasoning_content": piece.reasoning})] if piece.reasoning else []
        delta = {"content": piece.text} if piece.text else {}
        if piece.calls:
            delta["tool_calls"] = [self._call(piece.index, call) for call in piece.calls]
        said = [self._one(piece.index, delta, piece.readings)] if delta or piece.readings else []
        found = [*thought, *said]
        return [*found, self._one(piece.index, {}, finish=piece.finish)] if piece.finish else found

    def _one(self, index, delta, readings=(), finish=None):
        return self.chunk({"index": index, "delta": delta, "logprobs": _logprobs(readings), "finish_reason": finish})

    def _call(self, index, call):
        number = self._counts[index]
        self._counts[index] += 1
        return {"index": number, **_tool_call(call)}


def _whole(pieces, index, request):
    calls = [_tool_call(call) for piece in pieces for call in piece.calls]
    text = "".join(piece.text for piece in pieces)
    reasoning = "".join(piece.reasoning for piece in pieces)
    message = {"role": "assistant", "content": None if calls and not text else text, "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    readings = [entry for piece in pieces for entry in piece.readings]
    logprobs = {"content": readings, "refusal": None} if request.logprobs else None
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": pieces[-1].finish}


def _logprobs(readings):
    return {"content": list(readings), "refusal": None} if readings else None


def _tool_call(call):
    name, arguments = call
    return {"id": identifier("call"), "type": "function", "function": {"name": name, "arguments": arguments}}

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
    model, costs, pieces = await begin_replies(request, len(body), CHAT)
    return await send(costs, pieces, ChatForm(request, model), stream=request.stream)


class ChatForm(CompletionForm):
    """The parts of a chat, in the client's format."""

    def __init__(self, request, model):
        super().__init__(request, model, "chatcmpl", "chat.completion", "chat.completion.chunk")
        self._counts = [0] * request.n

    def choices(self, pieces):
        return [_whole([p for p in pieces if p.index == i], i, self._request) for i in range(self._request.n)]

    def opening(self):
        for index in range(self._request.n):
            yield self._one(index, {"role": "assistant", "content": ""})

    def chunks(self, piece):
        """The chunks of one part, with reasoning in its own chunk; none for an empty part."""
        thought = [self._one(piece.index, {"reasoning_content": piece.reasoning})] if piece.reasoning else []
        delta = {"content": piece.text} if piece.text else {}
        if piece.calls:
            delta["tool_calls"] = [self._call(piece.index, call) for call in piece.calls]
        said = [self._one(piece.index, delta, piece.entries)] if delta or piece.entries else []
        found = [*thought, *said]
        return [*found, self._one(piece.index, {}, finish=piece.finish)] if piece.finish else found

    def _one(self, index, delta, entries=(), finish=None):
        return self.chunk({"index": index, "delta": delta, "logprobs": _logprobs(entries), "finish_reason": finish})

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
    entries = [entry for piece in pieces for entry in piece.entries]
    logprobs = {"content": entries, "refusal": None} if request.logprobs else None
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": pieces[-1].finish}


def _logprobs(entries):
    return {"content": list(entries), "refusal": None} if entries else None


def _tool_call(call):
    name, arguments = call
    return {"id": identifier("call"), "type": "function", "function": {"name": name, "arguments": arguments}}

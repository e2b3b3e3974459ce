"""/v1/chat/completions."""

import asyncio
import json
import uuid

from accounts import Account
from choices import Choice, drawing_of, merged
from constraints import rules_of
from conversation import write_messages
from fields import ChatRequest, PlainText, read_fields
from inferlet import Context
from prompts import checked_length, copies, load_model
from readings import Vocabulary
from refusals import Refusal
from sending import answer as send
from sending import head
from speech import Speech
from stops import StopTexts

SHORT_BYTES = 4096


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = read_fields(body, ChatRequest)
    if request.top_logprobs and not request.logprobs:
        raise Refusal(400, "top_logprobs: set logprobs as well", param="top_logprobs")
    if len(body) > SHORT_BYTES or request.tools or request.response_format != PlainText():
        # Long prompts and grammars take time, in which other requests on this loop should not stand still.
        rules, context, account = await asyncio.to_thread(_prepare, request)
    else:
        rules, context, account = _prepare(request)
    contexts = await copies(context, request.n, account)
    account.choices = [_choice(request, rules, copy, index) for index, copy in enumerate(contexts)]
    pieces = merged([choice.pieces() for choice in account.choices])
    return await send(account, pieces, request, ChatForm(request, context.model))


def _prepare(request):
    model = load_model(request.model)
    rules = rules_of(request, model)
    context = Context(model)
    write_messages(context, request.messages, rules.schemas)
    return rules, context, Account(checked_length(context, "messages"))


def _choice(request, rules, context, index):
    limit = request.max_completion_tokens or request.max_tokens
    if request.max_tokens and request.max_completion_tokens:
        raise Refusal(400, "max_tokens and max_completion_tokens: give one of them", param="max_tokens")
    top = request.top_logprobs if request.logprobs else None
    drawing = drawing_of(request, index, limit, top=top, one_call=not request.parallel_tool_calls)
    speech = Speech(context.model, [json.dumps(schema) for schema in rules.schemas])
    vocabulary = Vocabulary(context.model) if request.logprobs else None
    return Choice(context, drawing, speech, StopTexts(request.stop_texts), rules, vocabulary, index)


class ChatForm:
    """What the parts of a chat look like to the client."""

    def __init__(self, request, model):
        self._request = request
        self._chunk = head("chatcmpl", "chat.completion.chunk", model)
        self._counts = [0] * request.n

    def whole(self, pieces):
        choices = [_whole([p for p in pieces if p.index == i], i, self._request) for i in range(self._request.n)]
        return {**self._chunk, "object": "chat.completion", "choices": choices}

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

    def closing(self, account):
        return self._with_usage({**self._chunk, "choices": []}, account)

    def _one(self, index, delta, readings=(), finish=None):
        choice = {"index": index, "delta": delta, "logprobs": _logprobs(readings), "finish_reason": finish}
        usage = {"usage": None} if self._request.includes_usage else {}
        return {**self._chunk, "choices": [choice], **usage}

    def _call(self, index, call):
        number = self._counts[index]
        self._counts[index] += 1
        return {"index": number, **_tool_call(call)}

    def _with_usage(self, chunk, account):
        return {**chunk, "usage": account.usage(), "timings": account.timings()}


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
    identifier = f"call_{uuid.uuid4().hex[:24]}"
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}

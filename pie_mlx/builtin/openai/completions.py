"""/v1/chat/completions and /v1/completions."""

import asyncio
import codecs
import functools
import time
import uuid
from contextlib import aclosing
from dataclasses import asdict
from functools import partial

from choices import Choice, Piece, replies, sampling_of
from costs import Costs, Progress
from decoding import Decoded, StopTexts, Vocabulary
from fields import ChatRequest, CompletionRequest
from prompts import Rules, begin_replies, checked_length, encoded, load_model, prompts_of
from scores import prompt_entries
from wire import CHAT, SHORT_BYTES, EventForm, Refusal, error_object, identifier, read_body, send

from inferlet import Context, runtime

MOST_CHOICES = 1024


_version = functools.cache(runtime.version)


class CompletionForm(EventForm):
    """Answers are `kind` objects with choices, streams are `chunk_kind` objects; their ids begin with `prefix`.

    Subclasses format the `choices(pieces)` of a whole answer, and of a stream the `chunks_of(piece)` and an `empty`
    choice.
    """

    END = b"data: [DONE]\n\n"

    def __init__(self, request, model, prefix, kind, chunk_kind):
        self._request, self._kind = request, kind
        self._head = {
            "id": f"{prefix}-{uuid.uuid4().hex}",
            "object": chunk_kind,
            "created": int(time.time()),
            "model": model.name,
            "system_fingerprint": f"pie-{_version()}",
        }

    def whole(self, pieces, costs):
        return {**self._head, "object": self._kind, "choices": self.choices(pieces), **costs.figures()}

    def closing(self, costs):
        return [{**self._head, "choices": [], **costs.figures()}] if self._request.includes_usage else []

    def failed(self, error):
        return [{"error": error_object(error)}]

    def chunks(self, piece):
        """The chunks of one part; none for an empty part."""
        if isinstance(piece, Progress):
            return [{**self.chunk(self.empty()), "prompt_progress": asdict(piece)}]
        return self.chunks_of(piece)

    def chunk(self, choice):
        """A chunk of one choice."""
        usage = {"usage": None} if self._request.includes_usage else {}
        return {**self._head, "choices": [choice], **usage}


async def answer_chat(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ChatRequest)
    if request.top_logprobs and not request.logprobs:
        raise Refusal(400, "top_logprobs: set logprobs as well", param="top_logprobs")
    if request.max_tokens and request.max_completion_tokens:
        raise Refusal(400, "max_tokens and max_completion_tokens: give one of them", param="max_tokens")
    model, costs, pieces = await begin_replies(request, len(body), CHAT)
    form = ChatForm(request, model)
    return await send(costs, pieces, form, stream=request.stream, left_out=request.left_out)


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

    def chunks_of(self, piece):
        """Reasoning has a chunk of its own."""
        thought = [self._one(piece.index, {"reasoning_content": piece.reasoning})] if piece.reasoning else []
        delta = {"content": piece.text} if piece.text else {}
        if piece.calls:
            delta["tool_calls"] = [self._call(piece.index, call) for call in piece.calls]
        said = [self._one(piece.index, delta, piece.entries)] if delta or piece.entries else []
        found = [*thought, *said]
        return [*found, self._one(piece.index, {}, finish=piece.finish)] if piece.finish else found

    def empty(self):
        return {"index": 0, "delta": {}, "logprobs": None, "finish_reason": None}

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


async def answer_text(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, CompletionRequest)
    if request.max_tokens == 0 and not request.echo:
        raise Refusal(400, "max_tokens: without echo, at least 1", param="max_tokens")
    model, costs, pieces, echoes = await begin_texts(request, len(body))
    form = TextForm(request, model, echoes)
    return await send(costs, pieces, form, stream=request.stream, left_out=request.left_out)


async def begin_texts(request, size):
    """The model, the costs, the parts and the echoes of the replies to a CompletionRequest of `size` bytes.

    Raises Refusal, and the engine's errors.
    """
    model = load_model(request.model)
    count = len(prompts_of(request.prompt, "prompt")) * request.n
    if count > MOST_CHOICES:
        raise Refusal(400, f"prompt: {count:,} answers, at most {MOST_CHOICES:,} at once", param="prompt")
    if size > SHORT_BYTES:
        prompts, echoes = await asyncio.to_thread(_prepare, request, model)
    else:
        prompts, echoes = _prepare(request, model)
    costs = Costs(sum(len(prompt.buffer()) for prompt in prompts), model.info.page_size)
    if request.max_tokens != 0 and (request.logprobs is None or not request.echo):
        pieces = replies(prompts, request.n, costs, partial(_choice, request), tells_progress=request.tells_progress)
        return model, costs, pieces, echoes
    return model, costs, _echoed(request, prompts, echoes, costs), [""] * len(echoes)


async def _echoed(request, prompts, echoes, costs):
    """The parts of replies that begin with their prompts, with the log-probabilities of those where they are asked."""
    entries = [[] for _ in prompts]
    if request.logprobs is not None:
        tokens = [prompt.buffer() for prompt in prompts]
        entries = await prompt_entries(prompts[0].model, tokens, request.logprobs)
    for index, echo in enumerate(echoes):
        yield Piece(index, echo, entries=entries[index // request.n])
    if request.max_tokens:
        async with aclosing(replies(prompts, request.n, costs, partial(_choice, request))) as pieces:
            async for piece in pieces:
                yield piece
        return
    costs.choices = [_choice(request, prompts[index // request.n], index) for index in range(len(echoes))]
    for index in range(len(echoes)):
        yield Piece(index, finish="length")


def _prepare(request, model):
    """The prompts in contexts, and the text of them that each choice echoes."""
    prompts = []
    for prompt in prompts_of(request.prompt, "prompt"):
        tokens = encoded(model, prompt, "prompt") if isinstance(prompt, str) else prompt
        prompts.append(Context(model).append(tokens))
        checked_length(prompts[-1], "prompt")
    return prompts, [_echo(prompt) if request.echo else "" for prompt in prompts for _ in range(request.n)]


def _echo(context):
    return context.model.tokenizer().decode(context.buffer())


def _choice(request, context, index):
    vocabulary = Vocabulary(context.model)
    sampling = sampling_of(request, index, request.max_tokens, top=request.logprobs)
    return Choice(
        context, sampling, PlainDecoder(vocabulary), StopTexts(request.stop_texts), Rules(), vocabulary, index
    )


class PlainDecoder:
    """Every token is text."""

    thinks = False

    def __init__(self, vocabulary):
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, tokens):
        return Decoded(self._decoder.decode(b"".join(map(self._vocabulary.bytes_of, tokens))))

    def finish(self, *, is_cut=False):
        return Decoded(self._decoder.decode(b"", final=True))


class TextForm(CompletionForm):
    """The parts of a text, in the client's format. Each choice begins with its entry of `echoes`."""

    def __init__(self, request, model, echoes):
        super().__init__(request, model, "cmpl", "text_completion", "text_completion")
        self._echoes = echoes
        self._lengths = [len(echo) for echo in echoes]

    def choices(self, pieces):
        return [self._whole([p for p in pieces if p.index == i], i, echo) for i, echo in enumerate(self._echoes)]

    def opening(self):
        return [self._chunk(index, echo) for index, echo in enumerate(self._echoes) if echo]

    def chunks_of(self, piece):
        if not (piece.text or piece.entries or piece.finish):
            return []
        return [self._chunk(piece.index, piece.text, piece.entries, piece.finish)]

    def empty(self):
        return self._one(0, "", (), None)

    def _whole(self, pieces, index, echo):
        text = echo + "".join(piece.text for piece in pieces)
        entries = [entry for piece in pieces for entry in piece.entries]
        return self._one(index, text, entries, pieces[-1].finish)

    def _chunk(self, index, text, entries=(), finish=None):
        return self.chunk(self._one(index, text, entries, finish))

    def _one(self, index, text, entries, finish):
        return {"index": index, "text": text, "logprobs": self._logprobs(index, entries), "finish_reason": finish}

    def _logprobs(self, index, entries):
        if self._request.logprobs is None:
            return None
        offsets = []
        for entry in entries:
            offsets.append(self._lengths[index])
            self._lengths[index] += len(entry["token"])
        return {
            "tokens": [entry["token"] for entry in entries],
            "token_logprobs": [entry["logprob"] for entry in entries],
            "top_logprobs": [_likely(entry["top_logprobs"]) for entry in entries],
            "text_offset": offsets,
        }


def _likely(entries):
    return None if entries is None else {entry["token"]: entry["logprob"] for entry in entries}

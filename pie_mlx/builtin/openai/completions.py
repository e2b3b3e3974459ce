"""/v1/chat/completions and /v1/completions."""

import asyncio
import codecs
import functools
import time
import uuid
from collections import Counter
from contextlib import aclosing
from dataclasses import asdict
from functools import partial

from choices import Choice, Costs, Piece, Progress, joined, replies, sampling_of
from decoding import Decoded, Vocabulary, logprob_entry
from fields import ChatRequest, CompletionRequest
from prompts import Rules, begin_replies, check_bias, checked_length, encoded, load_model, prompts_of
from sending import send
from wire import CHAT, SHORT_BYTES, EventForm, Refusal, aside, identifier, read_body

from inferlet import Context, Distribution, Logprobs, runtime

MOST_CHOICES = 1024


_version = functools.cache(runtime.version)


class CompletionForm(EventForm):
    """Answers are `kind` objects with choices, streams are `chunk_kind` objects; their ids begin with `prefix`.

    Subclasses format a whole `choice(piece)`, and of a stream the `chunks_of(piece)` and an `empty` choice.
    """

    END = b"data: [DONE]\n\n"

    def __init__(self, request, prefix, kind, chunk_kind):
        self._request, self._kind = request, kind
        self._head = {
            "id": f"{prefix}-{uuid.uuid4().hex}",
            "object": chunk_kind,
            "created": int(time.time()),
            "model": request.model,
            "system_fingerprint": f"pie-{_version()}",
        }

    def whole(self, pieces):
        ones = {}
        for piece in pieces:
            ones.setdefault(piece.index, []).append(piece)
        choices = [self.choice(joined(ones[index])) for index in sorted(ones)]
        return {**self._head, "object": self._kind, "choices": choices, **self.costs.figures()}

    def closing(self):
        return [{**self._head, "choices": [], **self.costs.figures()}] if self._request.includes_usage else []

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
    return await send(request, ChatForm(request), begin_replies(request, len(body), CHAT))


class ChatForm(CompletionForm):
    """The parts of a chat, in the client's format."""

    def __init__(self, request):
        super().__init__(request, "chatcmpl", "chat.completion", "chat.completion.chunk")
        self._counts = [0] * request.n

    def choice(self, piece):
        calls = [_tool_call(call) for call in piece.calls]
        message = {"role": "assistant", "content": None if calls and not piece.text else piece.text, "refusal": None}
        if piece.reasoning:
            message["reasoning_content"] = piece.reasoning
        if calls:
            message["tool_calls"] = calls
        logprobs = {"content": piece.entries, "refusal": None} if self._request.logprobs else None
        return {"index": piece.index, "message": message, "logprobs": logprobs, "finish_reason": piece.finish}

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
    return await send(request, TextForm(request), begin_texts(request, len(body)))


async def begin_texts(request, size):
    """The beginning of the replies to a CompletionRequest of `size` bytes, to be awaited: their costs and their parts.

    Raises Refusal, and so does the beginning, which also raises the engine's errors.
    """
    model = await asyncio.to_thread(load_model, request.model)
    check_bias(request, model)
    prompts = prompts_of(request.prompt, "prompt")
    count = len(prompts) * request.n
    if count > MOST_CHOICES:
        raise Refusal(400, f"prompt: {count:,} answers, at most {MOST_CHOICES:,} at once", param="prompt")
    return _begun(request, size, model, prompts)


async def _begun(request, size, model, given):
    prompts = await aside(size > SHORT_BYTES, _contexts, model, given)
    costs = Costs(sum(len(prompt.buffer()) for prompt in prompts), model.info.page_size)
    return costs, (_echoed if request.echo else _drawn)(request, prompts, costs)


def _drawn(request, prompts, costs):
    return replies(prompts, request.n, costs, partial(_choice, request), tells_progress=request.tells_progress)


async def _echoed(request, prompts, costs):
    """The parts of replies that begin with their prompts, with the log-probabilities of those where they are asked."""
    tokens, entries = [prompt.buffer() for prompt in prompts], [[] for _ in prompts]
    if request.logprobs is not None:
        entries = await prompt_entries(prompts[0].model, tokens, request.logprobs)
    texts = [prompts[0].model.tokenizer().decode(one) for one in tokens]
    for index in range(len(prompts) * request.n):
        yield Piece(index, texts[index // request.n], entries=entries[index // request.n])
    if request.max_tokens != 0:
        async with aclosing(_drawn(request, prompts, costs)) as pieces:
            async for piece in pieces:
                yield piece
        return
    costs.choices = [_choice(request, prompts[index // request.n], index) for index in range(len(prompts) * request.n)]
    for index in range(len(costs.choices)):
        yield Piece(index, finish="length")


def _contexts(model, given):
    """The prompts in contexts."""
    prompts = []
    for prompt in given:
        tokens = encoded(model, prompt, "prompt") if isinstance(prompt, str) else prompt
        prompts.append(Context(model).append(tokens))
        checked_length(prompts[-1], "prompt")
    return prompts


READ_AT_ONCE = 128
"""Positions whose distributions are read in one pass: each takes memory for the whole vocabulary."""


async def prompt_entries(model, prompts, top):
    """The entries of all tokens of each prompt, with the `top` most likely ones; nothing predicts the first token.

    What several prompts begin with is computed once, and what differs side by side.
    """
    vocabulary = Vocabulary(model)
    found = [(tokens, [{**vocabulary.entry(tokens[0], None), "top_logprobs": None}]) for tokens in prompts]
    async with asyncio.TaskGroup() as group:
        for first in {tokens[0] for tokens in prompts}:
            alike = [one for one in found if one[0][0] == first]
            group.create_task(_read(Context(model), alike, 0, top, vocabulary))
    return [entries for _, entries in found]


async def _read(context, found, start, top, vocabulary):
    """Read the tokens from `start` on of prompts that are alike up to there and one token further."""
    try:
        alike = _common([tokens for tokens, _ in found])
        for begin in range(start, len(alike), READ_AT_ONCE):
            await _read_pass(context, found, begin, alike[begin : begin + READ_AT_ONCE], top, vocabulary)
        branches = {}
        for one in found:
            if len(one[0]) > len(alike):
                branches.setdefault(one[0][len(alike)], []).append(one)
        async with asyncio.TaskGroup() as group:
            for branch in branches.values():
                group.create_task(_read(context.fork(), branch, len(alike), top, vocabulary))
    finally:
        context.release()


def _common(prompts):
    """What all prompts begin with: what the first and the last of them in order begin with."""
    first, last = min(prompts), max(prompts)
    differs = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differs, len(first))]


async def _read_pass(context, found, begin, inputs, top, vocabulary):
    step, probes = context.forward().input(inputs), []
    for place in range(len(inputs)):
        followers = sorted({tokens[begin + place + 1] for tokens, _ in found if len(tokens) > begin + place + 1})
        if followers:
            values = step.probe(place, Logprobs(followers))
            likely = step.probe(place, Distribution(1.0, top)) if top else None
            probes.append((begin + place + 1, followers, values, likely))
    output = await step.execute()
    for place, followers, values, likely in probes:
        distribution = output.distribution(likely) if likely else None
        scored = zip(followers, output.logprobs(values), strict=True)
        entries = {token: logprob_entry(vocabulary, token, value, distribution) for token, value in scored}
        for tokens, its_entries in found:
            if len(tokens) > place:
                its_entries.append(entries[tokens[place]])


def _choice(request, context, index):
    sampling = sampling_of(request, index, request.max_tokens, top=request.logprobs)
    return Choice(context, sampling, PlainDecoder(Vocabulary(context.model)), Rules(), index)


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
    """The parts of a text, in the client's format."""

    def __init__(self, request):
        super().__init__(request, "cmpl", "text_completion", "text_completion")
        self._lengths = Counter()

    def choice(self, piece):
        logprobs = self._logprobs(piece.index, piece.entries)
        return {"index": piece.index, "text": piece.text, "logprobs": logprobs, "finish_reason": piece.finish}

    def opening(self):
        return []

    def chunks_of(self, piece):
        return [self.chunk(self.choice(piece))] if piece.text or piece.entries or piece.finish else []

    def empty(self):
        return self.choice(Piece(0))

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

"""/v1/completions: continues text, without a chat template."""

import asyncio
import codecs

from accounts import Account
from bodies import SHORT_BYTES, read_body
from choices import Choice, drawing_of, merged
from completion_form import CompletionForm
from constraints import Rules
from fields import CompletionRequest
from inferlet import Context
from prompts import checked_length, copies, encoded, load_model
from readings import Vocabulary
from refusals import Refusal
from sending import answer as send
from speech import Said
from stops import StopTexts

MOST_CHOICES = 1024


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, CompletionRequest)
    if request.echo and request.logprobs is not None:
        raise Refusal(400, "echo: not together with logprobs", param="echo")
    model = load_model(request.model)
    count = len(_prompts(request.prompt)) * request.n
    if count > MOST_CHOICES:
        raise Refusal(400, f"prompt: {count:,} answers, at most {MOST_CHOICES:,} at once", param="prompt")
    if len(body) > SHORT_BYTES:
        prompts, echoes = await asyncio.to_thread(_prepare, request, model)
    else:
        prompts, echoes = _prepare(request, model)
    account = Account(sum(len(prompt.buffer()) for prompt in prompts))
    contexts = [copy for prompt in prompts for copy in await copies(prompt, request.n, account)]
    account.choices = [_choice(request, context, index) for index, context in enumerate(contexts)]
    pieces = merged([choice.pieces() for choice in account.choices])
    return await send(account, pieces, TextForm(request, model, echoes), stream=request.stream)


def _prepare(request, model):
    """The prompts in contexts, and the text that each choice echoes."""
    prompts = []
    for prompt in _prompts(request.prompt):
        tokens = encoded(model, prompt, "prompt") if isinstance(prompt, str) else prompt
        prompts.append(Context(model).append(tokens))
        checked_length(prompts[-1], "prompt")
    return prompts, [_echo(prompt) if request.echo else "" for prompt in prompts for _ in range(request.n)]


def _prompts(prompt):
    """A text, a list of texts, of tokens, or of lists of tokens, as a list of prompts."""
    kinds = {type(one) for one in prompt} if isinstance(prompt, list) else {str}
    if len(kinds) != 1:
        raise Refusal(400, "prompt: give a text, texts, tokens or lists of tokens", param="prompt")
    return [prompt] if isinstance(prompt, str) or kinds == {int} else prompt


def _echo(context):
    return context.model.tokenizer().decode(context.buffer())


def _choice(request, context, index):
    vocabulary = Vocabulary(context.model)
    drawing = drawing_of(request, index, request.max_tokens, top=request.logprobs)
    return Choice(context, drawing, PlainSpeech(vocabulary), StopTexts(request.stop_texts), Rules(), vocabulary, index)


class PlainSpeech:
    """Every token is text."""

    thinks = False

    def __init__(self, vocabulary):
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, tokens):
        return Said(self._decoder.decode(b"".join(map(self._vocabulary.bytes_of, tokens))))

    def finish(self, *, is_cut=False):
        return Said(self._decoder.decode(b"", final=True))


class TextForm(CompletionForm):
    """The form of a text's parts for the client. `echoes` are the beginnings of the choices."""

    def __init__(self, request, model, echoes):
        super().__init__(request, model, "cmpl", "text_completion", "text_completion")
        self._echoes = echoes
        self._lengths = [len(echo) for echo in echoes]

    def choices(self, pieces):
        return [self._whole([p for p in pieces if p.index == i], i, echo) for i, echo in enumerate(self._echoes)]

    def opening(self):
        return [self._chunk(index, echo) for index, echo in enumerate(self._echoes) if echo]

    def chunks(self, piece):
        """The chunks of one part; none for an empty one."""
        if not (piece.text or piece.readings or piece.finish):
            return []
        return [self._chunk(piece.index, piece.text, piece.readings, piece.finish)]

    def _whole(self, pieces, index, echo):
        text = echo + "".join(piece.text for piece in pieces)
        readings = [entry for piece in pieces for entry in piece.readings]
        return self._one(index, text, readings, pieces[-1].finish)

    def _chunk(self, index, text, readings=(), finish=None):
        return self.chunk(self._one(index, text, readings, finish))

    def _one(self, index, text, readings, finish):
        return {"index": index, "text": text, "logprobs": self._logprobs(index, readings), "finish_reason": finish}

    def _logprobs(self, index, readings):
        if self._request.logprobs is None:
            return None
        offsets = []
        for entry in readings:
            offsets.append(self._lengths[index])
            self._lengths[index] += len(entry["token"])
        return {
            "tokens": [entry["token"] for entry in readings],
            "token_logprobs": [entry["logprob"] for entry in readings],
            "top_logprobs": [{top["token"]: top["logprob"] for top in e["top_logprobs"]} for e in readings],
            "text_offset": offsets,
        }

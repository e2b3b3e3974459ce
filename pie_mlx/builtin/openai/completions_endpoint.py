"""/v1/completions: continues a text, without a chat template."""

import asyncio
import codecs

from generation.choices import Choice, merged, sampling_of
from generation.constraints import Rules
from generation.costs import Costs
from generation.logprobs import Vocabulary
from generation.prompts import checked_length, copies, encoded, load_model
from generation.reply_decoder import Decoded
from generation.stops import StopTexts
from inferlet import Context
from wire.bodies import SHORT_BYTES, read_body
from wire.completion_form import CompletionForm
from wire.fields import CompletionRequest
from wire.refusals import Refusal
from wire.sending import answer as send

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
    costs = Costs(sum(len(prompt.buffer()) for prompt in prompts))
    contexts = [copy for prompt in prompts for copy in await copies(prompt, request.n, costs)]
    costs.choices = [_choice(request, context, index) for index, context in enumerate(contexts)]
    pieces = merged([choice.pieces() for choice in costs.choices])
    return await send(costs, pieces, TextForm(request, model, echoes), stream=request.stream)


def _prepare(request, model):
    """The prompts in contexts, and the text of them that each choice echoes."""
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

    def chunks(self, piece):
        """The chunks of one part; none for an empty part."""
        if not (piece.text or piece.entries or piece.finish):
            return []
        return [self._chunk(piece.index, piece.text, piece.entries, piece.finish)]

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
            "top_logprobs": [{top["token"]: top["logprob"] for top in e["top_logprobs"]} for e in entries],
            "text_offset": offsets,
        }

"""One reply of the model, as it is generated."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from inferlet import Distribution, GrammarConstraint, Sampler, chat
from wire.refusals import Refusal

from generation.either import Either
from generation.readings import Readings, reading
from generation.speech import Said

OPENING_TOKENS = 16
"""The longest beginning of a tool call."""
AT_ONCE = 32
"""Tokens of a reply that nobody looks at before it is complete, drawn without asking for each."""
STREAMED_SECONDS = 0.08
"""A part of a stream holds the tokens of so much time: a reader sees no difference, and fewer parts cost less."""


@dataclass(frozen=True)
class Drawing:
    """How tokens are drawn, at most how many `at_once`, in a `stream` or not, and when to stop. `top` is the number of
    likely tokens to tell of, None for no telling."""

    sampler: Sampler
    max_tokens: int | None
    stops: list[str]
    top: int | None = None
    one_call: bool = False
    at_once: int = 1
    stream: bool = False


@dataclass
class Piece:
    """A part of choice `index`; the last one says why it `finish`ed."""

    index: int
    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    readings: list[dict] = field(default_factory=list)
    finish: str | None = None


@dataclass
class Counts:
    """Tokens of one choice; `cached` of its prompt were not computed. `first_seconds`: when its first step was done."""

    tokens: int = 0
    reasoning_tokens: int = 0
    cached: int = 0
    first_seconds: float = 0.0


def drawing_of(request, index, max_tokens, *, top=None, one_call=False):
    """Choices of one request draw from different streams."""
    seed = None if request.seed is None else (request.seed + index) % (1 << 63)
    sampler = Sampler(request.temperature, k=request.top_k, p=request.top_p, floor=request.min_p, seed=seed)
    at_once = 1 if request.stop_texts or one_call else AT_ONCE
    sampler = sampler if top is None else sampler.scored()
    return Drawing(sampler, max_tokens, request.stop_texts, top, one_call, at_once, request.stream)


class Choice:
    """Generates on `context`, which holds the whole prompt."""

    def __init__(self, context, drawing, speech, stops, rules, vocabulary=None, index=0):
        self._context, self._drawing, self._speech, self._rules = context, drawing, speech, rules
        self._stops, self._vocabulary, self._index = stops, vocabulary, index
        self._readings = Readings(stops)
        self._recent = []
        self._called = False
        self._either = None
        self._token_seconds = STREAMED_SECONDS
        self.counts = Counts()

    async def pieces(self):
        """Every part as soon as it is certain."""
        finish = None
        # A model that is made to think first is free to, and bound from then on.
        waits = self._speech.thinks and self._rules.make is not None
        constraint = None if waits or self._rules.make is None else self._rules.make()
        while finish is None:
            generator, probe = self._generator(constraint)
            self._either = constraint if isinstance(constraint, Either) else None
            constraint = None
            async for step in generator:
                output = await self._drawn(step, waits)
                if output is None:
                    finish = "length"
                    break
                said = self._take(output)
                piece = self._piece(said, output, probe)
                if piece is not None:
                    yield piece
                if self._stops.found or (self._drawing.one_call and said.calls):
                    finish = "stop"
                elif waits and not self._speech.thinks:
                    waits, constraint = False, self._rules.make()
                elif self._either is not None:
                    constraint = self._decided(output.tokens)
                elif said.begins_call and not said.calls and self._rules.make_call is not None:
                    constraint = self._inside_call()
                if finish or constraint:
                    break
            else:
                finish = "length" if generator.finish_reason == "length" else "stop"
        yield self._last(finish)

    async def _drawn(self, step, waits):
        """What a step gives; None once the reply has outgrown the pages there are."""
        asked = time.perf_counter()
        try:
            output = await step.up_to(self._at_once(waits)).execute()
        except Exception as error:
            if getattr(error, "code", "") != "out_of_pages" or not self.counts.tokens:
                raise
            return None
        self._token_seconds = (time.perf_counter() - asked) / max(1, len(output.tokens))
        return output

    def _at_once(self, waits):
        """Tokens of the next step: one where what they say may change the rules, and where the first is timed."""
        if waits or self._either or self._rules.make_call is not None or not self.counts.tokens:
            return 1
        in_time = int(STREAMED_SECONDS / self._token_seconds) if self._drawing.stream else AT_ONCE
        return max(1, min(in_time, self._drawing.at_once))

    def _generator(self, constraint):
        left = None if self._drawing.max_tokens is None else self._drawing.max_tokens - self.counts.tokens
        generator = self._context.generate(
            self._drawing.sampler,
            max_tokens=left,
            stop=chat.stop_tokens(self._context.model),
            constrain=constraint,
            auto_flush=False,
        )
        top = self._drawing.top
        return generator, generator.probe_each_step(-1, Distribution(1.0, top)) if top else None

    def _take(self, output):
        counts, tokens = self.counts, output.tokens
        counts.first_seconds = counts.first_seconds or time.perf_counter()
        counts.cached += output.raw.attached if output.raw else 0
        counts.tokens += len(tokens)
        said = Said()
        # One by one where they have to be told apart: a thought may end among them.
        for part in ([token] for token in tokens) if self._speech.thinks else [tokens]:
            more = self._speech.feed(part)
            if more.reasoning or self._speech.thinks:
                counts.reasoning_tokens += len(part)
            said.add(more)
        self._recent = (self._recent + tokens)[-OPENING_TOKENS:]
        return said

    def _piece(self, said, output, probe):
        """None when there is nothing to tell."""
        if self._drawing.top is not None and output.tokens and not said.reasoning:
            scored = zip(output.tokens, output.logprobs(output.auto_sampler), strict=False)
            likely = output.distribution(probe) if probe else None
            self._readings.add(reading(self._vocabulary, token, logprob, likely) for token, logprob in scored)
        text = self._stops.feed(said.text)
        readings = self._readings.certain()
        calls = self._allowed(said.calls)
        if not (text or said.reasoning or calls or readings):
            return None
        return Piece(self._index, text, said.reasoning, calls, readings)

    def _last(self, finish):
        said = self._speech.finish(is_cut=finish == "length")
        text = self._stops.feed(said.text) + self._stops.finish()
        calls = [] if self._stops.found else self._allowed(said.calls)
        if self._called and finish == "stop":
            finish = "tool_calls"
        return Piece(self._index, text, said.reasoning, calls, self._readings.finish(), finish)

    def _allowed(self, calls):
        if self._drawing.one_call:
            calls = [] if self._called else calls[:1]
        self._called = self._called or bool(calls)
        return calls

    def _decided(self, tokens):
        """The constraint of what the reply has turned out to be; None while that is open."""
        self._either.take(tokens)
        matcher = self._either.decided
        return None if matcher is None else GrammarConstraint(matcher)

    def _inside_call(self):
        """The constraint of a call that has begun, brought to where the reply stands."""
        for count in range(1, len(self._recent) + 1):
            constraint = self._rules.make_call()
            try:
                constraint.matcher.accept_tokens(self._recent[-count:])
            except Exception as error:
                if getattr(error, "code", "") != "grammar_rejected":
                    raise
            else:
                return constraint
        raise Refusal(500, "a strict tool: the model began its call in a way that cannot be followed")


async def merged(streams: list[AsyncIterator[Piece]]) -> AsyncIterator[Piece]:
    """Several replies at once, parts in the order of their coming. None goes on while nobody takes them."""
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for piece in only:
                yield piece
        return
    queue = asyncio.Queue(len(streams))
    tasks = [asyncio.create_task(_forward(stream, queue)) for stream in streams]
    try:
        left = len(tasks)
        while left:
            piece = await queue.get()
            if isinstance(piece, Exception):
                raise piece
            left -= piece is None
            if piece is not None:
                yield piece
    finally:
        for task in tasks:
            task.cancel()
        # Each ends its reply before this ends: nobody else knows of them.
        await asyncio.gather(*tasks, return_exceptions=True)


async def _forward(stream, queue):
    try:
        async with aclosing(stream):
            async for piece in stream:
                await queue.put(piece)
        await queue.put(None)
    except Exception as error:
        await queue.put(error)

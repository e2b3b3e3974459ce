"""The replies to a prompt, as they are generated."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from decoding import Decoded, EntryBuffer, logprob_entry
from msgspec.structs import replace
from wire import END_OF_STREAM, Refusal, forward

from inferlet import Context, Distribution, GrammarConstraint, Sampler, brle, chat

OPENING_TOKENS = 16
"""Tokens of the longest beginning of a tool call."""
AT_ONCE = 32
"""Tokens per step of a reply that is not streamed."""
PROGRESS_TOKENS = 512
"""Tokens of a prompt between two words about its progress."""
STREAMED_SECONDS = 0.08
"""The time of the tokens in a part of a stream: readers do not notice it, and fewer parts cost less."""


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn, at most `at_once` per step, in a `stream` or not, and when to stop. `top` is the number of
    most likely tokens to report, None for no logprobs; `thought_tokens` limits the thoughts of a reply, whose pages are
    to be kept for `kept_seconds`."""

    sampler: Sampler
    max_tokens: int | None
    stops: list[str]
    top: int | None = None
    one_call: bool = False
    at_once: int = 1
    stream: bool = False
    thought_tokens: int | None = None
    kept_seconds: float = 0.0


@dataclass
class Piece:
    """A part of choice `index`; the last one has the `finish` reason, and the stop text that ended it."""

    index: int
    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    entries: list[dict] = field(default_factory=list)
    finish: str | None = None
    stop_text: str | None = None


@dataclass
class Counts:
    """Tokens of one choice; `cached` prompt tokens were not computed. `first_seconds`: when its first step ended.

    `finish` is the reason of its end, "" before it. Its pages are kept for `kept_seconds`.
    """

    tokens: int = 0
    reasoning_tokens: int = 0
    cached: int = 0
    first_seconds: float = 0.0
    finish: str = ""
    kept_seconds: float = 0.0


def sampling_of(request, index, max_tokens, *, top=None, one_call=False, thought_tokens=None):
    """The sampling of one choice. Choices of one request use different random streams."""
    seed = None if request.seed is None else (request.seed + index) % (1 << 63)
    sampler = Sampler(request.temperature, k=request.top_k, p=request.top_p, min_probability=request.min_p, seed=seed)
    sampler = sampler.penalized(
        frequency=request.frequency_penalty,
        presence=request.presence_penalty,
        repetition=request.repetition_penalty,
        bias={int(token): bias for token, bias in request.logit_bias.items()},
    )
    at_once = 1 if request.stop_texts or one_call else AT_ONCE
    sampler = sampler if top is None else sampler.scored()
    stream, kept = request.stream, request.kept_seconds
    return Sampling(sampler, max_tokens, request.stop_texts, top, one_call, at_once, stream, thought_tokens, kept)


class Choice:
    """Generates on `context`, which has the whole prompt."""

    def __init__(self, context, sampling, decoder, stops, rules, vocabulary=None, index=0):
        self.context, self._sampling, self._decoder, self._rules = context, sampling, decoder, rules
        self._stops, self._vocabulary, self._index = stops, vocabulary, index
        self._sampler = sampling.sampler
        if self._sampler.counts_tokens:  # over all generators of the reply
            self._sampler = replace(self._sampler, since=context.seq_len + len(context.buffer()))
        self._entries = EntryBuffer(stops)
        self._recent = []
        self._called = False
        self._thought_tokens = 0
        self._alternatives = None
        self._token_seconds = STREAMED_SECONDS
        self.counts = Counts()

    async def pieces(self):
        """All parts, each as soon as it is certain."""
        finish = None
        # While the model reasons, the constraint does not hold; it begins after that.
        waits = self._decoder.thinks and self._rules.make is not None
        constraint = None if waits or self._rules.make is None else self._rules.make()
        while finish is None:
            generator, probe = self._generator(constraint)
            self._alternatives = constraint if isinstance(constraint, Alternatives) else None
            constraint = None
            async for step in generator:
                output = await self._drawn(step, waits)
                if output is None:
                    finish = "length"
                    break
                said = self._decode(output)
                piece = self._piece(said, output, probe)
                if piece is not None:
                    yield piece
                if self._stops.found or (self._sampling.one_call and said.calls):
                    finish = "stop"
                elif waits and not self._decoder.thinks:
                    waits, constraint = False, self._rules.make()
                elif self._alternatives is not None:
                    constraint = self._decided(output.tokens)
                elif said.begins_call and not said.calls and self._rules.make_call is not None:
                    constraint = self._inside_call()
                if finish or constraint:
                    break
            else:
                finish = "length" if generator.finish_reason == "length" else "stop"
        if self._sampling.kept_seconds:
            kept = self.context.retain(ttl_seconds=self._sampling.kept_seconds, prepaid=True)
            self.counts.kept_seconds = kept
        yield self._last(finish)

    async def _drawn(self, step, waits):
        """The output of a step; None when the reply has outgrown the pool."""
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
        """Tokens of the next step: one where a token may change the constraint, and for the first, which is timed."""
        if waits or self._alternatives or self._rules.make_call is not None or not self.counts.tokens:
            return 1
        in_time = int(STREAMED_SECONDS / self._token_seconds) if self._sampling.stream else AT_ONCE
        return max(1, min(in_time, self._sampling.at_once))

    def _generator(self, constraint):
        left = None if self._sampling.max_tokens is None else self._sampling.max_tokens - self.counts.tokens
        generator = self.context.generate(
            self._sampler,
            max_tokens=left,
            stop=chat.stop_tokens(self.context.model),
            constrain=constraint,
            thinking_budget=self._thoughts_left(),
            auto_flush=False,
        )
        top = self._sampling.top
        return generator, generator.probe_each_step(-1, Distribution(1.0, top)) if top else None

    def _thoughts_left(self):
        """Tokens that the thoughts may still take; a generator counts only its own."""
        limit = self._sampling.thought_tokens
        return None if limit is None else max(0, limit - self._thought_tokens)

    def _decode(self, output):
        counts, tokens = self.counts, output.tokens
        counts.first_seconds = counts.first_seconds or time.perf_counter()
        counts.cached += output.raw.attached if output.raw else 0
        counts.tokens += len(tokens)
        said = Decoded()
        # One by one while the model reasons: the reasoning may end at any of them.
        for part in ([token] for token in tokens) if self._decoder.thinks else [tokens]:
            self._thought_tokens += self._decoder.thinks
            more = self._decoder.feed(part)
            if more.reasoning or self._decoder.thinks:
                counts.reasoning_tokens += len(part)
            said.add(more)
        self._recent = (self._recent + tokens)[-OPENING_TOKENS:]
        return said

    def _piece(self, said, output, probe):
        """The part for this output; None if it is empty."""
        if self._sampling.top is not None and output.tokens and not said.reasoning:
            scored = zip(output.tokens, output.logprobs(output.auto_sampler), strict=False)
            likely = output.distribution(probe) if probe else None
            self._entries.add(logprob_entry(self._vocabulary, token, logprob, likely) for token, logprob in scored)
        text = self._stops.feed(said.text)
        entries = self._entries.certain()
        calls = self._allowed(said.calls)
        if not (text or said.reasoning or calls or entries):
            return None
        return Piece(self._index, text, said.reasoning, calls, entries)

    def _last(self, finish):
        said = self._decoder.finish(is_cut=finish == "length")
        text = self._stops.feed(said.text) + self._stops.finish()
        calls = [] if self._stops.found else self._allowed(said.calls)
        if self._called and finish == "stop":
            finish = "tool_calls"
        self.counts.finish = finish
        return Piece(self._index, text, said.reasoning, calls, self._entries.finish(), finish, self._stops.found)

    def _allowed(self, calls):
        if self._sampling.one_call:
            calls = [] if self._called else calls[:1]
        self._called = self._called or bool(calls)
        return calls

    def _decided(self, tokens):
        """The constraint of the only remaining alternative; None while there are several."""
        self._alternatives.accept_tokens(tokens)
        matcher = self._alternatives.decided
        return None if matcher is None else GrammarConstraint(matcher)

    def _inside_call(self):
        """The constraint of a call that has begun, advanced by the tokens already drawn."""
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


async def replies(prompts, count, costs, make, *, tells_progress=False):
    """The parts of `count` replies to each of the prompts, behind the Progress of these if it is asked for.

    `make(context, index)` begins a Choice; each prompt is computed once.
    """
    contexts = []
    for prompt in prompts:
        if count == 1 and not tells_progress:
            contexts.append(prompt)
            continue
        # The last token stays behind: what is drawn first is drawn from it.
        *tokens, last = prompt.buffer()
        shared, at_once = Context(prompt.model), PROGRESS_TOKENS if tells_progress else max(1, len(tokens))
        for begin in range(0, len(tokens), at_once):
            part = tokens[begin : begin + at_once]
            passed = await shared.forward().input(part).execute()
            costs.count_processed(len(part), passed.raw.attached)
            if tells_progress and passed.raw.attached < len(part):
                yield costs.progress()
        costs.shared.append(shared.reuse)
        contexts += [shared.fork().append([last]) for _ in range(count)]
    costs.choices = [make(context, index) for index, context in enumerate(contexts)]
    async with aclosing(merged([choice.pieces() for choice in costs.choices])) as pieces:
        async for piece in pieces:
            if tells_progress:
                yield costs.progress(is_over=True)
                tells_progress = False
            yield piece


async def merged(streams: list[AsyncIterator[Piece]]) -> AsyncIterator[Piece]:
    """The parts of several replies in the order they arrive. A reply waits while its parts are not read."""
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for piece in only:
                yield piece
        return
    queue = asyncio.Queue(len(streams))
    tasks = [asyncio.create_task(forward(stream, queue)) for stream in streams]
    try:
        left = len(tasks)
        while left:
            piece = await queue.get()
            if isinstance(piece, Exception):
                raise piece
            if piece is END_OF_STREAM:
                left -= 1
            else:
                yield piece
    finally:
        for task in tasks:
            task.cancel()
        # Wait until every reply has ended: nothing else holds these tasks.
        await asyncio.gather(*tasks, return_exceptions=True)


class Alternatives:
    """A constraint that allows the tokens of any of several matchers. `accept_tokens` drops the matchers that forbid
    them; `decided` is the only remaining matcher, None while there are several."""

    def __init__(self, matchers):
        self._left = matchers

    @property
    def decided(self):
        return self._left[0] if len(self._left) == 1 else None

    def accept_tokens(self, tokens):
        self._left = [matcher for matcher in self._left if _accepts(matcher, tokens)]

    def step(self, accepted):
        """The mask after the tokens accepted so far, which `accepted` repeats."""
        masks = [matcher.next_token_logit_mask() for matcher in self._left]
        return brle.spans(*(span for mask in masks for span in _allowed(mask))) if all(masks) else []


def _allowed(mask):
    """The spans of tokens that a mask allows."""
    end = 0
    for place, length in enumerate(mask):
        start, end = end, end + length
        if place % 2:
            yield start, end


def _accepts(matcher, tokens):
    try:
        matcher.accept_tokens(tokens)
    except Exception as error:
        if getattr(error, "code", "") != "grammar_rejected":
            raise
        return False
    return True

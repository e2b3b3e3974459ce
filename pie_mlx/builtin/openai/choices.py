"""The replies to a prompt, as they are generated, and what they cost."""

import time
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import msgspec
from decoding import Alternatives, Decoded, EntryBuffer, StopTexts, Vocabulary, logprob_entry
from wire import Refusal, merged

from inferlet import Context, Distribution, GrammarConstraint, Sampler, chat

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


def joined(pieces):
    """The parts of one choice as one."""
    text, reasoning = "".join(piece.text for piece in pieces), "".join(piece.reasoning for piece in pieces)
    calls = [call for piece in pieces for call in piece.calls]
    entries = [entry for piece in pieces for entry in piece.entries]
    return replace(pieces[-1], text=text, reasoning=reasoning, calls=calls, entries=entries)


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

    def __init__(self, context, sampling, decoder, rules, index=0):
        self.context, self._sampling, self._decoder, self._rules = context, sampling, decoder, rules
        self._index, self._stops = index, StopTexts(sampling.stops)
        self._vocabulary = None if sampling.top is None else Vocabulary(context.model)
        self._sampler = sampling.sampler
        if self._sampler.counts_tokens:  # over all generators of the reply
            self._sampler = msgspec.structs.replace(self._sampler, since=context.seq_len + len(context.buffer()))
        self._entries = EntryBuffer(self._stops)
        self._recent = []
        self._called = self._in_call = False
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
                    constraint, self._in_call = self._inside_call(), True
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
        may_change = waits or self._alternatives or (self._rules.make_call is not None and not self._in_call)
        if may_change or not self.counts.tokens:
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


@dataclass(frozen=True)
class Progress:
    """How far the prompt is, under llama.cpp's names: of the `total` tokens so many are `processed`, the ones found in
    the `cache` among them, `time_ms` after the request was read."""

    total: int
    cache: int
    processed: int
    time_ms: int


class Costs:
    """Counts from now on. What choices share of the prompt is counted here, and how it was reused in `shared`; each
    choice counts its own."""

    def __init__(self, prompt_tokens, page_size=1):
        self._prompt_tokens, self._page_size = prompt_tokens, page_size
        self._begun = time.perf_counter()
        self._processed = self._cached = 0
        self.choices = []
        self.shared = []

    def count_processed(self, tokens, cached):
        """Count tokens of the prompt that are computed now, or were found in the cache."""
        self._processed += tokens
        self._cached += cached

    def progress(self, *, is_over=False):
        """How far the prompt is: all of it when the first token has been drawn."""
        processed = self._prompt_tokens if is_over else self._processed
        milliseconds = (time.perf_counter() - self._begun) * 1000
        return Progress(self._prompt_tokens, self._cached_tokens(), processed, round(milliseconds))

    def figures(self):
        """The figures in an answer."""
        return {"usage": self.usage(), "timings": self.timings()}

    def kept_tokens(self):
        """Tokens of the prompt whose full pages a later request finds again."""
        return self._prompt_tokens // self._page_size * self._page_size

    def usage(self):
        completion = sum(choice.counts.tokens for choice in self.choices)
        reasoning = sum(choice.counts.reasoning_tokens for choice in self.choices)
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self._prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": self._cached_tokens()},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }

    def result(self):
        """What the process returns: the server's metrics count it, and monitors show it."""
        usage = self.usage()
        return {
            "finish_reasons": [choice.counts.finish for choice in self.choices],
            "prompt_tokens": usage["prompt_tokens"],
            "cached_tokens": self._cached_tokens(),
            "completion_tokens": usage["completion_tokens"],
            "miss": (self.cache()["miss"] or {}).get("message", ""),
        }

    def cache(self):
        """What of the prompt was found again, and why the first page that was not had to be computed."""
        reuse = reduce(add, [*self.shared, *(choice.context.reuse for choice in self.choices)])
        found = {"from_memory": reuse.from_memory, "from_disk": reuse.from_disk, "replayed": reuse.replayed}
        computed = max(0, self._prompt_tokens - self._cached_tokens() - reuse.replayed)
        miss = reuse.miss and {**msgspec.to_builtins(reuse.miss), "message": str(reuse.miss)}
        kept_seconds = round(max(choice.counts.kept_seconds for choice in self.choices), 1)
        return {**found, "computed": computed, "miss": miss, "kept_seconds": kept_seconds}

    def _cached_tokens(self):
        return self._cached + sum(choice.counts.cached for choice in self.choices)

    def timings(self):
        """Timings under llama.cpp's names: `prompt_n` are the tokens of the prompt that were computed, `cache_n` those
        found again. The time to the first token belongs to the prompt."""
        now = time.perf_counter()
        first = min(choice.counts.first_seconds or now for choice in self.choices)
        cached = self._cached_tokens()
        computed, predicted = self._prompt_tokens - cached, sum(choice.counts.tokens for choice in self.choices)
        prompt_ms, predicted_ms = (first - self._begun) * 1000, (now - first) * 1000
        return {
            "cache_n": cached,
            "prompt_n": computed,
            "prompt_ms": round(prompt_ms, 3),
            "prompt_per_token_ms": _rate(prompt_ms, computed),
            "prompt_per_second": _rate(computed * 1000, prompt_ms),
            "predicted_n": predicted,
            "predicted_ms": round(predicted_ms, 3),
            "predicted_per_token_ms": _rate(predicted_ms, predicted - len(self.choices)),
            "predicted_per_second": _rate((predicted - len(self.choices)) * 1000, predicted_ms),
            "cache": self.cache(),
        }


def _rate(amount, per):
    return round(max(amount, 0) / per, 3) if per > 0 else 0.0

"""An engine double: every call of the border over a toy language, with honest counters, pages and tokens.

It keeps what an engine keeps for one inferlet and nothing of the SDK: each message passes through its wire encoding.
"""

import asyncio
import itertools
import random
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import singledispatchmethod
from typing import Any

import msgspec

from pie_mlx import calls
from pie_mlx.errors import (
    ContextBusyError,
    ContextLengthError,
    ContextReleasedError,
    EmptyMaskError,
    InvalidArgumentError,
    ModelNotFoundError,
    OutOfPagesError,
    PageBoundsError,
    PageCommitError,
    PieError,
    SessionClosedError,
    SnapshotNotFoundError,
)
from tests.inferlet import toy_language as language
from tests.inferlet.toy_grammar import ToyMatcher, fresh_matcher


@dataclass
class ToyContext:
    """`tokens` and `positions` of all slots; the first `committed` pages are immutable, `working` pages follow."""

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    committed: int = 0
    working: int = 0
    sampled: int = 0

    def copy(self, page_size: int) -> "ToyContext":
        filled = -(-(len(self.tokens) - self.committed * page_size) // page_size)
        return replace(self, tokens=list(self.tokens), positions=list(self.positions), working=filled)


@dataclass
class ToyHost:
    """`log` has every message received; `failure` is raised once by the next pass, which then changes nothing.

    `before` and `after`, when set, hold a submitted pass before it starts and before its answer goes out.
    """

    reply: str = "hello"
    page_size: int = 16
    pages: int = 64
    maximum_positions: int = 4096
    log: list[calls.Call[Any]] = field(default_factory=list)
    failure: BaseException | None = None
    before: asyncio.Event | None = None
    after: asyncio.Event | None = None
    contexts: dict[int, ToyContext] = field(default_factory=dict)
    matchers: dict[int, ToyMatcher] = field(default_factory=dict)
    snapshots: dict[str, tuple[ToyContext, calls.PendingInput]] = field(default_factory=dict)
    bids: list[tuple[int, str, float, float]] = field(default_factory=list)
    inbox: list[str] = field(default_factory=list)
    files: list[bytes] = field(default_factory=list)
    busy: bool = False
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def call(self, message: calls.Call[Any]) -> Any:
        received = msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message))
        self.log.append(received)
        return self.answer(received)

    async def submit(self, message: calls.Call[Any]) -> Any:
        await asyncio.sleep(0)
        if self.before is not None:
            await self.before.wait()
        answer = self.call(message)
        if self.after is not None:
            await self.after.wait()
        return answer

    def post(self, message: calls.Call[Any]) -> None:
        with suppress(PieError):
            self.call(message)

    def sent(self, kind: type[calls.Call[Any]]) -> list[Any]:
        """The messages of one kind, in order."""
        return [message for message in self.log if isinstance(message, kind)]

    @singledispatchmethod
    def answer(self, message: Any) -> Any:
        raise InvalidArgumentError(f"{type(message).__name__}: unknown call")

    @property
    def walking(self) -> dict[int, ToyMatcher]:
        """The matchers that tokens are fed to; the others are there to be copied."""
        return {number: matcher for number, matcher in self.matchers.items() if number < 0}

    def counters(self, number: int) -> calls.PageCounters:
        context = self.context(number)
        working_tokens = len(context.tokens) - context.committed * self.page_size
        return calls.PageCounters(context.committed, context.working, working_tokens)

    def context(self, number: int) -> ToyContext:
        if number not in self.contexts:
            raise ContextReleasedError(f"context {number}: it was released")
        return self.contexts[number]

    def check_model(self, name: str) -> None:
        if name != "toy":
            raise ModelNotFoundError(f"model {name!r}: not loaded; there is: toy")

    @answer.register
    def _(self, message: calls.DescribeRuntime) -> calls.RuntimeInfo:
        return calls.RuntimeInfo("1.2.3", "instance", "ada", ["toy"], "process")

    @answer.register
    def _(self, message: calls.LoadModel) -> calls.ModelInfo:
        self.check_model(message.name)
        formats = calls.Formats(list(language.STOPS), list(range(language.FIRST)))
        return calls.ModelInfo("toy", language.VOCABULARY, self.page_size, self.maximum_positions, formats)

    @answer.register
    def _(self, message: calls.Encode) -> list[int]:
        return language.encode(message.text)

    @answer.register
    def _(self, message: calls.Decode) -> str:
        return language.decode(message.tokens)

    @answer.register
    def _(self, message: calls.ReadVocabulary) -> calls.Vocabulary:
        ids = range(language.FIRST if message.special_only else language.VOCABULARY)
        return calls.Vocabulary(list(ids), [language.decode([token]).encode() for token in ids])

    @answer.register
    def _(self, message: calls.ReadSplitRegex) -> str:
        return "."

    @answer.register
    def _(self, message: calls.RenderTurn) -> calls.RenderedTurn:
        return language.render(message.turn, message.state)

    @answer.register
    def _(self, message: calls.CompileGrammar) -> calls.MatcherState | None:
        if message.source.kind == "tools":
            return None
        return self._adopt(fresh_matcher(message.source, message.stop_tokens))

    @answer.register
    def _(self, message: calls.ReadMatcherMask) -> calls.Brle:
        allowed = self.matchers[message.matcher].allowed()
        runs = [(value, len(list(group))) for value, group in itertools.groupby(t in allowed for t in range(101))]
        return [length for _, length in runs] if not runs[0][0] else [0, *(length for _, length in runs)]

    @answer.register
    def _(self, message: calls.AdvanceMatcher) -> calls.MatcherState:
        self.matchers[message.matcher].feed(message.tokens)
        return self.matchers[message.matcher].state(message.matcher)

    @answer.register
    def _(self, message: calls.RollbackMatcher) -> calls.MatcherState:
        matcher = self.matchers[message.matcher]
        count = len(matcher.fed) if message.count is None else message.count
        del matcher.fed[len(matcher.fed) - count :]
        return matcher.state(message.matcher)

    @answer.register
    def _(self, message: calls.ForkMatcher) -> None:
        source = self.matchers[message.matcher]
        self.matchers[message.number] = replace(source, fed=list(source.fed))

    @answer.register
    def _(self, message: calls.ReleaseMatcher) -> None:
        self.matchers.pop(message.matcher, None)

    @answer.register
    def _(self, message: calls.CreateContext) -> calls.ContextState:
        self.check_model(message.model)
        return self._enter(ToyContext())

    @answer.register
    def _(self, message: calls.ForkContext) -> calls.ContextState:
        return self._enter(self.context(message.context).copy(self.page_size))

    @answer.register
    def _(self, message: calls.ReleaseContext) -> None:
        self.contexts.pop(message.context, None)

    @answer.register
    def _(self, message: calls.ReservePages) -> calls.PageCounters:
        if message.pages < 0:
            raise InvalidArgumentError("reserve_working_pages: negative")
        context = self.context(message.context)
        self._check_pool(context, message.pages)
        context.working += message.pages
        return self.counters(message.context)

    @answer.register
    def _(self, message: calls.CommitPages) -> calls.PageCounters:
        context = self.context(message.context)
        if message.pages > context.working:
            raise PageBoundsError("commit: more pages than there are")
        if message.pages * self.page_size > self.counters(message.context).working_tokens:
            raise PageCommitError("commit: a page is not full")
        context.committed += message.pages
        context.working -= message.pages
        return self.counters(message.context)

    @answer.register
    def _(self, message: calls.ReleasePages) -> calls.PageCounters:
        context = self.context(message.context)
        if message.pages > context.working:
            raise PageBoundsError("release: more pages than there are")
        context.working -= message.pages
        self._shorten(context, (context.committed + context.working) * self.page_size)
        return self.counters(message.context)

    @answer.register
    def _(self, message: calls.TruncateTokens) -> calls.PageCounters:
        context = self.context(message.context)
        if message.tokens > self.counters(message.context).working_tokens:
            raise PageBoundsError("truncate: more tokens than there are")
        self._shorten(context, len(context.tokens) - message.tokens)
        return self.counters(message.context)

    @answer.register
    def _(self, message: calls.SaveSnapshot) -> str:
        if len(message.name) > 256 or message.name.startswith("__snapshot_"):
            raise InvalidArgumentError(f"snapshot name {message.name[:20]!r}: not allowed")
        name = message.name or f"__snapshot_{next(self.numbers)}"
        self.snapshots[name] = (self.context(message.context).copy(self.page_size), message.pending)
        return name

    @answer.register
    def _(self, message: calls.OpenSnapshot) -> calls.OpenedSnapshot | None:
        found = self.snapshots.get(message.name)
        if found is None:
            return None
        if message.take:
            del self.snapshots[message.name]
        return calls.OpenedSnapshot(self._enter(found[0].copy(self.page_size)), found[1])

    @answer.register
    def _(self, message: calls.DeleteSnapshot) -> None:
        if self.snapshots.pop(message.name, None) is None:
            raise SnapshotNotFoundError(f"snapshot {message.name!r}: there is none")

    @answer.register
    def _(self, message: calls.Forward) -> calls.ForwardReply:
        context = self.context(message.context)
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        allowed = self._check_pass(context, message)
        if message.horizon is not None:
            self.bids.append((message.context, "auto", *message.horizon))
        self._append(context, message)
        results = [self._read(context, message, slot, allowed) for slot in message.slots]
        drafted, kept = self._verify(context, message, results, allowed)
        ended = self._advance(message, results)
        return calls.ForwardReply(results, self.counters(message.context), ended, drafted=drafted, kept=kept)

    @answer.register
    def _(self, message: calls.SetBid) -> float:
        self.bids.append((message.context, "set", message.bid, 0.0))
        return message.bid

    @answer.register
    def _(self, message: calls.Rebid) -> float:
        self.bids.append((message.context, "rebid", message.remaining_tokens, message.variation))
        return 0.25

    @answer.register
    def _(self, message: calls.CheckpointContext) -> None:
        self.context(message.context)

    @answer.register
    def _(self, message: calls.SuspendContext) -> None:
        self.context(message.context)
        if self.busy:
            raise ContextBusyError("suspend: a pass is in flight")

    @answer.register
    def _(self, message: calls.ReadMarket) -> calls.MarketReading:
        return calls.MarketReading(12.5, 0.5, 0.125, 0.25 if message.context else 0.0, 1.0)

    @answer.register
    def _(self, message: calls.SendMessage) -> None:
        return None

    @answer.register
    def _(self, message: calls.SendFile) -> None:
        return None

    @answer.register
    def _(self, message: calls.AwaitIncoming) -> None:
        if not (self.inbox if message.what == "message" else self.files):
            raise SessionClosedError("session: the client is gone")

    @answer.register
    def _(self, message: calls.ReceiveMessage) -> str | None:
        return self.inbox.pop(0) if self.inbox else None

    @answer.register
    def _(self, message: calls.ReceiveFile) -> bytes | None:
        return self.files.pop(0) if self.files else None

    def _adopt(self, matcher: ToyMatcher) -> calls.MatcherState:
        number = next(self.numbers)
        self.matchers[number] = matcher
        return matcher.state(number)

    def _enter(self, context: ToyContext) -> calls.ContextState:
        number = next(self.numbers)
        self.contexts[number] = context
        return calls.ContextState(number, self.counters(number))

    def _shorten(self, context: ToyContext, length: int) -> None:
        del context.tokens[length:]
        del context.positions[length:]

    def _check_pool(self, context: ToyContext, pages: int) -> None:
        if context.committed + context.working + pages > self.pages:
            raise OutOfPagesError("pages: the pool is too small", needed=pages, capacity=self.pages)

    def _check_pass(self, context: ToyContext, message: calls.Forward) -> set[int]:
        total = len(context.tokens) + len(message.pending) + len(message.tokens)
        if total > self.maximum_positions:
            raise ContextLengthError("pass: beyond the model's maximum")
        self._check_pool(context, max(-(-total // self.page_size) - context.committed - context.working, 0))
        if any(not 0 <= slot.index < len(message.tokens) for slot in message.slots):
            raise InvalidArgumentError("slot: index outside the pass's input")
        if message.attention_masks is not None and len(message.attention_masks) != len(message.tokens):
            raise InvalidArgumentError("attention mask: one row per input")
        allowed = _allowed(message.logit_mask)
        for matcher in message.matchers:
            allowed &= self.matchers[matcher].allowed()
        if message.slots and not allowed:
            raise EmptyMaskError("no token is allowed")
        return allowed

    def _append(self, context: ToyContext, message: calls.Forward) -> None:
        tokens = message.pending + message.tokens
        slots = list(range(len(context.tokens), len(context.tokens) + len(tokens)))
        if message.positions is not None:
            slots[len(message.pending) :] = message.positions
        context.tokens += tokens
        context.positions += slots
        working_tokens = len(context.tokens) - context.committed * self.page_size
        context.working = max(context.working, -(-working_tokens // self.page_size))
        full = working_tokens // self.page_size if message.commit else 0
        context.committed += full
        context.working -= full

    def _read(
        self, context: ToyContext, message: calls.Forward, slot: calls.Slot, allowed: set[int]
    ) -> calls.AnyResult:
        own = len(context.tokens) - len(message.tokens) + slot.index
        visible = range(own + 1)
        if message.attention_masks is not None:
            attended = _allowed(message.attention_masks[slot.index])
            visible = [place for place in visible if place in attended]
        seen = [context.tokens[place] for place in visible]
        seed = slot.read.seed if isinstance(slot.read, calls.Sampler) else None
        stream = random.Random(f"{seed if seed is not None else message.context}:{context.sampled}")
        context.sampled += isinstance(slot.read, calls.Sampler)
        row = language.logits(language.next_token(seen, self.reply))
        return language.read_slot(row, allowed, slot.read, stream)

    def _verify(
        self, context: ToyContext, message: calls.Forward, results: list[calls.AnyResult], allowed: set[int]
    ) -> tuple[int, int]:
        """Drafts that were looked at, and those that are in KV: a chain, with one sampler in slot 0."""
        if message.speculation is None or not message.speculation.drafts:
            return 0, 0
        drafts = message.speculation.drafts[: message.speculation.limit]
        first = results[0]
        assert isinstance(first, calls.SampledTokens)
        text, produced = list(context.tokens), list(first.tokens)
        for draft in drafts:
            if draft != produced[-1]:
                break
            text.append(draft)
            row = language.logits(language.next_token(text, self.reply))
            value = language.read_slot(row, allowed, message.slots[0].read, random.Random(0))
            assert isinstance(value, calls.SampledTokens)
            produced += value.tokens
        stops = (place for place, token in enumerate(produced[:-1]) if token in message.speculation.stop_tokens)
        kept = next(stops, len(produced) - 1)
        self._append(context, calls.Forward(message.context, produced[:kept]))
        results[0] = calls.SampledTokens(produced)
        return len(drafts), kept

    def _advance(self, message: calls.Forward, results: list[calls.AnyResult]) -> bool:
        if message.advance_slot is None:
            return False
        drawn = results[message.advance_slot]
        tokens = drawn.tokens if isinstance(drawn, calls.SampledTokens) else []
        for matcher in message.matchers:
            self.matchers[matcher].feed(tokens)
        return any(self.matchers[matcher].state(matcher).terminated for matcher in message.matchers)


def _allowed(mask: calls.Brle) -> set[int]:
    if not mask:
        return set(range(language.VOCABULARY))
    ends = list(itertools.accumulate(mask))
    runs = [(ends[place] - mask[place], ends[place]) for place in range(1, len(mask), 2)]
    return {token for start, end in runs for token in range(start, end)}

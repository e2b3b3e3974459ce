"""Gives an engine the state that the calls of a recording had made: contexts, grammars, adapters, subscriptions."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from pie_mlx import calls
from pie_mlx.calls import Call, Host
from pie_mlx.errors import GrammarError, InvalidArgumentError, SnapshotNotFoundError
from pie_mlx.runtime.replay.handles import Handles
from pie_mlx.runtime.replay.streams import LOOKUPS
from pie_mlx.runtime.replay.tape import Exchange

_PIECE = 4096
"""The most known tokens in one pass."""

Made = Sequence[tuple[Call[Any], Exchange]]
"""Calls as the program made them, with what was recorded of each, in their order."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was rebuilt: open contexts, by the program's numbers, and the tokens that were computed for them."""

    contexts: frozenset[int]
    tokens: int


def rebuild(made: Made, engine: Host, handles: Handles) -> Rebuilt:
    """Make those calls again whose effect lasts. Nothing is sampled: what was drawn is known, and computed like a
    prompt.

    Raises InvalidArgumentError if the engine is not like the recorded one, and the PieErrors of the engine.
    """
    return _Rebuilding(made, engine, handles).run()


class _Rebuilding:
    def __init__(self, made: Made, engine: Host, handles: Handles) -> None:
        self._made, self._engine, self._handles = made, engine, handles
        self._open, self._wanted = _contexts(made)
        self._known: dict[int, list[int]] = {}
        """Tokens that a context reads in its next pass."""
        self._counters: dict[int, calls.PageCounters] = {}
        self._recorded: dict[int, calls.PageCounters] = {}
        self._computed = 0

    def run(self) -> Rebuilt:
        for message, exchange in self._made:
            if isinstance(message, LOOKUPS) and not isinstance(message, calls.LoadModel):
                continue
            if exchange.error is None and exchange.answered_ns is not None:
                self._repeat(message, exchange.value())
        for context in list(self._known):
            self._compute(context)
        for context in self._wanted - self._open:
            self._engine.post(calls.ReleaseContext(self._handles.of("context", context)))
            self._handles.released("context", context)
        for context in self._open:
            if self._counters.get(context) != self._recorded.get(context):
                raise _unlike(f"context {context}", self._recorded.get(context), self._counters.get(context))
        return Rebuilt(frozenset(self._open), self._computed)

    def _repeat(self, message: Call[Any], reply: Any) -> None:
        match message:
            case calls.LoadModel():
                if (found := self._engine.call(message)) != reply:
                    raise _unlike("model", reply, found)
            case calls.CreateContext():
                self._make_context(message, reply)
            case calls.OpenSnapshot():
                if reply is not None:
                    self._make_context(message, reply.state)
            case calls.ForkContext(context=source):
                if reply.context in self._wanted:
                    self._compute(source)
                    self._make_context(message, reply)
            case calls.Forward():
                self._forward(message, reply)
            case calls.SaveSnapshot(context=context):
                self._compute(context)
                self._again(replace(message, name=reply, persist=False))
            case calls.DeleteSnapshot():
                with contextlib.suppress(SnapshotNotFoundError):  # of an earlier run
                    self._engine.call(message)
            case calls.SetBid(context=context) if context in self._wanted:
                self._engine.post(self._handles.to_engine(message))
            case calls.ReservePages() | calls.CommitPages() | calls.ReleasePages() | calls.TruncateTokens():
                self._change_pages(message.context, message, reply)
            case _:
                self._repeat_other(message, reply)

    def _repeat_other(self, message: Call[Any], reply: Any) -> None:
        handles = self._handles
        match message:
            case calls.CompileGrammar():
                if reply is not None and (state := self._engine.call(message)) is not None:
                    handles.made("matcher", reply.matcher, state.matcher)
            case calls.AdvanceMatcher() | calls.RollbackMatcher() | calls.ForkMatcher() | calls.ReleaseMatcher():
                self._again(message)
            case calls.LoadAdapter() | calls.DestroyAdapter() | calls.InitializeEvolution() | calls.UpdateEvolution():
                self._again(message)
            case calls.CreateAdapter() | calls.OpenAdapter() | calls.ForkAdapter():
                if reply is None:
                    return
                if (adapter := self._again(message)) is None:
                    raise InvalidArgumentError(
                        f"going on live: there is no adapter {reply.name!r} any more", hint="load it in the program"
                    )
                handles.made("adapter", reply.adapter, adapter.adapter)
            case calls.DestroyAdapter() | calls.LoadAdapter() | calls.InitializeEvolution() | calls.UpdateEvolution():
                self._again(message)
            case calls.Subscribe():
                handles.made("subscription", reply, self._again(message))
            case calls.Unsubscribe():
                self._again(message)
            case _:
                pass

    def _again(self, message: Call[Any]) -> Any:
        return self._engine.call(self._handles.to_engine(message))

    def _make_context(self, message: Call[Any], recorded: calls.ContextState) -> None:
        if recorded.context not in self._wanted:
            return
        made = self._again(message)
        if isinstance(made, calls.OpenedSnapshot):
            made = made.state
        if made is None:
            raise SnapshotNotFoundError(
                "going on live: a context of the recording was opened from a snapshot of an earlier run, which this "
                "engine does not have",
                hint="save that snapshot with persist=True, or record a run that makes it",
            )
        self._handles.made("context", recorded.context, made.context)
        self._counters[recorded.context], self._recorded[recorded.context] = made.counters, recorded.counters

    def _change_pages(self, context: int, message: Call[Any], recorded: Any) -> None:
        if context in self._wanted:
            self._compute(context)
            self._counters[context], self._recorded[context] = self._again(message), recorded

    def _forward(self, message: calls.Forward, reply: calls.ForwardReply) -> None:
        drawn = [token for one in reply.results if isinstance(one, calls.SampledTokens) for token in one.tokens]
        if message.advance_slot is not None:
            self._advance(message, reply.results[message.advance_slot])
        self._compute_again(message, reply.counters, drawn[: reply.kept])
        for one, counters in zip(message.others, reply.others, strict=True):
            own = calls.Forward(one.context, one.tokens, adapter=one.adapter, zo_seed=one.zo_seed)
            self._compute_again(own, counters, drawn[: reply.kept])

    def _compute_again(self, message: calls.Forward, recorded: calls.PageCounters, kept: list[int]) -> None:
        """What one context computed in a pass, and then the tokens that it `kept` of those drawn."""
        context = message.context
        if context not in self._wanted:
            return
        self._recorded[context] = recorded
        known = self._known.setdefault(context, [])
        if _is_plain(message):
            known += [*message.pending, *message.tokens, *kept]
            return
        self._compute(context)
        self._pass(
            replace(
                message,
                slots=[],
                logit_mask=[],
                matchers=[],
                advance_slot=None,
                horizon=None,
                speculation=None,
                continuation=None,
                others=[],
            )
        )
        if kept:
            self._pass(
                calls.Forward(
                    context,
                    kept,
                    reserve=message.reserve,
                    commit=message.commit,
                    adapter=message.adapter,
                    zo_seed=message.zo_seed,
                )
            )

    def _advance(self, message: calls.Forward, drawn: calls.AnyResult) -> None:
        """Feed what was drawn to the grammars of a pass, which stop where they have ended."""
        if not isinstance(drawn, calls.SampledTokens):
            return
        for matcher in message.matchers:
            number = self._handles.of("matcher", matcher)
            for token in drawn.tokens:
                try:
                    state = self._engine.call(calls.AdvanceMatcher(number, [token]))
                except GrammarError:  # the pass went on after its stop token
                    break
                if state.terminated:
                    break

    def _compute(self, context: int) -> None:
        tokens = self._known.pop(context, [])
        for start in range(0, len(tokens), _PIECE):
            self._pass(calls.Forward(context, pending=tokens[start : start + _PIECE]))

    def _pass(self, message: calls.Forward) -> None:
        reply = self._again(message)
        self._counters[message.context] = reply.counters
        self._computed += len(message.pending) + len(message.tokens)


def _is_plain(message: calls.Forward) -> bool:
    """Whether its tokens may be computed together with those of other passes."""
    given = message.positions is not None or message.attention_masks is not None
    return message.reserve and message.commit and not (given or message.adapter or message.zo_seed)


def _contexts(made: Made) -> tuple[set[int], set[int]]:
    """The contexts that are open in the end, and those that are needed to make them again, and the snapshots."""
    opened, wanted, released = set[int](), set[int](), set[int]()
    for message, exchange in reversed(made):
        if exchange.error is not None or exchange.answered_ns is None:
            continue
        match message:
            case calls.ReleaseContext(context=context):
                released.add(context)
            case calls.SaveSnapshot(context=context):
                wanted.add(context)
            case calls.CreateContext() | calls.OpenSnapshot() | calls.ForkContext():
                reply = exchange.value()
                if reply is None:
                    continue
                number = reply.state.context if isinstance(reply, calls.OpenedSnapshot) else reply.context
                if number not in released:
                    opened.add(number)
                    wanted.add(number)
                if isinstance(message, calls.ForkContext) and number in wanted:
                    wanted.add(message.context)
            case _:
                pass
    return opened, wanted


def _unlike(what: str, recorded: object, found: object) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"going on live: this engine's {what} is not as recorded: {found}, recorded: {recorded}",
        hint="start it with the recorded model and settings (--model, --config)",
    )

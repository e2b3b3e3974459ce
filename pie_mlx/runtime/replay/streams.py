"""Which calls are compared with which, and what of them.

A call that names a context, a child, a subscription, an adapter, a topic or the client belongs to the *stream* of that
handle: the calls of a stream agree in their order. Other calls that change something (a new context, a tool call, a
launch) agree with any recorded one of the same content, the earliest first, so that concurrent tasks may take turns in
another order. Calls that only look something up agree with any of the same content, any number of times. Calls that
only advise or give back (bids, hints, releases) always agree: they change no result.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from pie_mlx import calls
from pie_mlx.calls import Call

LOOKUPS = (
    calls.Encode,
    calls.Decode,
    calls.RenderTurn,
    calls.ParseToolCall,
    calls.LoadModel,
    calls.DescribeModels,
    calls.DescribeRuntime,
    calls.ReadVocabulary,
    calls.ReadSplitRegex,
    calls.ListMcpServers,
    calls.ConnectMcp,
)
ADVICE: Mapping[type[Call[Any]], object] = {
    calls.ReleaseContext: None,
    calls.ReleaseMatcher: None,
    calls.ForkMatcher: None,
    calls.SetBid: 0.0,
    calls.Rebid: 0.0,
    calls.SuspendContext: None,
    calls.RetainContext: 0.0,
    calls.ExpectContext: None,
    calls.DemoteContext: None,
    calls.PrefetchContext: False,
    calls.CheckpointContext: None,
    calls.Unsubscribe: None,
    calls.LeaveTopic: None,
    calls.ForgetChild: None,
}
"""Calls that always agree, with the reply to one that was not recorded."""

Stream = tuple[str, int | str]


def stream_of(message: Call[Any]) -> Stream | None:
    """The handle whose calls keep their order; None for a call that agrees with any of its content."""
    match message:
        case calls.SendMessage() | calls.SendFile() | calls.BeginHttpAnswer() | calls.WriteHttpBody():
            return ("client", "")
        case calls.AwaitIncoming(what=what):
            return ("inbox", what)
        case calls.ReceiveMessage():
            return ("inbox", "message")
        case calls.ReceiveFile():
            return ("inbox", "file")
        case calls.AwaitMessage(topic=topic) | calls.TakeMessage(topic=topic):
            return ("queue", topic)
        case calls.Broadcast(topic=topic) | calls.Push(topic=topic):
            return ("topic", topic)
        case _:
            pass
    for name in ("context", "child", "subscription", "adapter"):
        handle = getattr(message, name, None)
        if handle is not None and not (name == "adapter" and isinstance(message, calls.Forward)):
            return (name, handle)
    return None


class Grammars:
    """Which grammar a matcher follows: matchers are compared by it, not by their numbers."""

    def __init__(self) -> None:
        self._sources: dict[int, bytes] = {}

    def compiled(self, message: calls.CompileGrammar, matcher: int) -> None:
        self._sources[matcher] = _encode(message)

    def forked(self, message: calls.ForkMatcher) -> None:
        self._sources[message.number] = self.source(message.matcher)

    def source(self, matcher: int) -> bytes:
        return self._sources.get(matcher, b"")


def content(message: Call[Any], grammars: Grammars) -> bytes:
    """What of a call must agree: all but its handle, and what only advises."""
    match message:
        case calls.Forward():
            continuation = message.continuation
            if continuation is not None:
                continuation = msgspec.structs.replace(continuation, prospect=None)
            plain = msgspec.structs.replace(message, context=0, matchers=[], horizon=None, continuation=continuation)
            return b"".join([_encode(plain), *map(grammars.source, message.matchers)])
        case calls.AdvanceMatcher(matcher=matcher) | calls.ReadMatcherMask(matcher=matcher):
            return _encode(msgspec.structs.replace(message, matcher=0)) + grammars.source(matcher)
        case calls.RollbackMatcher(matcher=matcher):
            return _encode(msgspec.structs.replace(message, matcher=0)) + grammars.source(matcher)
        case calls.CallMcp(params=params):
            return _encode(msgspec.structs.replace(message, params=_canonical(params)))
        case calls.LaunchChild(input=text):
            return _encode(msgspec.structs.replace(message, input=_canonical(text)))
        case calls.SendMessage(text=text, format="json"):
            return _encode(msgspec.structs.replace(message, text=_canonical(text)))
        case calls.AwaitMessage() | calls.TakeMessage():
            return _encode(msgspec.structs.replace(message, ticket=0))
        case calls.AwaitChild() | calls.CancelChild():
            return _encode(msgspec.structs.replace(message, child=""))
        case _:
            stream = stream_of(message)
            handle = (
                {stream[0]: 0} if stream is not None and stream[0] in ("context", "subscription", "adapter") else {}
            )
            return _encode(msgspec.structs.replace(message, **handle))


_encode = msgspec.msgpack.Encoder().encode


def _canonical(text: str) -> str:
    """JSON whose keys are in order."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text

"""The contexts of a trace: who was forked from whom, the tokens of each, and what it cost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp

from pie_mlx.events import (
    ContextCreated,
    ContextForked,
    EngineStarted,
    Event,
    MarketSettled,
    PagesCounted,
    PassCompleted,
    ProcessLaunched,
    TokensComputed,
)


@dataclass(slots=True)
class ShownToken:
    """A token. `is_drawn`: the model drew it; `probability` and `likely` are there if the program asked for them."""

    id: int
    piece: bytes
    is_drawn: bool = False
    probability: float | None = None
    likely: Sequence[tuple[bytes, float]] = ()


@dataclass(slots=True)
class Conversation:
    """A context. `first` is the slot of its first own token; those before are those of what it was forked from."""

    context: int
    process: str
    source: int = 0
    account: int = 0
    first: int | None = None
    tokens: list[ShownToken] = field(default_factory=list[ShownToken])
    passes: int = 0
    computed: int = 0
    cached: int = 0
    pages: int = 0
    shared_pages: int = 0
    children: list["Conversation"] = field(default_factory=list["Conversation"])

    def take(self, event: TokensComputed) -> None:
        """The tokens of a pass, which replace those from its first slot on."""
        if self.first is None or event.held_tokens < self.first:
            self.first = event.held_tokens
        place = event.held_tokens - self.first
        known, self.tokens = self.tokens[place:], self.tokens[:place]
        self.tokens += [_told(token, piece, known, at) for at, (token, piece) in enumerate(_pairs(event))]
        self.tokens += _drawn(event)


@dataclass(slots=True)
class Account:
    """What a program and its children paid, in credits."""

    rent: float = 0.0
    make_cost: float = 0.0
    dividend: float = 0.0


@dataclass(frozen=True, slots=True)
class Conversations:
    """Contexts that were not forked, by process, in the order of their creation; forks are their children."""

    roots: Mapping[str, Sequence[Conversation]]
    programs: Mapping[str, str]
    accounts: Mapping[int, Account]

    @property
    def has_tokens(self) -> bool:
        return any(each.tokens for each in walked(one for roots in self.roots.values() for one in roots))


def walked(roots: Iterable[Conversation]) -> Iterable[Conversation]:
    """The contexts and all their forks."""
    waiting = list(roots)
    for each in waiting:
        waiting += each.children
    return waiting


def conversations(events: Iterable[Event]) -> Conversations:
    """The contexts of events in their order."""
    known, programs, accounts = dict[int, Conversation](), dict[str, str](), defaultdict[int, Account](Account)
    roots = defaultdict[str, list[Conversation]](list)
    page_size = 1
    for event in events:
        match event:
            case EngineStarted(page_size=page_size):
                pass
            case ProcessLaunched(process=process, program=program):
                programs[process] = program
            case ContextCreated(process=process, context=context, account=account):
                known[context] = Conversation(context, process, account=account)
                roots[process].append(known[context])
            case ContextForked(process=process, context=context, source=source, account=account):
                known[context] = Conversation(context, process, source, account, shared_pages=event.shared_pages)
                place = known[source].children if source in known else roots[process]
                place.append(known[context])
            case TokensComputed(context=context) if context in known:
                known[context].take(event)
            case PassCompleted(context=context) if context in known:
                _count(known[context], event, page_size)
            case PagesCounted(contexts=contexts):
                for counted in contexts:
                    if counted.context in known:
                        one = known[counted.context]
                        one.pages = max(one.pages, counted.own + counted.shared)
                        one.shared_pages = max(one.shared_pages, counted.shared)
            case MarketSettled(movements=movements):
                for moved in movements:
                    account = accounts[moved.account]
                    account.rent += moved.rent
                    account.make_cost += moved.make_cost
                    account.dividend += moved.dividend
            case _:
                pass
    return Conversations(roots, programs, accounts)


def _count(conversation: Conversation, event: PassCompleted, page_size: int) -> None:
    tokens = event.held_tokens + event.attached_tokens + event.computed_tokens
    conversation.pages = max(conversation.pages, -(-tokens // page_size))
    conversation.passes += 1 + event.following
    conversation.computed += event.computed_tokens
    conversation.cached += event.attached_tokens


def _pairs(event: TokensComputed) -> Iterable[tuple[int, bytes]]:
    return zip(event.inputs, event.pieces[: len(event.inputs)], strict=False)


def _told(token: int, piece: bytes, known: Sequence[ShownToken], at: int) -> ShownToken:
    """An input; one that was drawn before stays that."""
    if at < len(known) and known[at].id == token and known[at].is_drawn:
        return known[at]
    return ShownToken(token, piece)


def _drawn(event: TokensComputed) -> Iterable[ShownToken]:
    likely = [(piece, share) for piece, (_, share) in zip(event.likely_pieces, event.likely, strict=False)]
    shares = dict(event.likely)
    for at, (token, piece) in enumerate(zip(event.drawn, event.pieces[len(event.inputs) :], strict=False)):
        probability = exp(event.logprobs[at]) if at < len(event.logprobs) else None
        if probability is None and at == 0:
            probability = shares.get(token)
        yield ShownToken(token, piece, True, probability, likely if at == 0 else ())

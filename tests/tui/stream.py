"""Events for the model's tests."""

from pie_mlx.events import (
    AccountJoined,
    AccountMovement,
    ContextCreated,
    ContextForked,
    ContextPages,
    EngineStarted,
    Event,
    MarketSettled,
    PagesCounted,
    PageUsage,
    PassCompleted,
    ProcessLaunched,
    ProcessPages,
    TickCompleted,
)
from pie_mlx.tui.model import INITIAL, MonitorState, Record, fold

STARTED = EngineStarted("pie-tiny", "market", 64, 16)
LAUNCHED = ProcessLaunched("p", "ada", "chat@1.0.0")
CREATED = ContextCreated("p", 1, account=4)
FORKED = ContextForked("p", 2, 1, shared_pages=2, account=4)


def computed(
    context: int = 1, held: int = 0, tokens: int = 40, *, attached: int = 0, took: float = 0.1, bid: float = 0.5
) -> PassCompleted:
    return PassCompleted("p", context, attached, tokens, 1, held, 100.0 - took, 100.0, bid)


def tick(number: int = 1, tokens: int = 40, used: int = 3) -> TickCompleted:
    return TickCompleted(number, 1, tokens, 0, 0.02, used_pages=used)


def counted(*contexts: tuple[int, int, int], used: int = 3, own: int = 3, shared: int = 0) -> PagesCounted:
    """`contexts` are numbers with their own and shared pages, of which there are two holders."""
    pages = tuple(ContextPages(number, mine, theirs, mine + theirs / 2) for number, mine, theirs in contexts)
    return PagesCounted(PageUsage(64, used, 0, 1), (ProcessPages("p", own, shared),), pages)


def settled(price: float, balance: float) -> MarketSettled:
    return MarketSettled(1, price, (AccountMovement(4, 0.5, 0.0, 0.1, balance),))


def after(*events: Event, step: float = 1.0) -> MonitorState:
    """The state after events that came `step` seconds apart, the first at 10."""
    return fold(INITIAL, [Record(10.0 + step * n, event) for n, event in enumerate(events)])


RUNNING = (STARTED, LAUNCHED, AccountJoined(4, 64.0), CREATED, computed(), tick())

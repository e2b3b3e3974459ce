"""A simulated engine: random programs contend for pages, and real events report it."""

import json
import random
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from pie_mlx.events import (
    AccountJoined,
    AccountLeft,
    AccountMovement,
    BidDeclared,
    ContextCreated,
    ContextForked,
    ContextPages,
    ContextReleased,
    ContextRestored,
    ContextSuspended,
    EngineStarted,
    Event,
    MarketSettled,
    McpCalled,
    McpServerStarted,
    McpServerStopped,
    McpTool,
    McpToolsListed,
    PagesCounted,
    PageUsage,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessPages,
    ProcessReturned,
    PromptProgressed,
    TickCompleted,
    WaitChanged,
)
from pie_mlx.tui.source.drawn import drawn_tokens
from pie_mlx.tui.source.script import MISSES, PROMPTS, ROLES, TOOL_DESCRIPTIONS, TOOLS, USERS, Role, sentence

PAGE_SIZE = 16
CHUNK_TOKENS = 256
BATCH_CONTEXTS = 64
TICK_SECONDS = 0.1
ENDOWMENT = 64.0


@dataclass(slots=True)
class Context:
    """`target` is its number of tokens at the end of its turn; `read` of them are in its pass."""

    id: int
    bid: float
    tokens: int = 0
    shared_pages: int = 0
    target: int = 0
    resident: bool = True
    waits: bool = False
    reads: bool = True
    read: int = 0

    def own_pages(self, more: int = 0) -> int:
        return -(-(self.tokens + more) // PAGE_SIZE) - self.shared_pages

    def counted(self, shared: int, holders: int) -> ContextPages:
        """Its pages, of which `shared` are held by `holders` contexts."""
        if not self.resident:
            return ContextPages(self.id, 0, 0, 0.0)
        own = self.own_pages() + self.shared_pages - shared
        return ContextPages(self.id, own, shared, own + shared / holders)

    def next_tokens(self) -> int:
        left = self.target - self.tokens
        return min(left, CHUNK_TOKENS) if self.reads else min(left, 1)


@dataclass(slots=True)
class Program:
    """`until` is the tick in which it continues after a pause of its own."""

    id: str
    role: Role
    account: int
    balance: float = ENDOWMENT
    contexts: list[Context] = field(default_factory=list[Context])
    turns: int = 0
    until: int = 0
    asked_bid: float | None = None
    suspended_until: int = 0

    def pages(self) -> int:
        """Distinct pages in the pool."""
        return round(sum(pages.effective for pages in self.counted()))

    def counted(self) -> list[ContextPages]:
        """The pages of its contexts. Forks share the beginning of the first one."""
        shared = self.contexts[-1].shared_pages if self.contexts else 0
        holders = sum(context.resident for context in self.contexts)
        return [context.counted(shared, holders) for context in self.contexts]


class ScriptedEngine:
    """`tick` returns the events of one tick. The same seed and the same calls give the same events."""

    def __init__(self, programs: int = 14, pages: int = 320, seed: int = 7) -> None:
        self._draw = random.Random(seed)
        self._wanted, self._pages = programs, pages
        self.programs: dict[str, Program] = {}
        self._tick = self._numbers = self._accounts = 0
        self._price = self._treasury = 0.0
        self._listed: set[str] = set()
        self.watched = ""
        self._events: list[Event] = []

    def start(self) -> list[Event]:
        """The first events."""
        return [
            EngineStarted("pie-tiny", "market", self._pages, PAGE_SIZE),
            McpServerStarted("files", "stdio", 1),
            McpServerStarted("calendar", "http", 1),
            McpServerStarted("search", "stdio", 3),
            McpServerStopped("search", "it ended with code 1 three times in a minute", ("SEARCH_API_KEY is not set",)),
        ]

    def tick(self) -> list[Event]:
        """The events of one tick."""
        self._tick += 1
        self._events = []
        if len(self.programs) < self._wanted and (self._tick % 4 == 1 or self._wanted > 50):
            self._launch()
        for program in list(self.programs.values()):
            self._go_on(program)
        ran = self._run(self._placed())
        self._settle(ran)
        return self._events

    def kill(self, process: str) -> list[Event]:
        """End a program; no effect on one that is over."""
        self._events = []
        if program := self.programs.get(process):
            self._end(program, ProcessFailed(process, "ProcessCancelledError", "Signal"))
        return self._events

    def suspend(self, process: str) -> list[Event]:
        """Take the pages of a program for a while."""
        self._events = []
        if program := self.programs.get(process):
            program.suspended_until = self._tick + 40
            for context in program.contexts:
                self._suspend(context, context.id, "requested", "suspended: by its user")
        return self._events

    def set_bid(self, process: str, bid: float) -> list[Event]:
        """Bid for all contexts of a program."""
        program = self.programs.get(process)
        if program is None:
            return []
        program.asked_bid = bid
        for context in program.contexts:
            context.bid = bid
        return [BidDeclared(context.id, bid) for context in program.contexts]

    def send(self, process: str, text: str) -> list[Event]:
        """Send a message, which the program answers at once."""
        return [ProcessMessage(process, f"You said: {text}\n")] if process in self.programs else []

    def launch(self, program: str) -> list[Event]:
        """Start a program of the demo by its name."""
        self._events = []
        role = next((role for role in ROLES if role.program.partition("@")[0] == program.partition("@")[0]), ROLES[0])
        self._begin(role, "local")
        return self._events

    # Life.

    def _launch(self) -> None:
        for _ in range(1 + self._wanted // 50):
            self._begin(self._draw.choice(ROLES), self._draw.choice(USERS))

    def _begin(self, role: Role, user: str) -> None:
        self._accounts += 1
        name = str(uuid.UUID(int=self._draw.getrandbits(128), version=4))
        program = self.programs[name] = Program(name, role, self._accounts)
        given = json.dumps({"prompt": PROMPTS[self._accounts % len(PROMPTS)], "max_tokens": role.answer})
        launched = ProcessLaunched(name, user, role.program, input=given)
        self._events += [launched, AccountJoined(self._accounts, ENDOWMENT)]
        self._open(program)

    def _open(self, program: Program) -> None:
        first = self._new_context(program)
        first.target = round(program.role.prompt * self._draw.uniform(0.6, 1.4))
        self._events.append(ContextCreated(program.id, first.id, account=program.account))

    def _new_context(self, program: Program) -> Context:
        self._numbers += 1
        bid = program.role.bid * self._draw.uniform(0.6, 1.4) if program.asked_bid is None else program.asked_bid
        context = Context(self._numbers, bid)
        program.contexts.append(context)
        return context

    def _go_on(self, program: Program) -> None:
        """Next turn, next fork, or the end, once all its contexts are done with theirs."""
        if any(context.tokens < context.target for context in program.contexts) or self._tick < program.until:
            return
        first = program.contexts[0]
        if len(program.contexts) < program.role.forks:
            self._fork(program, first)
        elif program.turns < program.role.turns:
            self._take_turn(program)
        else:
            self._end(program, ProcessReturned(program.id, f"{program.turns} turns", "text"))

    def _fork(self, program: Program, first: Context) -> None:
        shared = first.tokens // PAGE_SIZE
        for _ in range(program.role.forks - 1):
            fork = self._new_context(program)
            fork.tokens = fork.target = shared * PAGE_SIZE
            fork.shared_pages, fork.reads = shared, False
            self._events.append(ContextForked(program.id, fork.id, first.id, shared, program.account))

    def _take_turn(self, program: Program) -> None:
        program.turns += 1
        if program.turns > 1:
            self._events.append(ProcessOutput(program.id, "stdout", f"turn {program.turns} of {program.role.turns}\n"))
        if program.role.fails and program.turns == program.role.turns:
            self._events.append(ProcessOutput(program.id, "stderr", "KeyError: 'itinerary'\n"))
            self._end(program, ProcessFailed(program.id, "KeyError", "'itinerary'"))
            return
        for context in program.contexts:
            context.reads = False
            context.target = context.tokens + round(program.role.answer * self._draw.uniform(0.5, 1.3))
        program.until = self._tick + program.role.pause
        if program.role.tools and program.turns > 1:
            self._call_tool(program)

    def _call_tool(self, program: Program) -> None:
        server, tool = self._draw.choice(TOOLS)
        if server not in self._listed:
            self._list_tools(program, server)
        error = "file not found" if self._draw.random() < 0.1 else ""
        took = program.role.pause * TICK_SECONDS * self._draw.uniform(0.3, 0.9)
        self._events.append(McpCalled(program.id, server, "tools/call", took, error, tool))

    def _list_tools(self, program: Program, server: str) -> None:
        self._listed.add(server)
        names = [name for place, name in TOOLS if place == server]
        tools = tuple(McpTool(name, TOOL_DESCRIPTIONS[name]) for name in names)
        self._events += [McpCalled(program.id, server, "tools/list", 0.004), McpToolsListed(program.id, server, tools)]

    def _end(self, program: Program, event: Event) -> None:
        del self.programs[program.id]
        self._events += [ContextReleased(program.id, context.id) for context in program.contexts]
        self._treasury += program.balance - ENDOWMENT
        self._events += [AccountLeft(program.account, program.balance, self._treasury), event]

    # Pages.

    def _placed(self) -> list[tuple[Program, Context]]:
        """Fill the pool: highest bids first, as many as fit. The price is the first bid left out."""
        bids = [(program, context) for program in self.programs.values() for context in program.contexts]
        bids.sort(key=lambda pair: -pair[1].bid)
        left, self._price, placed = self._pages, 0.0, list[tuple[Program, Context]]()
        for program, context in bids:
            pages = context.own_pages(context.next_tokens())
            if pages <= left and self._tick >= program.suspended_until:
                left -= pages
                placed.append((program, context))
            else:
                self._price = self._price or context.bid
                self._leave_out(program, context, placed[-1][1] if placed else context, pages)
        for _, context in placed:
            self._let_in(context)
        return placed

    def _leave_out(self, program: Program, context: Context, winner: Context, pages: int) -> None:
        cause = f"bid {context.bid:.2f} < clearing price {self._price:.2f}, needs {pages} pages"
        if context.bid >= self._price:
            cause = f"needs {pages} pages, {max(0, self._pages - self._held())} available and no context has to yield"
        if context.resident and context.tokens:
            self._suspend(context, winner.id, "outbid", f"suspended: {cause}")
        elif not context.waits and self._tick >= program.suspended_until:
            context.waits = True
            self._events.append(WaitChanged(context.id, "outbid", f"waiting: {cause}"))

    def _suspend(self, context: Context, winner: int, reason: str, text: str) -> None:
        if context.resident:
            context.resident = False
            self._events.append(ContextSuspended(context.id, winner, reason, text))

    def _let_in(self, context: Context) -> None:
        if not context.resident:
            context.resident = True
            self._events.append(ContextRestored(context.id, attached_pages=context.shared_pages))
        if context.waits:
            context.waits = False
            self._events.append(WaitChanged(context.id))

    def _held(self) -> int:
        return sum(context.own_pages() for context in self._contexts() if context.resident)

    def _contexts(self) -> Iterable[Context]:
        return (context for program in self.programs.values() for context in program.contexts)

    # Work.

    def _run(self, placed: list[tuple[Program, Context]]) -> list[tuple[Program, Context]]:
        ran: list[tuple[Program, Context]] = []
        tokens = 0
        ready = [pair for pair in placed if pair[1].next_tokens() > 0 and self._tick >= pair[0].until]
        first = self._tick * BATCH_CONTEXTS % len(ready) if len(ready) > BATCH_CONTEXTS else 0
        for program, context in (ready + ready)[first : first + min(BATCH_CONTEXTS, len(ready))]:
            more = context.next_tokens()
            tokens += more
            self._pass(program, context, more)
            ran.append((program, context))
        self._tell_pages(ran, tokens, len(placed))
        return ran

    def _pass(self, program: Program, context: Context, more: int) -> None:
        now = self._tick * TICK_SECONDS
        took = TICK_SECONDS * self._draw.uniform(0.4, 0.9)
        context.tokens += more
        context.read += more
        if context.reads and context.tokens < context.target:
            self._events.append(PromptProgressed(context.id, context.tokens, context.target))
            return
        self._events.append(self._passed(program, context, now - took, now))
        context.read = 0
        if program.id == self.watched and not context.reads:
            self._events.append(drawn_tokens(program.id, context.id, context.tokens))
        if not context.reads and self._draw.random() < 0.12:
            self._events.append(ProcessMessage(program.id, sentence(self._draw)))

    def _passed(self, program: Program, context: Context, began: float, now: float) -> PassCompleted:
        """A pass that ends now: part of its prompt was cached, or some of its drafts were right."""
        kind = context.id % len(MISSES)
        attached = min(context.read - 1, 32 * kind) if context.reads else 0
        guessed = 2 if program.role.tools and not context.reads else 0
        return PassCompleted(
            program.id,
            context.id,
            attached,
            context.read - attached,
            1,
            context.tokens - context.read,
            began - TICK_SECONDS * ((context.read - 1) // CHUNK_TOKENS),
            now,
            context.bid,
            guessed_tokens=guessed,
            guessed_right=self._tick % 2 if guessed else 0,
            started_seconds=began - TICK_SECONDS * ((context.read - 1) // CHUNK_TOKENS) / 2,
            miss=f"token {attached}: {MISSES[kind][1]}" if context.reads else "",
            miss_reason=MISSES[kind][0] if context.reads else "",
            loaded_tokens=attached // 64 * 16,
        )

    def _tell_pages(self, ran: list[tuple[Program, Context]], tokens: int, placed: int) -> None:
        shared = sum(
            program.contexts[1].shared_pages for program in self.programs.values() if len(program.contexts) > 1
        )
        used = min(self._pages, self._held())
        cached = min(self._pages - used, 8 + self._tick % 40)
        duration = 0.012 + 0.0006 * len(ran) + 0.00012 * tokens
        contexts = sum(1 for _ in self._contexts())
        self._events.append(
            TickCompleted(
                self._tick,
                len(ran),
                tokens,
                contexts - placed,
                duration,
                ahead=self._tick % 3 == 0,
                dropped=int(self._tick % 10 == 0),
            )
        )
        usage = PageUsage(self._pages, used, min(shared, used), cached)
        programs = self.programs.values()
        self._events.append(
            PagesCounted(
                usage,
                tuple(ProcessPages(program.id, program.pages(), 0) for program in programs),
                tuple(pages for program in programs for pages in program.counted()),
            )
        )

    def _settle(self, ran: list[tuple[Program, Context]]) -> None:
        rents: dict[int, float] = {}
        for program, context in ran:
            rents[program.account] = rents.get(program.account, 0.0) + self._price * context.own_pages() * 0.01
        share = sum(rents.values()) / max(1, len(self.programs))
        movements: list[AccountMovement] = []
        for program in self.programs.values():
            rent = min(program.balance, rents.get(program.account, 0.0))
            program.balance += share - rent
            movements.append(AccountMovement(program.account, rent, 0.0, share, program.balance))
        self._events.append(MarketSettled(self._tick, self._price, tuple(movements)))

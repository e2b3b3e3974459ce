"""What the engine's answers work with."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pie_mlx.calls import ModelInfo
from pie_mlx.engine.bank import Bank
from pie_mlx.engine.forward_request import check_tokens
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.market import Horizon
from pie_mlx.engine.model.runner import Runner
from pie_mlx.engine.process import Process
from pie_mlx.engine.text.chat import ChatRenderer
from pie_mlx.engine.text.grammar import GrammarService
from pie_mlx.engine.text.tokenizer import Tokenizer
from pie_mlx.engine.ticker import Ticker
from pie_mlx.errors import InvalidArgumentError, ModelNotFoundError
from pie_mlx.events import ContextReleased, Event


@dataclass(slots=True)
class Services:
    """The parts of a running engine, wired once the model is loaded.

    `store` counts pages, `ticker` lets contexts wait and run, `runner` owns the device. `seed` keys every random stream
    of this engine (L6).
    """

    version: str
    instance_id: str
    seed: int
    model_info: ModelInfo
    runner: Runner
    store: PageStore
    ticker: Ticker
    bank: Bank
    tokenizer: Tokenizer
    chat: ChatRenderer
    grammars: GrammarService
    emit: Callable[[Event], None]
    processes: dict[str, Process] = field(default_factory=dict[str, Process])
    clock: Callable[[], float] = time.monotonic

    @property
    def model_name(self) -> str:
        return self.model_info.name

    def check_model(self, name: str) -> None:
        """Raises ModelNotFoundError for a name this engine has not loaded (I2)."""
        if name != self.model_name:
            raise ModelNotFoundError(
                f"model {name!r}: not loaded by this engine", hint=f"loaded models: {self.model_name}"
            )

    def check_tokens(self, tokens: Sequence[int]) -> None:
        """Raises InvalidArgumentError for an id outside the vocabulary."""
        check_tokens(tokens, self.model_info.vocabulary_size)

    def check_stateless(self, what: str) -> None:
        """Raises InvalidArgumentError for what a model with recurrent layers cannot do: their state is not in pages."""
        if self.runner.model.recurrent:
            raise InvalidArgumentError(
                f"{what}: {self.model_name} has recurrent layers, whose running state is not kept in pages",
                hint="keep the context, or fork it",
            )

    def adopt(self, process: Process, context: int, *, sampled: int = 0) -> LiveContext:
        """Give a context of the store to a process; forks and opened snapshots inherit the count of draws."""
        live = LiveContext.new(context, process.account, self.seed, sampled=sampled)
        process.contexts[context] = live
        self.ticker.adopt(live)
        return live

    def rebid(self, process: Process, context: LiveContext, expected: Horizon) -> None:
        """Renew the automatic bid of a context from fresh figures (B4, B5)."""
        pages = {number: self._pages(number) for number in process.contexts}
        account_pages = sum(max(1, count) for count in pages.values())
        context.expected = expected
        context.bid = self.bank.automatic_bid(process.account, pages[context.id], account_pages, expected)

    def _pages(self, context: int) -> int:
        counters = self.store.counters(context)
        return counters.committed + counters.working

    async def release(self, process: Process, context: LiveContext) -> None:
        """Release a context's pages once the pass it has in flight is over (P15)."""
        context.released = True
        async with context.turn:
            self.store.release(context.id)
            self.runner.model.drop_state(context.id)
            self.ticker.forget(context)
            self.emit(ContextReleased(process.id, context.id, self.clock()))

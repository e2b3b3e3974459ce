"""A model ready to run: weights, tokenizer, page pool."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.backends.base import ALL_THREADS
from pie_mlx.engine.model.adapters import AdapterBank
from pie_mlx.engine.model.memory import USUAL_BATCH, BatchSize, pool_pages
from pie_mlx.engine.model.networks.network import Network
from pie_mlx.engine.model.networks.states import RecurrentState
from pie_mlx.engine.model.step import StepInput
from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal import KvPool, LayerShape, PageMemory, Revision
from pie_mlx.metal.arrays import begin_evaluation, evaluate

T = TypeVar("T")

CHECKPOINT_SHARE = 16
"""The part of the memory that states of recurrent layers take, which are kept for prompts that begin alike."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model besides its network.

    `identity` names model, weights and KV dtype (K1); `tokenizer` is transformers' object; `weight_bytes` is what the
    weights take in memory.
    """

    name: str
    identity: bytes
    maximum_positions: int
    tokenizer: Any
    eos_token_ids: tuple[int, ...]
    config: Mapping[str, Any]
    dtype: mx.Dtype
    weight_bytes: int


class LoadedModel:
    """A network with its card and its pool. All but `state` and `set_state` belongs to the MLX thread.

    `forward` mutates the pool and builds lazily; nothing of a step is kept until `settle` returns. `began_early` from
    when a step began early until all is settled.
    """

    def __init__(self, card: ModelCard, network: Network) -> None:
        self.card = card
        self.name, self.identity = card.name, card.identity
        self.maximum_positions = card.maximum_positions
        self.tokenizer, self.eos_token_ids, self.config = card.tokenizer, card.eos_token_ids, card.config
        self.vocabulary_size, self.hidden_size = network.vocabulary_size, network.hidden_size
        self.recurrent, self.tier, self.window = network.recurrent, network.tier, network.window
        self.follows, self.transients = network.follows, network.transients
        self._network, self.backend = network, current_backend()
        self.checkpoint_bytes = self.backend.memory_bytes() // CHECKPOINT_SHARE if network.recurrent else 0
        self._memory: PageMemory | None = None
        self._threads = self._begun_threads = ALL_THREADS
        self.began_early = False

    @property
    def adapters(self) -> AdapterBank:
        """The adapters in memory."""
        return self._network.adapters

    @property
    def hidden(self) -> mx.array | None:
        """What the head was given of the rows of the step that was built last [R, hidden_size], if that is known."""
        return self._network.hidden

    @property
    def layers(self) -> Sequence[LayerShape]:
        """What each attention layer stores per slot."""
        return self._network.shapes

    @property
    def pool(self) -> KvPool:
        """The page pool. Raises OutOfPagesError before `allocate`."""
        return self._pages.pool if self._memory is None else self._memory.pool

    @property
    def trimmed_page_size(self) -> int | None:
        """The size of pages that need not be read where masks hide them; None where layers count the slots they see."""
        return self.pool.page_size if self.window is None else None

    @property
    def _pages(self) -> PageMemory:
        if self._memory is None:
            raise OutOfPagesError(
                "page pool: nothing is allocated yet", hint="call allocate(pages=...) first", needed=1, capacity=0
            )
        return self._memory

    def allocate(
        self,
        *,
        pages: int | None = None,
        page_size: int = 16,
        memory_fraction: float = 0.8,
        headroom_bytes: int = 0,
        largest_batch: BatchSize = USUAL_BATCH,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Allocate the pool, once; `pages` None takes `memory_fraction` of what weights and the `largest_batch` leave
        of the memory, less `headroom_bytes`.

        On an Apple GPU whose kernels were never checked it checks them first, with a line of `progress`. Raises
        OutOfPagesError, with the numbers, when it does not fit.
        """
        step_bytes = self.transients.step_bytes(largest_batch)
        sizes = page_size, memory_fraction, headroom_bytes + self.checkpoint_bytes, step_bytes
        count = pool_pages(self.card, self._network.shapes, pages, *sizes)
        shapes, dtype = self._network.shapes, self.card.dtype
        self._memory = PageMemory(
            self.backend.allocate(shapes, pages=count, page_size=page_size, dtype=dtype, progress=progress)
        )

    def forward(self, step: StepInput) -> mx.array:
        """Logits [R, vocabulary_size] float32 of `step.logit_rows`, not yet evaluated; [0, V] when there are none."""
        self._choose_threads(len(step.positions))
        self.backend.take_threads(self._threads)  # parts are evaluated while the step is built
        return self._network.forward(step, self._pages)

    def settle(self, *outputs: mx.array) -> None:
        """Evaluate `outputs` and the pool: the end of a step."""
        self.backend.take_threads(self._threads)
        self.pool.await_release()
        evaluate(outputs, self._pages.arrays(), self._network.states())
        self._network.settle()
        self.began_early = False

    def begin(self, *outputs: mx.array) -> None:
        """Start to evaluate `outputs`, and what they read of the pool.

        The pool itself is no output: MLX holds those until all is evaluated, so that a step that begins early would
        copy it.
        """
        self._begun_threads = self._threads
        self.backend.take_threads(self._threads)
        self.pool.await_release()
        begin_evaluation(outputs)

    def begin_early(self, step: "TentativeStep") -> None:
        """Start to evaluate the first layers of `step`, which was built last, while the one before is computed.

        Does nothing where they could be written while that reads them, or its products take other threads. If the step
        is dropped, what they wrote stays; settle before anything is built that does not follow on it.
        """
        if self._early_layers and self._threads == self._begun_threads:
            step.keep_early_layers()
            self.began_early = True
            last = 2 * self._early_layers
            self.begin(*self.pool.arrays()[last - 2 : last])

    @property
    def _early_layers(self) -> int:
        """Layers of a step that may begin while the step before is still computed."""
        return 0 if self.pool.ordered else self.backend.early_layers(len(self.layers))

    def follow(self, step: StepInput) -> "TentativeStep":
        """`forward` of a step behind one that is not settled; `step.tokens` may still be drawn there.

        Raises UnsettledError where it can be built only later.
        """
        early, every = self._early_layers, len(self.layers)
        before = [self._pages.revision(range(early)), self._pages.revision(range(early, every))]
        self.pool.settled = False
        try:
            self._choose_threads(len(step.positions))
            return TentativeStep(self._network.forward(step, self._pages), before, self._network.forget)
        except Exception:
            for revision in before:
                revision.restore()
            raise
        finally:
            self.pool.settled = True

    def recover(self) -> None:
        """A step has failed: what of it is under way must not fail the next one."""
        self._pages.recover()
        self._network.recover()

    def attempt(self, work: Callable[[], T], before_again: Callable[[], None]) -> T:
        """What `work` answers, the second time where a kernel failed in it: without that kernel, on the same pages.

        `work` writes nothing that the second time does not write again. Raises what it raises.
        """
        try:
            return work()
        except Exception as error:
            if not self._pages.mend(error):
                raise
        before_again()
        return work()  # the error is gone, and with it what its frames held of the pool

    def rest(self) -> None:
        """Nothing of a step is computed from here on: give back what only steps may take."""
        self.backend.take_threads(ALL_THREADS)

    def _choose_threads(self, rows: int) -> None:
        largest, experts = self._network.largest_matrix, self._network.has_experts
        self._threads = self.backend.product_threads(rows, largest_matrix=largest, experts=experts)

    def state(self, context: int) -> RecurrentState | None:
        """What recurrent layers remember of a context."""
        return self._network.state(context)

    def set_state(self, context: int, state: RecurrentState | None) -> None:
        """Have recurrent layers go on from `state`; None forgets the context."""
        self._network.set_state(context, state)


@dataclass(slots=True)
class TentativeStep:
    """A step that is built, behind one whose outcome may yet forbid it: keep it or drop it.

    Its `logits` [R, vocabulary_size] begin once it is kept, and the outputs of the step before are evaluated; in an
    ordered pool at once.
    """

    logits: mx.array
    _before: list[Revision]
    _forget: Callable[[], None]

    def keep(self) -> None:
        """It will be computed."""
        self._before.clear()

    def keep_early_layers(self) -> None:
        """Its first layers are begun."""
        del self._before[:-1]

    def drop(self) -> None:
        """It was never built, but for what has begun. Whatever of it were held would hold the pool, and the next step
        copy all of it."""
        for revision in self._before:
            revision.restore()
        self._forget()

"""A model ready to run: weights, tokenizer, page pool."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.backends.base import ALL_THREADS
from pie_mlx.engine.model.heads.chain import ChainBinding
from pie_mlx.engine.model.heads.module import FusedEmbedding
from pie_mlx.engine.model.memory import USUAL_BATCH, BatchSize, MemoryShare, check_state_fits, pool_pages, state_pages
from pie_mlx.engine.model.networks.network import Network
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.networks.promises import promises
from pie_mlx.engine.model.step import StepInput
from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal import KvPool, LayerShape, PageMemory, Revision, page_bytes
from pie_mlx.metal.arrays import begin_evaluation, evaluate

T = TypeVar("T")

KEPT_STATE_SHARE = 16
"""The part of the memory that kept states of recurrent layers take, besides those that contexts go on from."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model besides its network.

    `identity` stands for configuration, weights and KV format (K1); `tokenizer` is transformers' object; `weight_bytes`
    is what the weights take in memory. `files` hold the weights and their configuration.
    """

    name: str
    identity: bytes
    maximum_positions: int
    tokenizer: Any
    eos_token_ids: tuple[int, ...]
    config: Mapping[str, Any]
    dtype: mx.Dtype
    weight_bytes: int
    files: tuple[Path, ...] = ()


class LoadedModel:
    """A network with its card and its pool. All of it belongs to the MLX thread, except the recurrent states of the
    `network`.

    `forward` mutates the pool and builds lazily; nothing of a step is kept until `finish` returns. `began_early` from
    when a step began early until all is evaluated.
    """

    def __init__(self, card: ModelCard, network: Network, layers: Sequence[LayerShape] | None = None) -> None:
        """`layers` replace the shapes of the network's layers where pages hold them quantised."""
        self.card = card
        self.name, self.identity = card.name, card.identity
        self.maximum_positions = card.maximum_positions
        self.tokenizer, self.eos_token_ids, self.config = card.tokenizer, card.eos_token_ids, card.config
        self.vocabulary_size, self.hidden_size = network.vocabulary_size, network.hidden_size
        self.recurrent, self.tier, self.window = network.recurrent, network.tier, network.window
        self.promises = promises(network.tier, recurrent=network.recurrent)
        self.follows, self.transients = network.follows, network.transients
        self.adapters, self.layers = network.adapters, network.shapes if layers is None else layers
        self.network, self.backend = network, current_backend()
        self.kept_state_bytes = self.backend.memory_bytes() // KEPT_STATE_SHARE if network.recurrent else 0
        self.pages = self.state_pages = 0
        """Pages that contexts can have, and how many of them the state of one costs; there once they are allocated."""
        self._memory: PageMemory | None = None
        self._threads = self._begun_threads = ALL_THREADS
        self._early_layers = 0
        self.began_early = False
        self.head: HeadModel | None = None
        """The model's own draft head, which has a pool of its own."""

    @property
    def pool(self) -> KvPool:
        """The page pool. Raises OutOfPagesError before `allocate`."""
        return self._pages.pool if self._memory is None else self._memory.pool

    @property
    def held_bytes(self) -> int:
        """What its weights and its pool take of the memory."""
        return self.card.weight_bytes + (0 if self._memory is None else self.pool.bytes())

    @property
    def trimmed_page_size(self) -> int | None:
        """The size of pages that need not be read where masks hide them; None where layers count the slots they see, or
        remember all tokens."""
        return self.pool.page_size if self.window is None and not self.recurrent else None

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
        share: MemoryShare | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Allocate the pool, once; `pages` None takes `memory_fraction` of what weights and the `largest_batch` leave
        of the memory, less `headroom_bytes`, or what other models leave, as `share` says.

        On an Apple GPU whose kernels were never checked it checks them first, with a line of `progress`. Raises
        OutOfPagesError, with the numbers, when it does not fit.

        With recurrent layers there is one page more, which no context has: tokens that are computed again for the sake
        of the state alone are written there.
        """
        step_bytes, state_bytes = self.transients.step_bytes(largest_batch), self.network.state_bytes
        sizes = page_size, memory_fraction, headroom_bytes + self.kept_state_bytes, step_bytes, state_bytes, share
        self.pages, dtype = pool_pages(self.card, self.layers, pages, *sizes), self.card.dtype
        free_bytes = int((self.backend.memory_bytes() - self.card.weight_bytes) * memory_fraction)
        each = page_bytes(self.layers, page_size, dtype)
        self.state_pages = state_pages(each, state_bytes, self.pages, free_bytes)
        check_state_fits(self.name, self.state_pages, self.pages)
        count = self.pages + self.recurrent
        self._memory = PageMemory(
            self.backend.allocate(self.layers, pages=count, page_size=page_size, dtype=dtype, progress=progress)
        )
        # Layers of a step that may begin while the step before is still computed.
        self._early_layers = 0 if self.pool.ordered else self.backend.early_layers(len(self.layers))

    def forward(self, step: StepInput) -> mx.array:
        """Logits [R, vocabulary_size] float32 of `step.logit_rows`, not yet evaluated; [0, V] when there are none."""
        self._choose_threads(len(step.positions))
        self.backend.set_threads(self._threads)  # parts are evaluated while the step is built
        return self.network.forward(step, self._pages)

    def finish(self, *outputs: mx.array) -> None:
        """`compute` the outputs of a step, and keep what its recurrent layers left: its end."""
        self.compute(*outputs)
        self.network.recurrence.commit()

    def compute(self, *outputs: mx.array) -> None:
        """Evaluate `outputs`, the pool, and the states of recurrent layers that are not committed."""
        pages = self._pages
        self.backend.set_threads(self._threads)
        pages.pool.await_release()
        evaluate(outputs, pages.arrays(), self.network.recurrence.arrays() if self.recurrent else ())
        self.began_early = False

    def begin(self, *outputs: mx.array) -> None:
        """Start to evaluate `outputs`, and what they read of the pool.

        The pool itself is no output: MLX holds those until all is evaluated, so that a step that begins early would
        copy it.
        """
        self._begun_threads = self._threads
        self.backend.set_threads(self._threads)
        self._pages.pool.await_release()
        begin_evaluation(outputs)

    def begin_early(self, before: list[Revision]) -> None:
        """Start to evaluate the first layers of the step that was built last, while the one before is computed.

        `before` is what `follow` answered for it. Does nothing where the layers could be written while that step reads
        them, or its products take other threads. If the step is dropped, what they wrote stays; evaluate it before
        anything is built that does not follow on it.
        """
        if self._early_layers and self._threads == self._begun_threads:
            del before[:-1]
            self.began_early = True
            last = 2 * self._early_layers
            self.begin(*self.pool.arrays()[last - 2 : last])

    def follow(self, step: StepInput) -> tuple[mx.array, list[Revision]]:
        """`forward` of a step after one that is not evaluated; `step.tokens` may still be drawn there.

        Answers its logits and how the pool was before, first the layers that may begin early. Let go of these revisions
        before the step is evaluated; restore them if it never is, and have the network forget it. Raises
        UnevaluatedError where it can be built only later.
        """
        pages, early, every = self._pages, self._early_layers, len(self.layers)
        before = [pages.revision(range(early)), pages.revision(range(early, every))]
        pages.pool.evaluated = False
        try:
            self._choose_threads(len(step.positions))
            return self.network.forward(step, pages), before
        except Exception:
            for revision in before:
                revision.restore()
            self.network.forget()
            raise
        finally:
            pages.pool.evaluated = True

    def recover(self) -> None:
        """A step has failed: what of it is under way must not fail the next one."""
        self._pages.recover()
        self.network.recover()

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
        self.backend.set_threads(ALL_THREADS)

    def _choose_threads(self, rows: int) -> None:
        largest, experts = self.network.largest_matrix, self.network.has_experts
        self._threads = self.backend.product_threads(rows, largest_matrix=largest, experts=experts)


@dataclass(frozen=True, slots=True)
class HeadModel:
    """`model` is the head over its own pool; all of it belongs to the MLX thread."""

    model: LoadedModel
    network: PagedNetwork
    embedding: FusedEmbedding

    def forward(self, step: StepInput, hidden: mx.array) -> mx.array:
        """Logits [R, vocabulary] float32 of `step.logit_rows`, lazily; `hidden` [T, width] has the hidden state before
        the token of each row."""
        with self._given(hidden):
            return self.model.forward(step)

    def follow(self, tokens: mx.array, hidden: mx.array, binding: ChainBinding) -> mx.array:
        """Logits [rows, vocabulary] float32 after guesses `tokens` int32 [rows], which may still be drawn; `hidden`
        [rows, width] as in `forward`."""
        with self._given(hidden):
            return self.network.chain(tokens, binding)

    @contextmanager
    def _given(self, hidden: mx.array) -> Generator[None]:
        self.embedding.give(hidden[:, None])
        try:
            yield
        finally:
            self.embedding.give(None)

    def left(self) -> mx.array:
        """What the last step remembers of its logit rows [R, width]: the head reads it as it reads the model's."""
        hidden = self.network.hidden
        if hidden is None:
            raise RuntimeError("draft head: its vocabulary projection was not found")
        return hidden

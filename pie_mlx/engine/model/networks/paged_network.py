"""An mlx-lm model over the page pool."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.adapters import AdapterBank, Target, find_targets
from pie_mlx.engine.model.memory import Segments, Transients, traced_row_bytes
from pie_mlx.engine.model.mlx_lm import hook
from pie_mlx.engine.model.mlx_lm.caches import UNBOUND, Binding, paged_caches
from pie_mlx.engine.model.mlx_lm.head import RowSelection, restore, select_before_head
from pie_mlx.engine.model.mlx_lm.modules import SWITCH, Module, make_prompt_cache
from pie_mlx.engine.model.mlx_lm.weights import largest_matrix
from pie_mlx.engine.model.networks.bindings import DenseBinding, PagedBinding
from pie_mlx.engine.model.networks.equal_length import Wave, token_rows, waves
from pie_mlx.engine.model.networks.mixers import Mixers, find_mixers
from pie_mlx.engine.model.networks.states import RecurrentState, RecurrentStates
from pie_mlx.engine.model.networks.tier import PAGED, Layout
from pie_mlx.engine.model.networks.tiers import candidates, require_supported
from pie_mlx.engine.model.networks.tracing import first_working, trace
from pie_mlx.engine.model.step import StepInput
from pie_mlx.metal import AttentionPlan, KvPool, LayerShape, PageMemory
from pie_mlx.metal.arrays import evaluate, integers
from pie_mlx.metal.page_pool.kernel_pool import KernelPool


class PagedNetwork:
    """Implements Network for any mlx-lm model. Raises ModelLoadError for one that cannot be paged."""

    def __init__(self, model: Module, architecture: str) -> None:
        require_supported(architecture)
        hook.install()
        self._backend, self.model = current_backend(), model
        self._backend.adapt(model)
        self.has_experts = any(isinstance(module, SWITCH) for _, module in model.named_modules())
        self._caches = paged_caches(make_prompt_cache(model))
        self.recurrent = bool(self._caches.recurrent)
        self.window = min((cache.window for cache in self._caches.paged if cache.window), default=None)
        mixers = self._find_mixers()
        self._tier, shapes, output = first_working(
            candidates(architecture, recurrent=self.recurrent, apart=mixers is not None),
            lambda tier: trace(model, self._caches, tier),
            architecture,
        )
        self.vocabulary_size = output[-1]
        self.largest_matrix = largest_matrix(model, self.vocabulary_size)
        self.shapes = [shapes.get(cache.layer, LayerShape(0, 0, 0)) for cache in self._caches.paged]
        self._states = RecurrentStates(self._caches.recurrent)
        self._selection = RowSelection()
        self._heads = self._wrap_head()
        self._selects = bool(self._heads)
        self.hidden_size = self._selection.width if self._selects else 0
        self.transients = self._sized()
        self._segments = Segments()
        self._hidden: list[mx.array] = []
        self._order: list[int] = []
        self.adapters = AdapterBank(self._adapter_targets, self._selection)
        self._mixers = Mixers(mixers or (), self.adapters.only)

    @property
    def follows(self) -> bool:
        """Whether a step of single tokens is one pass that needs none of them on the host, and leaves no state."""
        return self._tier.layout is Layout.TOKENS and not self.recurrent

    @property
    def tier(self) -> str:
        """The name of the tier."""
        return self._tier.name

    def forward(self, step: StepInput, memory: PageMemory) -> mx.array:
        """Logits [R, vocabulary] float32 of the rows asked for, lazily built but for the last of several waves."""
        self._states.discard()
        parts = self._parts(step)
        logits: list[mx.array] = []
        self._hidden, self._order = [], order = [], list[int]()
        for index, wave in enumerate(parts):
            if index:  # one write per array and evaluation, or MLX copies the pool
                evaluate(logits, memory.arrays(), self._states.arrays())
                memory.pool.await_release()
            logits.append(self._compute(wave, memory))
            order += wave.logit_order
        return _in_order(logits, order)

    @property
    def hidden(self) -> mx.array | None:
        """What the head was given of the rows of the last step [R, width]; None where it was not found."""
        return _in_order([part.flatten(0, 1) for part in self._hidden], self._order) if self._hidden else None

    def states(self) -> list[mx.array]:
        """Recurrent states of the step."""
        return self._states.arrays()

    def settle(self) -> None:
        """Keep the recurrent states of the step."""
        self._states.settle()

    def forget(self) -> None:
        """The last step is never evaluated: what is known of it would hold the pool as it was."""
        self._hidden, self._selection.hidden = [], None

    def recover(self) -> None:
        """A step has failed: its segments would fail the next one."""
        self._segments.forget()

    def state(self, context: int) -> RecurrentState | None:
        """What recurrent layers remember of `context`."""
        return self._states.of(context)

    def set_state(self, context: int, state: RecurrentState | None) -> None:
        """Have recurrent layers go on from `state`; None forgets the context."""
        self._states.put(context, state)

    def _parts(self, step: StepInput) -> Sequence[Wave]:
        if self._tier.layout is Layout.TOKENS:
            return [token_rows(step, recurrent=self.recurrent)]
        return waves(step, alone=self._tier.layout is Layout.ALONE)

    def _compute(self, wave: Wave, memory: PageMemory) -> mx.array:
        binding = self._binding(wave, memory)
        self._caches.bind(binding)
        self._segments.start(self._layer_bytes(wave, memory.pool))
        self._states.begin(wave.groups, self._segments.stored)
        rows = integers(wave.logit_rows)
        self._selection.rows = rows if self._selects else None
        try:
            with self._backend.rotating(binding.offset if wave.shape[1] == 1 else None), self._recurring(wave):
                output = self._output(wave, memory)
        finally:
            self._caches.bind(UNBOUND)
            self._selection.rows = None
        self._states.end()
        if self._selects and self._selection.hidden is not None:
            self._hidden.append(self._selection.hidden)
        logits = output.flatten(0, 1)
        return (logits if self._selects else logits[rows]).astype(mx.float32)

    def _recurring(self, wave: Wave) -> AbstractContextManager[None]:
        """Inside, recurrent layers go on from the states of their contexts."""
        if not self.recurrent:
            return nullcontext()
        if self._tier.layout is Layout.TOKENS:
            return self._mixers.computing(wave.groups, self._states.load)
        self._states.load_all()
        return nullcontext()

    def _binding(self, wave: Wave, memory: PageMemory) -> Binding:
        offset: Any = wave.offsets[0] if self._tier.layout is Layout.ALONE else integers(wave.offsets)
        if self._tier.paged:
            return PagedBinding(offset, AttentionPlan(wave.segments, wave.slots, memory), self._segments)
        sizes = self._tier.mask_dimensions
        return DenseBinding(offset, wave.segments, wave.slots, memory.pool, sizes, self._segments)

    def _layer_bytes(self, wave: Wave, pool: KvPool) -> int:
        """What a layer of the pass answers; 0 where parts of it must not begin, or the pool begins them."""
        if not pool.takes_segments:
            return 0
        gathered = (part for part in wave.segments if not self._tier.paged or pool.gathers(part.count))
        slot_bytes = max(shape.elements for shape in self.shapes) * pool.dtype.size if self.shapes else 0
        return self.transients.layer_bytes(len(wave.slots)) + slot_bytes * sum(part.kv_length for part in gathered)

    def _find_mixers(self) -> list[Module] | None:
        """The modules that read the states of recurrent layers; None where other layers do as well."""
        if not self.recurrent:
            return []
        try:
            found, caches = find_mixers(self.model, lambda: trace(self.model, self._caches, PAGED))
        except Exception:  # a model's own code may raise anything on a cache it was not written for
            return None
        return found if caches == {id(cache) for cache in self._caches.recurrent} else None

    def _sized(self) -> Transients:
        heads = self._heads
        row_bytes = traced_row_bytes(self.model, heads, lambda: trace(self.model, self._caches, self._tier))
        layers = len(self._caches.recurrent) + sum(shape.elements > 0 for shape in self.shapes)
        return Transients(row_bytes, layers, self.vocabulary_size)

    def _wrap_head(self) -> list[Module]:
        """Project only wanted rows, if the model's head can be found: one of two rows must come out. Answers heads."""
        heads = select_before_head(self.model, self.vocabulary_size, self._selection)
        self._selection.rows = mx.array([1], dtype=mx.int32)
        try:
            _, output = trace(self.model, self._caches, self._tier)
            found = output == (1, 1, self.vocabulary_size)
        except Exception:  # whatever else projects to the vocabulary did not expect fewer rows
            found = False
        self._selection.rows = None
        if not found:
            restore(heads)
        return heads if found else []

    def _adapter_targets(self) -> dict[str, Target]:
        return find_targets(self.model, self._heads, lambda: trace(self.model, self._caches, self._tier))

    def _output(self, wave: Wave, memory: PageMemory) -> mx.array:
        drawn = wave.tokens if isinstance(wave.tokens, mx.array) else integers(wave.tokens)
        tokens = mx.unflatten(drawn, 0, wave.shape)
        if wave.adapters is None:
            return self.model(tokens, cache=self._caches.tree)
        launcher = memory.pool.launcher if isinstance(memory.pool, KernelPool) else None
        with self.adapters.applied(wave.adapters, launcher, memory.pool.dtype):
            return self.model(tokens, cache=self._caches.tree)


def _in_order(parts: Sequence[mx.array], order: Sequence[int]) -> mx.array:
    """The rows of all parts, which `order` gives the places of, one behind the other."""
    joined = parts[0] if len(parts) == 1 else mx.concatenate(list(parts))
    if list(order) == list(range(len(order))):
        return joined
    return joined[integers(sorted(range(len(order)), key=order.__getitem__))]

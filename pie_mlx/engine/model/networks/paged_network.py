"""An mlx-lm model over the page pool, and the ways in which a pass of it uses the pages."""

from collections.abc import Collection, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.adapters import AdapterBank, Target, find_targets
from pie_mlx.engine.model.memory import Segments, Transients, traced_row_bytes
from pie_mlx.engine.model.mlx_lm import hook
from pie_mlx.engine.model.mlx_lm.adaptations import adapt
from pie_mlx.engine.model.mlx_lm.caches import (
    UNBOUND,
    Binding,
    Handle,
    PagedCache,
    WindowMask,
    handles,
    latent_queries,
    paged_caches,
    window_of,
)
from pie_mlx.engine.model.mlx_lm.hook import RowSelection, restore, select_before_head
from pie_mlx.engine.model.mlx_lm.modules import SWITCH, Module, make_prompt_cache
from pie_mlx.engine.model.mlx_lm.weights import largest_matrix
from pie_mlx.engine.model.networks.equal_length import equal_length_batches
from pie_mlx.engine.model.networks.mixers import Mixers, find_mixers, row_groups, side_by_side
from pie_mlx.engine.model.networks.states import RecurrentState, RecurrentStates
from pie_mlx.engine.model.networks.tier import Layout, Tier
from pie_mlx.engine.model.networks.tiers import by_token, candidates, require_supported
from pie_mlx.engine.model.networks.tracing import first_working, trace
from pie_mlx.engine.model.step import StepInput
from pie_mlx.metal import (
    AttentionPlan,
    DenseView,
    KvPool,
    LayerShape,
    PageMemory,
    PageScores,
    Run,
    RunSlice,
    SlotWrite,
    attend,
)
from pie_mlx.metal.arrays import evaluate, integers
from pie_mlx.metal.page_pool.kernel_pool import KernelPool


def _token_rows(array: mx.array) -> mx.array:
    """[rows, heads, tokens, dim] as [rows * tokens, heads, dim]."""
    return array.swapaxes(1, 2).flatten(0, 1)


class PagedBinding:
    """K and V stay in the pool: models see handles, attention reads the pages. Rows of equal length.

    In a `latent` model, which attends to one latent with all heads, rows are single tokens.
    """

    def __init__(self, offset: mx.array, plan: AttentionPlan, segments: Segments, *, latent: bool) -> None:
        self.offset, self._latent, self.scores = offset, latent, plan.scores
        self._plan, self._segments = plan, segments
        self._handles: dict[int, tuple[Handle, Handle]] = {}

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        # Single tokens, the rows of most passes, need no call: this is done once for every layer of every step.
        rows = (keys.squeeze(2), values.squeeze(2)) if keys.shape[2] == 1 else (_token_rows(keys), _token_rows(values))
        self._plan.store(cache.layer, *rows)
        self._segments.stored(keys)
        self._handles[cache.layer] = handles(cache, keys, values, latent=self._latent)
        return self._handles[cache.layer]

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        return self._handles[cache.layer]

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        return None if self._latent else WindowMask(window, (tokens, tokens))

    def attend(
        self,
        cache: PagedCache,
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array:
        if self._latent:
            queries, mask, scale = latent_queries(queries, mask, scale), None, 1.0
        rows, _, tokens, _ = queries.shape
        given = queries.squeeze(2) if tokens == 1 else _token_rows(queries)
        # As in `update`, what most models pass needs no call.
        window = mask.window if isinstance(mask, WindowMask) else window_of(mask, cache)
        out = attend(given, cache.layer, self._plan, scale=scale, window=window, sinks=sinks, cap=cap)
        return mx.expand_dims(out, 2) if tokens == 1 else mx.unflatten(out, 0, (rows, tokens)).swapaxes(1, 2)


class DenseBinding:
    """For models that compute with K and V themselves: they see the pages gathered, and a real mask."""

    def __init__(
        self,
        offset: mx.array | int,
        runs: Sequence[Run],
        slots: Sequence[int],
        pool: KvPool,
        segments: Segments,
    ) -> None:
        self.offset = offset
        self._pool, self._write, self._segments = pool, SlotWrite(slots), segments
        pool.begin_write(self._write)
        self._view = DenseView(runs, pool)
        self._masks: dict[int | None, mx.array | None] = {}

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        self._pool.write(cache.layer, _token_rows(keys), _token_rows(values), self._write)
        self._segments.stored(keys)
        return self.fetch(cache)

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        return self._view.arrays(cache.layer)

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        if window not in self._masks:
            self._masks[window] = self._view.mask(window)
        mask = self._masks[window]
        if mask is None:
            return mx.ones((tokens, self._view.keys), mx.bool_) if return_array else None
        if mask.shape[0] == 1:
            return mask[0]
        return mask[:, None]

    def attend(
        self,
        cache: PagedCache,
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array:
        raise RuntimeError("the dense tier hands out no handles")


class PagedNetwork:
    """Implements Network for any mlx-lm model. Raises ModelLoadError for one that cannot be paged.

    `latent` allows pages of latents, where the architecture has them.
    """

    def __init__(self, model: Module, architecture: str, *, latent: bool = True) -> None:
        require_supported(architecture)
        hook.install()
        self._backend, self.model = current_backend(), model
        self._backend.adapt(model)
        self.has_experts = any(isinstance(module, SWITCH) for _, module in model.named_modules())
        self._caches = paged_caches(make_prompt_cache(model))
        adapt(architecture, model, self._caches)
        self.recurrent = bool(self._caches.recurrent)
        self.window = min((cache.window for cache in self._caches.paged if cache.window), default=None)
        tokens = by_token(architecture, latent=latent)
        mixers = self._find_mixers(tokens)
        self._tier, shapes, output = first_working(
            candidates(tokens, recurrent=self.recurrent, apart=mixers is not None),
            lambda tier: trace(model, self._caches, tier),
            architecture,
        )
        self.tier, self.latent = self._tier.name, self._tier.latent
        self.follows = self._tier.layout is Layout.TOKENS
        """Whether a step of single tokens is one pass that needs none of them on the host."""
        self.vocabulary_size = output[-1]
        self.largest_matrix = largest_matrix(model, self.vocabulary_size)
        self.shapes = [shapes.get(cache.layer, LayerShape(0, 0, 0)) for cache in self._caches.paged]
        self.recurrence = RecurrentStates(self._caches.recurrent)
        self.state_bytes = self._traced_state_bytes()
        self._selection = RowSelection()
        self._heads = self._wrap_head()
        self._selects = bool(self._heads)
        self.hidden_size = self._selection.width if self._selects else 0
        self.transients = self._sized()
        self._segments = Segments()
        self.hidden: mx.array | None = None
        """What the head was given of the rows of the last step [R, width]; None where it was not found."""
        self.kept: mx.array | None = None
        """The same of the rows that the last step keeps, if there are any."""
        self.scores: dict[int, mx.array] = {}
        """How much attention the scored rows of the last step pay to each page, by context [groups, pages]."""
        self.attention_groups = sum(shape.kv_heads for shape in self.shapes) if self._tier.paged else 0
        self.adapters = AdapterBank(self._adapter_targets, self._selection)
        self._mixers = Mixers(mixers or (), self.adapters.only)

    def forward(self, step: StepInput, memory: PageMemory) -> mx.array:
        """Logits [R, vocabulary_size] float32 of the rows asked for, lazily built but for the last of several
        batches of equal length."""
        self.scores = {}
        if self.recurrent:
            self.recurrence.open(follows=not memory.pool.evaluated)
        if self._tier.layout is Layout.TOKENS:
            if self.recurrent:
                step = side_by_side(step)
            self._selection.kept_rows = integers(step.kept_rows) if step.kept_rows and self._selects else None
            logits = self._compute(step, memory)
            self.hidden = self._last_hidden()
            self.kept, self._selection.kept = self._selection.kept, None
            return logits
        parts: list[mx.array] = []
        hidden: list[mx.array | None] = []
        order: list[int] = []
        for part, places in equal_length_batches(step, alone=self._tier.layout is Layout.ALONE):
            if parts:  # one write per array and evaluation, or MLX copies the pool
                evaluate(parts, memory.arrays(), self.recurrence.arrays())
                memory.pool.await_release()
            parts.append(self._compute(part, memory))
            hidden.append(self._last_hidden())
            order += places
        known = [part for part in hidden if part is not None]
        self.hidden = _in_order(known, order) if known else None
        return _in_order(parts, order)

    def chain(self, tokens: mx.array, binding: Binding) -> mx.array:
        """Logits [rows, vocabulary_size] float32 after `tokens` int32 [rows], one of each context, with keys and values
        that are the binding's; `hidden` has what the head was given."""
        self._caches.bind(binding)
        self._selection.rows = integers(range(tokens.shape[0]))
        try:
            with self._backend.rotating(binding.offset):
                output = self.model(tokens[:, None], cache=self._caches.tree)
        finally:
            self._caches.bind(UNBOUND)
            self._selection.rows = None
        self.hidden = self._last_hidden()
        return output.flatten(0, 1).astype(mx.float32)

    def forget(self) -> None:
        """Let go of the last step, which is never evaluated: its arrays would keep the pool as it was."""
        self.hidden = self.kept = self._selection.hidden = None
        self.scores = {}
        self.recurrence.forget()

    def recover(self) -> None:
        """Let go of the segments of a failed step: they would fail the next one."""
        self._segments.forget()
        self.recurrence.discard()

    def state(self, context: int) -> RecurrentState | None:
        """The recurrent state of `context`."""
        return self.recurrence.of(context)

    def stateful(self) -> Collection[int]:
        """The contexts that have a recurrent state."""
        return self.recurrence.contexts()

    def set_state(self, context: int, state: RecurrentState | None) -> None:
        """Have recurrent layers continue a context from `state`; None forgets the context."""
        self.recurrence.put(context, state)

    def _compute(self, step: StepInput, memory: PageMemory) -> mx.array:
        tier = self._tier
        positions = step.positions[:: step.row_tokens]
        offset: Any = positions[0] if tier.layout is Layout.ALONE else integers(positions)
        binding = self._binding(step, offset, memory)
        self._caches.bind(binding)
        self._segments.start(self._layer_bytes(step, memory.pool))
        rows = integers(step.logit_rows)
        self._selection.rows = rows if self._selects else None
        try:
            with self._backend.rotating(offset if step.row_tokens == 1 else None), self._recurring(step, memory):
                output = self._output(step, memory)
            if isinstance(binding, PagedBinding) and binding.scores is not None:
                self._add_scores(binding.scores)
        finally:
            self._caches.bind(UNBOUND)
            self._selection.rows = None
        logits = output.flatten(0, 1)
        return (logits if self._selects else logits[rows]).astype(mx.float32)

    @contextmanager
    def _recurring(self, step: StepInput, memory: PageMemory) -> Generator[None, None, None]:
        """Inside, recurrent layers continue from the states of their contexts; at the end, the new states are kept."""
        if not self.recurrent:
            yield
            return
        states, groups = self.recurrence, row_groups(step.segments)
        uses, dtype = step.adapters, memory.pool.dtype

        def adapting(rows: Sequence[int]) -> AbstractContextManager[None]:
            return nullcontext() if uses is None else self.adapters.applied([uses[row] for row in rows], None, dtype)

        try:
            states.begin(groups, self._segments.stored, adapting)
            if self._tier.layout is Layout.TOKENS:
                with self._mixers.computing(groups, states):
                    yield
            else:
                states.load_all()
                yield
            states.end()
        finally:
            states.leave()

    def _last_hidden(self) -> mx.array | None:
        """What the head was given of the rows of the pass that was built last [R, width], if it was found."""
        found = self._selection.hidden if self._selects else None
        return None if found is None else found.flatten(0, 1)

    def _add_scores(self, scores: PageScores) -> None:
        for run, found in zip(scores.runs, scores.result(), strict=True):
            known = self.scores.get(run.context)
            if known is not None:  # of earlier tokens, which see fewer pages
                found += mx.pad(known, [(0, 0), (0, found.shape[1] - known.shape[1])])
            self.scores[run.context] = found

    def _binding(self, step: StepInput, offset: Any, memory: PageMemory) -> Binding:
        if self._tier.paged:
            scored = [RunSlice(part, *part.scored) for part in step.segments if part.scored[1]]
            scores = PageScores(scored, memory.pool.page_size) if scored else None
            plan = AttentionPlan(step.segments, step.slots, memory, scores)
            return PagedBinding(offset, plan, self._segments, latent=self._tier.latent)
        return DenseBinding(offset, step.segments, step.slots, memory.pool, self._segments)

    def _layer_bytes(self, step: StepInput, pool: KvPool) -> int:
        """Bytes of the output of a layer of the pass; 0 where parts of the pass must not begin early, or the pool
        begins them."""
        if not pool.takes_segments:
            return 0
        gathered = (part for part in step.segments if not self._tier.paged or pool.gathers(part.count))
        slot_bytes = max((shape.copy_bytes(pool.dtype) for shape in pool.shapes), default=0)
        return self.transients.layer_bytes(len(step.slots)) + slot_bytes * sum(part.kv_length for part in gathered)

    def _find_mixers(self, tier: Tier) -> list[Module] | None:
        """The modules that read the states of recurrent layers; None where other layers do as well."""
        if not self.recurrent:
            return []
        try:
            found, caches = find_mixers(self.model, lambda: trace(self.model, self._caches, tier))
        except Exception:  # a model's own code may raise anything on a cache it was not written for
            return None
        return found if caches == {id(cache) for cache in self._caches.recurrent} else None

    def _traced_state_bytes(self) -> int:
        """Bytes of the recurrent state of one context."""
        sizes: list[int] = []

        def weigh() -> None:
            arrays = (array for cache in self._caches.recurrent for array in cache.cache if array is not None)
            sizes.extend(array.nbytes // array.shape[0] for array in arrays)

        if self.recurrent:
            trace(self.model, self._caches, self._tier, weigh)
        return sum(sizes)

    def _sized(self) -> Transients:
        heads = self._heads
        row_bytes = traced_row_bytes(self.model, heads, lambda: trace(self.model, self._caches, self._tier))
        layers = len(self._caches.recurrent) + sum(shape.elements > 0 for shape in self.shapes)
        return Transients(row_bytes, layers, self.vocabulary_size)

    def _wrap_head(self) -> list[Module]:
        """Project only wanted rows, if the model's head can be found: of two rows, one must come out. Returns the
        heads."""
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

    def _output(self, step: StepInput, memory: PageMemory) -> mx.array:
        drawn = step.tokens if isinstance(step.tokens, mx.array) else integers(step.tokens)
        tokens = mx.unflatten(drawn, 0, (-1, step.row_tokens))
        if step.adapters is None:
            return self.model(tokens, cache=self._caches.tree)
        launcher = memory.pool.launcher if isinstance(memory.pool, KernelPool) else None
        with self.adapters.applied(step.adapters, launcher, memory.pool.dtype):
            return self.model(tokens, cache=self._caches.tree)


def _in_order(parts: Sequence[mx.array], order: Sequence[int]) -> mx.array:
    """The rows of all parts, put in order; `order` has the place of each."""
    joined = parts[0] if len(parts) == 1 else mx.concatenate(list(parts))
    if list(order) == list(range(len(order))):
        return joined
    return joined[integers(sorted(range(len(order)), key=order.__getitem__))]

"""The least that can run a loaded model: pages by hand, one step at a time, no engine."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from pie_mlx.engine.model.loaded import LoadedModel, ModelCard
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.step import Segment, StepInput


def without_files(network: PagedNetwork, dtype: mx.Dtype = mx.float32) -> LoadedModel:
    """A network as a model that came from nowhere: no tokenizer, no configuration."""
    return LoadedModel(ModelCard("tiny", b"tiny", 512, None, (), {}, dtype, 0), network)


@dataclass(slots=True)
class Context:
    """Pages and tokens of one sequence."""

    number: int
    pages: list[int] = field(default_factory=list[int])
    tokens: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class Work:
    """Tokens to append to a context, at the positions that follow or at `positions`, each seen through `masks`. The
    last `drafts` of them may be taken back."""

    context: Context
    tokens: Sequence[int]
    positions: Sequence[int] | None = None
    masks: Sequence[Sequence[int]] | None = None
    drafts: int = 0


class Driver:
    """Hands out the pages of a model's pool and runs steps."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self._size = model.pool.page_size
        # Every other page first, so that the pages of a context are no neighbours.
        self._free = [*range(1, model.pool.pages, 2), *range(0, model.pool.pages, 2)]
        self._made = 0

    def context(self) -> Context:
        """An empty context."""
        self._made += 1
        return Context(self._made)

    def fork(self, source: Context) -> Context:
        """A copy that shares full pages."""
        child = self.context()
        full, rows = divmod(len(source.tokens), self._size)
        child.pages, child.tokens = source.pages[:full], list(source.tokens)
        if rows:
            child.pages.append(self._free.pop())
            self.model.pool.copy_pages([(source.pages[full], child.pages[full], rows)])
        self.model.network.set_state(child.number, self.model.network.state(source.number))
        return child

    def release(self, context: Context) -> None:
        """Give back pages that nobody shares."""
        self._free += context.pages
        self.model.network.set_state(context.number, None)

    def run(self, works: Sequence[Work]) -> np.ndarray:
        """Run one step; the logits after each work's last token, [works, vocabulary]."""
        logits = self.model.forward(self.step(works))
        self.model.finish(logits)
        return np.array(logits)

    def step(self, works: Sequence[Work]) -> StepInput:
        """The step that appends the tokens, with the last row of each work wanted."""
        tokens: list[int] = []
        positions: list[int] = []
        slots: list[int] = []
        segments: list[Segment] = []
        for work in works:
            span = self._appended(work)
            table = work.context.pages
            where = work.context.number, len(tokens), len(span), list(table), span.stop
            segments.append(Segment(*where, work.masks, work.drafts))
            tokens += work.tokens
            positions += span if work.positions is None else work.positions
            slots += [table[slot // self._size] * self._size + slot % self._size for slot in span]
        rows = [segment.start + segment.count - 1 for segment in segments]
        return StepInput(tokens, positions, slots, tuple(segments), rows)

    def take_back(self, context: Context, tokens: int) -> None:
        """The last tokens of the last step leave a context."""
        del context.tokens[len(context.tokens) - tokens :]
        self.model.network.recurrence.seek(context.number, len(context.tokens))

    def _appended(self, work: Work) -> range:
        context = work.context
        start = len(context.tokens)
        context.tokens += work.tokens
        while len(context.pages) * self._size < len(context.tokens):
            context.pages.append(self._free.pop())
        return range(start, len(context.tokens))

    def greedy(self, prompts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
        """`count` tokens after each prompt, all decoded together; prompts are prefilled in one step."""
        contexts = [self.context() for _ in prompts]
        logits = self.run([Work(context, prompt) for context, prompt in zip(contexts, prompts, strict=True)])
        for _ in range(count - 1):
            chosen = np.argmax(logits, axis=-1).tolist()
            logits = self.run([Work(context, [token]) for context, token in zip(contexts, chosen, strict=True)])
        for context, token in zip(contexts, np.argmax(logits, axis=-1).tolist(), strict=True):
            context.tokens.append(token)
            self.release(context)
        return [context.tokens[len(prompt) :] for context, prompt in zip(contexts, prompts, strict=True)]

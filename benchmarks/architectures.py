"""How every architecture of the installed mlx-lm runs on the page pool.

    python -m benchmarks.architectures [--write | NAME ...]

Each gets a tiny model with random float32 weights and is compared with mlx-lm's own cache: ragged prefill, contexts at
different offsets, decoding mixed with a chunk of a prompt, a fork that diverges, then greedy decoding of all together.
`--write` records the exact ones in the table that loading consults.
"""

import contextlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx_lm.models.cache import make_prompt_cache

from benchmarks.tiny_models import architectures, tiny_model
from pie_mlx.engine.model import tiers as tiers_module
from pie_mlx.engine.model.blas import use_fast_blas
from pie_mlx.engine.model.paged_network import PagedNetwork
from pie_mlx.engine.model.step import Segment, StepInput
from pie_mlx.engine.model.tiers import REFUSED
from pie_mlx.errors import PieError
from pie_mlx.metal import KvPool, PageMemory
from pie_mlx.metal.arrays import evaluate

TOLERANCE = 1e-4
PAGE_SIZE, PAGES = 16, 64
GREEDY_TOKENS = 16


@dataclass(slots=True)
class Context:
    """Pages and tokens of one sequence."""

    number: int
    pages: list[int] = field(default_factory=list[int])
    tokens: list[int] = field(default_factory=list[int])


class Driver:
    """The least that can run a network: pages by hand, one step at a time."""

    def __init__(self, network: PagedNetwork, dtype: mx.Dtype = mx.float32, pages: int = PAGES) -> None:
        self.network = network
        self.memory = PageMemory(KvPool(network.shapes, pages=pages, page_size=PAGE_SIZE, dtype=dtype))
        # Not in order, so that contexts have to be gathered.
        self._free = [page for pair in zip(range(pages // 2), range(pages // 2, pages), strict=True) for page in pair]
        self._made = 0

    def context(self) -> Context:
        """An empty context."""
        self._made += 1
        return Context(self._made)

    def fork(self, source: Context) -> Context:
        """A copy that shares full pages."""
        child = self.context()
        full, rows = divmod(len(source.tokens), PAGE_SIZE)
        child.pages, child.tokens = source.pages[:full], list(source.tokens)
        if rows:
            child.pages.append(self._free.pop())
            self.memory.pool.copy_pages([(source.pages[full], child.pages[full], rows)])
        self.network.fork(source.number, child.number)
        return child

    def run(self, work: Sequence[tuple[Context, Sequence[int]]]) -> np.ndarray:
        """Append tokens to contexts in one step; the logits after each context's last token, [contexts, vocabulary]."""
        tokens: list[int] = []
        positions: list[int] = []
        slots: list[int] = []
        segments: list[Segment] = []
        for context, new in work:
            start = len(context.tokens)
            context.tokens += new
            while len(context.pages) * PAGE_SIZE < len(context.tokens):
                context.pages.append(self._free.pop())
            segments.append(Segment(context.number, len(tokens), len(new), context.pages, len(context.tokens)))
            tokens += new
            span = range(start, len(context.tokens))
            positions += span
            slots += [context.pages[slot // PAGE_SIZE] * PAGE_SIZE + slot % PAGE_SIZE for slot in span]
        rows = [segment.start + segment.count - 1 for segment in segments]
        logits = self.network.forward(StepInput(tokens, positions, slots, tuple(segments), rows), self.memory)
        evaluate(logits, self.memory.arrays(), self.network.states())
        self.network.settle()
        return np.array(logits)


def reference_logits(model: nn.Module, tokens: Sequence[int]) -> np.ndarray:
    """Logits after the last token by mlx-lm's own cache: all but the last token at once, then the last."""
    cache = make_prompt_cache(model)
    if len(tokens) > 1:
        mx.eval(model(mx.array([tokens[:-1]]), cache=cache))
    return np.array(model(mx.array([tokens[-1:]]), cache=cache)[0, -1].astype(mx.float32))


def reference_greedy(model: nn.Module, prompt: Sequence[int], count: int) -> list[int]:
    """Tokens of greedy decoding by mlx-lm's own cache."""
    cache = make_prompt_cache(model)
    logits = model(mx.array([prompt]), cache=cache)
    tokens: list[int] = []
    while len(tokens) < count:
        tokens.append(int(mx.argmax(logits[0, -1]).item()))
        logits = model(mx.array([tokens[-1:]]), cache=cache)
    return tokens


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found for one architecture; `error` is relative to the largest logit."""

    architecture: str
    tier: str
    error: float
    greedy: bool
    reason: str = ""

    @property
    def exact(self) -> bool:
        return not self.reason and self.error <= TOLERANCE


def compare(architecture: str) -> Verdict:
    """Run one architecture both ways."""
    mx.random.seed(7)
    if architecture in REFUSED:
        return Verdict(architecture, "refused", np.nan, False, REFUSED[architecture])
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            model = tiny_model(architecture)
            reference_logits(model, [1, 2, 3])
    except (Exception, SystemExit) as error:
        return Verdict(architecture, "-", np.nan, False, f"mlx-lm itself: {_line(error)}")
    try:
        network = PagedNetwork(model, architecture)
    except PieError as error:
        return Verdict(architecture, "refused", np.nan, False, _line(error))
    try:
        error, greedy = _parity(model, network)
    except Exception as failure:
        return Verdict(architecture, network.tier, np.nan, False, f"fails: {_line(failure)}")
    return Verdict(architecture, network.tier, error, greedy)


def _parity(model: nn.Module, network: PagedNetwork) -> tuple[float, bool]:
    random = np.random.default_rng(0)
    short, long, middle = (random.integers(0, network.vocabulary_size, size).tolist() for size in (5, 37, 20))
    driver = Driver(network)
    a, b, c = driver.context(), driver.context(), driver.context()
    errors: list[float] = []

    def step(work: Sequence[tuple[Context, Sequence[int]]]) -> np.ndarray:
        logits = driver.run(work)
        for row, (context, _) in zip(logits, work, strict=True):
            expected = reference_logits(model, context.tokens)
            errors.append(float(np.max(np.abs(row - expected)) / np.max(np.abs(expected))))
        return logits

    step([(a, short), (b, long[:23])])
    step([(b, long[23:]), (a, [7]), (c, middle)])
    d = driver.fork(b)
    contexts = [d, a, b, c]
    step([(d, [3]), (a, [1]), (b, [2]), (c, [4])])
    logits = step([(context, [9]) for context in contexts])
    prompts = [list(context.tokens) for context in contexts]
    for _ in range(GREEDY_TOKENS):
        chosen = np.argmax(logits, axis=-1).tolist()
        logits = driver.run([(context, [token]) for context, token in zip(contexts, chosen, strict=True)])
    greedy = all(
        context.tokens[len(prompt) :] == reference_greedy(model, prompt, GREEDY_TOKENS)
        for context, prompt in zip(contexts, prompts, strict=True)
    )
    return max(errors), greedy


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:160]
    return text if isinstance(error, PieError) else f"{type(error).__name__}: {text}"


def main(names: Sequence[str]) -> None:
    """Print one line per architecture and the count."""
    print(f"float32, {use_fast_blas()}, mlx {mx.__version__}")
    print(f"{'architecture':24} {'tier':14} {'max error':>10}  greedy")
    write = list(names) == ["--write"]
    verdicts = [_reported(compare(name)) for name in (architectures() if write else names or architectures())]
    exact = [verdict.architecture for verdict in verdicts if verdict.exact]
    print(f"{len(exact)} of {len(verdicts)} exact (relative error at most {TOLERANCE:g})")

    if write:
        _record(verdicts)


def _record(verdicts: Sequence[Verdict]) -> None:
    tiers: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.exact and verdict.greedy:
            tiers.setdefault(verdict.tier, []).append(verdict.architecture)
    table = {"mlx_lm": metadata.version("mlx-lm"), "tiers": tiers}
    Path(tiers_module.__file__).with_name("verified.json").write_text(json.dumps(table, indent=1) + "\n")


def _reported(verdict: Verdict) -> Verdict:
    result = verdict.reason or f"{verdict.error:10.1e}  {'equal' if verdict.greedy else 'differ'}"
    print(f"{verdict.architecture:24} {verdict.tier:14} {result}", flush=True)
    return verdict


if __name__ == "__main__":
    main(sys.argv[1:])

"""How every architecture of the installed mlx-lm runs on the page pool.

    python -m benchmarks.architectures [--write | NAME ...]

Each gets a tiny model with random float32 weights and is compared with mlx-lm's own cache: ragged prefill, contexts at
different offsets, decoding mixed with a chunk of a prompt and with a prompt of one token, a fork that diverges, then
greedy decoding of all together.
`--write` records the exact ones in the table that loading consults.
"""

import contextlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import cast

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx_lm.models.cache import make_prompt_cache

from benchmarks.driving import Driver, Work, without_files
from benchmarks.tiny_models import architectures, tiny_model
from pie_mlx.backends import current_backend
from pie_mlx.engine.model.networks import tiers as tiers_module
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.networks.tiers import REFUSED
from pie_mlx.errors import PieError

SMOKE = ("llama", "mamba")
TOLERANCE = 1e-4
PAGE_SIZE, PAGES = 16, 64
GREEDY_TOKENS = 16


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
        tokens.append(cast("int", mx.argmax(logits[0, -1]).item()))
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
    recurrent: bool = False

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
    except LookupError as error:
        return Verdict(architecture, "-", np.nan, False, f"no tiny configuration: {_line(error)}")
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
    return Verdict(architecture, network.tier, error, greedy, recurrent=network.recurrent)


def _parity(model: nn.Module, network: PagedNetwork) -> tuple[float, bool]:
    random = np.random.default_rng(0)
    short, long, middle = (random.integers(0, network.vocabulary_size, size).tolist() for size in (5, 37, 20))
    loaded = without_files(network)
    loaded.allocate(pages=PAGES, page_size=PAGE_SIZE)
    driver = Driver(loaded)
    a, b, c = driver.context(), driver.context(), driver.context()
    errors: list[float] = []

    def step(*works: Work) -> None:
        for row, work in zip(driver.run(works), works, strict=True):
            expected = reference_logits(model, work.context.tokens)
            errors.append(float(np.max(np.abs(row - expected)) / np.max(np.abs(expected))))

    step(Work(a, short), Work(b, long[:23]))
    step(Work(b, long[23:]), Work(a, [7]), Work(c, middle))
    d = driver.fork(b)
    step(Work(d, [3]), Work(a, [1]), Work(b, [2]), Work(c, [4]))
    step(*(Work(context, [9]) for context in (d, a, b, c)), Work(driver.context(), [8]))
    prompts = [context.tokens for context in (d, a, b, c)]
    decoded = driver.greedy(prompts, GREEDY_TOKENS)
    expected = [reference_greedy(model, prompt, GREEDY_TOKENS) for prompt in prompts]
    return max(errors), decoded == expected


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:160]
    return text if isinstance(error, PieError) else f"{type(error).__name__}: {text}"


def main(words: Sequence[str] | None = None) -> None:
    """Print one line per architecture and the count."""
    names = sys.argv[1:] if words is None else words
    print(f"float32, {current_backend().prepare()}, mlx {metadata.version('mlx')}")
    print(f"{'architecture':24} {'tier':14} {'max error':>10}  greedy")
    write = list(names) == ["--write"]
    verdicts = [_reported(compare(name)) for name in (architectures() if write else names or architectures())]
    exact = [verdict.architecture for verdict in verdicts if verdict.exact]
    print(f"{len(exact)} of {len(verdicts)} exact (relative error at most {TOLERANCE:g})")

    if write:
        _record(verdicts)


def _record(verdicts: Sequence[Verdict]) -> None:
    exact = [verdict for verdict in verdicts if verdict.exact and verdict.greedy]
    recurrent = [verdict.architecture for verdict in exact if verdict.recurrent]
    tiers: dict[str, list[str]] = {}
    for verdict in exact:
        tiers.setdefault(verdict.tier, []).append(verdict.architecture)
    table = {"mlx_lm": metadata.version("mlx-lm"), "recurrent": recurrent, "tiers": tiers}
    Path(tiers_module.__file__).with_name("verified.json").write_text(json.dumps(table, indent=1) + "\n")


def _reported(verdict: Verdict) -> Verdict:
    result = verdict.reason or f"{verdict.error:10.1e}  {'equal' if verdict.greedy else 'differ'}"
    print(f"{verdict.architecture:24} {verdict.tier:14} {result}", flush=True)
    return verdict


if __name__ == "__main__":
    main()

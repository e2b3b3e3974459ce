"""mlx-lm on the same weights, used as in its own documentation."""

import copy
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.engine.model.mlx_lm.modules import Module, load_weights, make_prompt_cache, parameters_of
from pie_mlx.engine.model.mlx_lm.weights import cast_weights
from pie_mlx.metal.arrays import evaluate, to_host

_generate = cast("Any", import_module("mlx_lm.generate"))
_sample_utils = cast("Any", import_module("mlx_lm.sample_utils"))

Tokens = Sequence[int]
Caches = list[Any]
"""mlx-lm's caches of one sequence, by layer."""

_make_sampler = cast("Callable[..., Callable[[mx.array], mx.array]]", _sample_utils.make_sampler)


class MlxLm:
    """One loaded model. Everything runs on the calling thread."""

    def __init__(self, directory: Path, dtype: str | None = None) -> None:
        """`dtype` casts the weights as the engine casts its own; None leaves them as mlx-lm loads them."""
        self.model: Module = load_weights(directory)[0]
        if dtype is not None:
            cast_weights(self.model, dtype, _ignore)
        self.dtype = _dtype_of(self.model)

    def last_logits(self, tokens: Tokens) -> npt.NDArray[np.float32]:
        """Logits [vocabulary] after the last token."""
        return to_host(self.model(mx.array([list(tokens)]))[0, -1].astype(mx.float32))

    def stream(self, tokens: Tokens, new_tokens: int) -> float:
        """Decode tokens per second of one stream, the loop inside `stream_generate`, without detokenising."""
        steps = self._steps(tokens, new_tokens)
        next(steps)
        started = time.perf_counter()
        count = sum(1 for _ in steps)
        return count / (time.perf_counter() - started)

    def batch(self, prompts: Sequence[Tokens], new_tokens: int) -> tuple[float, int]:
        """Seconds for all prompts with `new_tokens` each, prefill included, and the KV bytes at the end."""
        started = time.perf_counter()
        kv_bytes = 0
        for generator, _ in self._responses(prompts, new_tokens, None, None):
            kv_bytes = max(kv_bytes, _cache_bytes(generator))
        return time.perf_counter() - started, kv_bytes

    def first_token(self, tokens: Tokens) -> float:
        """Seconds to the first token of a prompt, without a cache: mlx-lm keeps none unless the caller does."""
        started = time.perf_counter()
        next(self._steps(tokens, 1))
        return time.perf_counter() - started

    def continuations(self, root: Tokens, tails: Sequence[Tokens], new_tokens: int) -> float:
        """Seconds for continuations of one prompt, computed once, with its cache copied by hand."""
        started = time.perf_counter()
        caches = self._copies(root, len(tails))
        for _ in self._responses(tails, new_tokens, caches, None):
            pass
        return time.perf_counter() - started

    def best_of(self, tokens: Tokens, candidates: int, new_tokens: int) -> float:
        """Seconds for drawing `candidates` answers to one prompt, its cache copied by hand, and scoring each."""
        started = time.perf_counter()
        caches = self._copies(tokens[:-1], candidates)
        samplers = [_make_sampler(temp=1.0)] * candidates
        scores: dict[int, float] = {}
        for _, responses in self._responses([tokens[-1:]] * candidates, new_tokens, caches, samplers):
            for response in responses:
                drawn = float(response.logprobs[response.token].item())
                scores[response.uid] = scores.get(response.uid, 0.0) + drawn
        max(scores, key=scores.__getitem__)
        return time.perf_counter() - started

    def agent(self, task: Tokens, observations: Sequence[Tokens], new_tokens: int) -> float:
        """Seconds for turns of one agent whose cache is kept from turn to turn."""
        cache = make_prompt_cache(self.model)
        started = time.perf_counter()
        said = list(self._steps(task, new_tokens, cache))
        for observation in observations:
            # The last token of a turn is not in the cache yet.
            said = list(self._steps([said[-1], *observation], new_tokens, cache))
        return time.perf_counter() - started

    def _steps(self, tokens: Tokens, new_tokens: int, cache: Caches | None = None) -> Iterator[int]:
        steps = _generate.generate_step(mx.array(list(tokens)), self.model, max_tokens=new_tokens, prompt_cache=cache)
        for token, _ in steps:
            yield int(token)

    def _copies(self, tokens: Tokens, count: int) -> list[Caches]:
        cache = make_prompt_cache(self.model)
        evaluate(self.model(mx.array([list(tokens)]), cache=cache), [layer.state for layer in cache])
        return [copy.deepcopy(cache) for _ in range(count)]

    def _responses(
        self,
        prompts: Sequence[Tokens],
        new_tokens: int,
        caches: Sequence[Caches] | None,
        samplers: Sequence[Callable[[mx.array], mx.array]] | None,
    ) -> Iterator[tuple[Any, list[Any]]]:
        """The batch generator and its latest tokens, until every prompt has all of its tokens."""
        generator = _generate.BatchGenerator(self.model, max_tokens=new_tokens, completion_batch_size=len(prompts))
        generator.insert([list(tokens) for tokens in prompts], caches=caches, samplers=samplers)
        done = 0
        while done < len(prompts):
            responses = cast("list[Any]", generator.next_generated())
            done += sum(response.finish_reason is not None for response in responses)
            yield generator, responses
        generator.close()


def _dtype_of(model: Module) -> str:
    """The name of the most common floating dtype of the parameters."""
    counts: Counter[str] = Counter()
    for _, array in parameters_of(model):
        if mx.issubdtype(array.dtype, mx.floating):
            counts[str(array.dtype).rpartition(".")[2]] += array.size
    return counts.most_common(1)[0][0]


def _cache_bytes(generator: Any) -> int:
    """Bytes of K and V, and of the states of recurrent layers, that the generator holds for its running batch."""
    caches = cast("list[Any]", getattr(generator._generation_batch, "prompt_cache", None) or [])
    held = [layer for layer in caches if getattr(layer, "keys", None) is not None or hasattr(layer, "cache")]
    return sum(int(layer.nbytes) for layer in held)


def _ignore(line: str) -> None:
    del line

"""The draft model beside the model it guesses for: whether they fit, and how they share the memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.loading.sharing import over_same_weights
from pie_mlx.engine.model.memory import USUAL_BATCH, BatchSize, MemoryShare, pool_pages
from pie_mlx.engine.settings import UNCHANGED, KvFormat
from pie_mlx.errors import ModelLoadError


@dataclass(frozen=True, slots=True)
class _Together:
    """A model and what guesses for it as one, where memory is concerned."""

    dtype: mx.Dtype
    weight_bytes: int
    maximum_positions: int


def load_draft_model(
    reference: str,
    target: LoadedModel,
    *,
    dtype: str,
    progress: Callable[[str], None],
    allow_download: bool,
    kv: KvFormat = UNCHANGED,
    drafter: LoadedModel | None = None,
) -> LoadedModel:
    """Load the model that guesses for `target`; `reference`, `dtype` and `kv` are as in `load_model`.

    With a `drafter`, which the engine has under that name, its weights are shared and not loaded again. Raises
    ModelNotFoundError, and ModelLoadError also for one that cannot guess for `target`.
    """
    if target.promises.draft:
        raise ModelLoadError(
            f"{target.name}: no draft model can guess for it: it {target.promises.draft}",
            hint="remove draft_model from [model.engine]",
        )
    progress(f"draft model: {reference}")
    if drafter is not None:
        _check_vocabulary(target, drafter)
        return over_same_weights(drafter, reference, kv, progress)
    draft = load_model(reference, name=reference, dtype=dtype, progress=progress, allow_download=allow_download, kv=kv)
    _check_vocabulary(target, draft)
    return draft


def allocate_together(
    target: LoadedModel,
    guessing: Sequence[LoadedModel],
    *,
    pages: int | None,
    page_size: int,
    memory_fraction: float,
    headroom_bytes: int,
    largest_batch: BatchSize = USUAL_BATCH,
    share: MemoryShare | None = None,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Allocate the pools of a model and of what guesses for it with equally many pages, so that every context of one
    has room in the others.

    `pages` None takes what fits of all, in the `share` of the memory. Raises OutOfPagesError, with the numbers.
    """
    models = [target, *guessing]
    if guessing:
        all_of_them = _Together(
            max((model.card.dtype for model in models), key=lambda dtype: dtype.size),
            sum(model.card.weight_bytes for model in models),
            target.maximum_positions,
        )
        layers = [layer for model in models for layer in model.layers]
        step_bytes = sum(model.transients.step_bytes(largest_batch) for model in models)
        taken_bytes = headroom_bytes + target.kept_state_bytes
        pages = pool_pages(all_of_them, layers, pages, page_size, memory_fraction, taken_bytes, step_bytes, share=share)
    for model in models:
        model.allocate(
            pages=pages,
            page_size=page_size,
            memory_fraction=memory_fraction,
            headroom_bytes=headroom_bytes,
            largest_batch=largest_batch,
            share=share,
            progress=progress,
        )


def _check_vocabulary(target: LoadedModel, draft: LoadedModel) -> None:
    wanted, found = target.tokenizer.get_vocab(), draft.tokenizer.get_vocab()
    if wanted == found:
        return
    differing = sum(found.get(text) != token for text, token in wanted.items())
    raise ModelLoadError(
        f"draft model {draft.name}: its vocabulary is not that of {target.name}: {len(found):,} tokens instead of "
        f"{len(wanted):,}, {differing:,} of these differ",
        hint="choose a smaller model of the same family, with the same tokenizer",
    )

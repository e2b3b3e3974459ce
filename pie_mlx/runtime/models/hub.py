"""Models of MLX weights on huggingface.co, searched at a user's request."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from pie_mlx.engine.model.loading.sources import one_line
from pie_mlx.errors import ModelNotFoundError


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repo, and how often it was downloaded in the last month."""

    repo: str
    downloads: int


def search_hub(words: str, *, limit: int) -> list[HubModel]:
    """The most downloaded repos of MLX weights whose names have the words. Raises ModelNotFoundError."""
    import huggingface_hub

    list_models = cast("Callable[..., Iterable[Any]]", getattr(huggingface_hub, "list_models"))  # noqa: B009 - its stub lacks types
    try:
        found = list(list_models(search=words or None, filter="mlx", sort="downloads", limit=limit))
    except OSError as error:  # of the connection, and of the hub itself
        raise ModelNotFoundError(
            f"model: huggingface.co could not be searched: {one_line(error)}",
            hint="check the connection, and unset HF_HUB_OFFLINE; without --online only this disk is searched",
        ) from error
    return [HubModel(str(one.id), int(one.downloads or 0)) for one in found]

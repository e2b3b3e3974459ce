"""Downloads a model into the Hugging Face cache, at a user's request."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from pie_mlx.engine.model.loading.sources import EMBEDDED, no_repo_id, not_downloaded, patterns_of
from pie_mlx.errors import ModelNotFoundError


def download_model(repo: str, *, everything: bool = False, offline: bool = False, bars: bool = False) -> Path:
    """The directory of a model, complete and up to date; `offline` uses the cache and never connects.

    Downloads configuration, tokenizer and safetensors, the GGUF file of a `repo:QUANT`, or `everything`. A download
    that was cut short goes on where it ended. `bars` shows progress on standard error.
    Raises ModelNotFoundError.
    """
    if (EMBEDDED / repo / "config.json").is_file():
        return EMBEDDED / repo
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    from huggingface_hub.utils import disable_progress_bars

    snapshot_download = cast("Callable[..., str]", getattr(huggingface_hub, "snapshot_download"))  # noqa: B009 - its stub lacks types
    if not bars:
        disable_progress_bars()
    repo, _, quantization = repo.partition(":")
    patterns = None if everything else patterns_of(quantization)
    try:
        return Path(snapshot_download(repo, allow_patterns=patterns, local_files_only=offline))
    except HFValidationError as error:
        raise no_repo_id(repo, error) from None
    except LocalEntryNotFoundError as error:
        if offline:
            raise _missing_offline(repo) from None
        raise not_downloaded(repo, error) from error
    except (HfHubHTTPError, OSError) as error:
        raise not_downloaded(repo, error) from error


def _missing_offline(repo: str) -> ModelNotFoundError:
    return ModelNotFoundError(
        f"model: {repo} could not be downloaded: working offline, and it is not in the cache",
        hint="leave out --offline, and unset HF_HUB_OFFLINE",
    )

"""Settings every test shares."""

import functools
import gc
import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("ci", deadline=None, max_examples=50)
settings.register_profile("fuzz", deadline=None, max_examples=int(os.environ.get("PIE_FUZZ_EXAMPLES", "1000")))
settings.load_profile("ci")


@pytest.fixture(scope="session")
def tiny_model_directory(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Directory of a tiny random model of an architecture, made once per session."""
    from tests.models import write_tiny_model  # after the environment is set, and only where a model is wanted

    root = tmp_path_factory.mktemp("models")
    return functools.cache(lambda architecture: write_tiny_model(root / architecture, architecture))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, None, None]:
    """Keeps the garbage collector from walking what is imported here, now and at every test that collects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()

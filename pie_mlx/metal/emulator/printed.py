"""MLX's own generated source, captured from its output while a function is traced."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

import os
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mlx.core as mx

_OPENING = "Generated source code for `"


@contextmanager
def _standard_output_to(path: Path) -> Generator[None]:
    """Redirects file descriptor 1 to a file: MLX prints from C++, below Python's sys.stdout."""
    sys.stdout.flush()
    saved = os.dup(1)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.dup2(target, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(target)


def printed_sources(function: Callable[..., Any], arguments: Sequence[mx.array]) -> list[str]:
    """The sources of all `verbose=True` kernel calls of `function`, in order.

    Traces with `mx.export_function`, so it needs no Metal device and computes nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "printed"
        with _standard_output_to(output):
            mx.export_function(str(Path(folder) / "trace.mlxfn"), function, *arguments)
        text = output.read_text()
    blocks = text.split(_OPENING)[1:]
    return [block.split("```\n", 1)[1].rsplit("\n```", 1)[0] for block in blocks]

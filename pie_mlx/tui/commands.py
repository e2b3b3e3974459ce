"""The `pie` commands equivalent to keys, to copy into a shell."""

import json
import shlex
from typing import Any


def kill(process: str) -> str:
    return f"pie kill {process[:8]}"


def logs(process: str) -> str:
    return f"pie logs {process[:8]}"


def attach(process: str) -> str:
    return f"pie attach {process[:8]}"


def run(program: str, input: dict[str, Any], token_budget: int | None) -> str:
    """`pie run` of an installed program."""
    words = ["pie", "run", program]
    if token_budget is not None:
        words += ["--token-budget", str(token_budget)]
    if input:
        words += ["--input", json.dumps(input, ensure_ascii=False)]
    return shlex.join(words)

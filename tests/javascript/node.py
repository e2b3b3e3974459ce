"""Runs modules of the package in Node."""

import subprocess
from pathlib import Path

import pie_mlx
from pie_mlx.runtime.javascript.node import find_node

JAVASCRIPT = Path(pie_mlx.__file__).parent / "javascript"


def start_node(code: str, *arguments: str, **options: object) -> "subprocess.Popen[bytes]":
    """A process that executes `code`, a module, in which `javascript` is a function from paths below the package's
    folder to what to import."""
    prelude = f"const javascript = (path) => import({JAVASCRIPT.as_uri()!r} + '/' + path);\n"
    return subprocess.Popen(
        [find_node().path, "--input-type=module", "--eval", prelude + code, "--", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        **options,  # pyright: ignore[reportArgumentType, reportCallIssue]
    )

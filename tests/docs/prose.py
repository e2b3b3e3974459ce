"""What people read in the sources: comments and docstrings."""

import ast
import io
import tokenize
from collections.abc import Iterator


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Comments and docstrings of a Python file, each with its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value

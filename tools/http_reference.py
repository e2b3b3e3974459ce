"""The fields of the HTTP interfaces, read from the program that answers them."""

import importlib
import json
from collections.abc import Iterator
from typing import Any

from pie_mlx.runtime.daemon import builtin_program
from pie_mlx.runtime.program.modules import ModuleSpace

BODIES = {
    "/v1/chat/completions": "fields.ChatRequest",
    "/v1/completions": "fields.CompletionRequest",
    "/v1/embeddings": "embeddings.EmbeddingRequest",
    "/v1/responses": "responses.ResponseRequest",
    "/v1/messages": "messages.MessageRequest",
    "/api/chat": "ollama.ChatRequest",
    "/api/generate": "ollama.GenerateRequest",
    "`options` of /api": "ollama.Options",
    "/v1/rerank": "reranking.RerankRequest",
    "/api/embed": "embeddings.EmbedRequest",
}


def http_lines() -> Iterator[str]:
    """What becomes of each field, by endpoint."""
    yield "What becomes of the fields of a request; the [guide](../guide/serving.md#openais-interface) says what"
    yield "they do. Hints may be left out: the header `x-pie-left-out` of the answer names them. Labels are accepted"
    yield "and have no effect. Fields that are accepted only as they ask for nothing are refused by name with other"
    yield "values, and so is every field that is not here. Clearing of thoughts by `context_management` of /v1/messages"
    yield "is a hint."
    space = ModuleSpace(builtin_program("openai"))
    try:
        for endpoint, place in BODIES.items():
            module, _, name = place.partition(".")
            yield from _endpoint(endpoint, getattr(importlib.import_module(f"{space.package}.{module}"), name))
    finally:
        space.close()


def _endpoint(endpoint: str, kind: Any) -> Iterator[str]:
    fields = set(kind.__struct_fields__)
    labels, neutral = getattr(kind, "LABELS", frozenset[str]()) - fields, getattr(kind, "NEUTRAL", {})
    yield f"\n## {endpoint}\n\n| | fields |\n|---|---|"
    yield f"| read | {_listed(fields)} |"
    if hints := kind.HINTS - fields:
        yield f"| hints | {_listed(hints)} |"
    if labels:
        yield f"| labels | {_listed(labels)} |"
    if asking := {name: values for name, values in neutral.items() if name not in kind.HINTS}:
        texts = (f"`{name}`: {_values(asking[name])}" for name in sorted(asking))
        yield f"| only as they ask for nothing | {'; '.join(texts)} |"


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _values(values: Any) -> str:
    """The values that ask for nothing; null always does."""
    given = values if isinstance(values, tuple) else (values,)
    return " or ".join(f"`{json.dumps(value)}`" for value in given or (None,))

"""/v1/rerank, as Jina, Cohere and vLLM have it: documents in the order in which they answer a query."""

import asyncio
from typing import Annotated

import msgspec
from embeddings import answered, check_count
from fields import Whole
from msgspec import Meta
from prompts import load_model
from wire import Body, Strict, identifier, read_body

_encode = msgspec.json.Encoder().encode


class Document(Strict):
    text: str


class RerankRequest(Body, kw_only=True):
    """Documents that are too long are cut at their end, unless `truncate` is false. `instruction` is for models that
    judge, like Qwen3-Reranker."""

    model: str
    query: str
    documents: Annotated[list[str | Document], Meta(min_length=1)]
    top_n: Whole | None = None
    return_documents: bool = True
    instruction: str | None = None
    truncate: bool = True


async def answer(body):
    """/v1/rerank. Raises Refusal, and the engine's errors."""
    request = await read_body(body, RerankRequest)
    model = await asyncio.to_thread(load_model, request.model)
    texts = [one if isinstance(one, str) else one.text for one in request.documents]
    check_count(texts, "documents")
    ranking = await model.rerank(
        request.query, texts, top_n=request.top_n, instruction=request.instruction, truncate=request.truncate
    )
    count = sum(ranking.token_counts)

    def written():
        usage = {"prompt_tokens": count, "total_tokens": count}
        results = [_result(request, texts, one) for one in ranking]
        return _encode({"id": identifier("rerank"), "model": model.name, "results": results, "usage": usage})

    return await answered(request, written, count)


def _result(request, texts, ranked):
    found = {"index": ranked.index, "relevance_score": ranked.score}
    return {**found, "document": {"text": texts[ranked.index]}} if request.return_documents else found

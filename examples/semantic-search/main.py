"""Semantic search: texts are found by what they mean, and the model answers from the best ones.

Any model does, one that was trained for vectors better. An encoder finds the texts and writes no answer.

    pie run examples/semantic-search
"""

from typing import Any

from inferlet import Context, Embeddings, Model, Sampler, runtime, session


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    question, texts = input["question"], input["texts"]
    vectors = await model.embed([question, *texts], truncate=True)
    found = [texts[place] for place in nearest(vectors)[: input["passages"]]]
    for text in found:
        session.send(f"found: {text}\n")
    return await answer(model, question, found) if model.info.generates else found[0]


def nearest(vectors: Embeddings) -> list[int]:
    """The places of the other vectors, by their angle to the first one."""
    asked, *others = vectors
    scores = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in others]
    return sorted(range(len(others)), key=lambda place: -scores[place])


async def answer(model: Model, question: str, texts: list[str]) -> str:
    with Context(model) as context:
        context.user("\n".join([*texts, question]))
        return await context.generate(Sampler.argmax(), max_tokens=32).collect_text()

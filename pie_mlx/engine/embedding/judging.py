"""Models that judge documents: a decoder says yes or no of each, in the words of Qwen3-Reranker (Zhang et al. 2025)."""

import math
from collections.abc import Generator, Sequence

from pie_mlx.engine.embedding.reader import TextReader
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer

INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
_BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_BEHIND = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
_NAMED = "rerank"


def judges_of(name: str, tokenizer: Tokenizer, told: tuple[int, int] | None) -> tuple[int, int] | None:
    """The tokens for yes and no of a model that was made to judge: its files tell them, or its name says so."""
    if told is not None:
        return told
    if _NAMED not in name.lower():
        return None
    yes, no = tokenizer.encode("yes"), tokenizer.encode("no")
    return (yes[0], no[0]) if len(yes) == len(no) == 1 else None


def judged_texts(
    reader: TextReader, query: str, documents: Sequence[str], instruction: str | None, *, truncates: bool
) -> Generator[int, None, list[list[int]]]:
    """The tokens that the model reads for each document. Raises InvalidArgumentError, ContextLengthError."""
    before, behind = reader.tokenizer.encode(_BEFORE), reader.tokenizer.encode(_BEHIND)
    asked = f"<Instruct>: {instruction or INSTRUCTION}\n<Query>: {query}\n<Document>: "
    room = reader.longest - len(before) - len(behind)
    found: list[list[int]] = []
    for place, document in enumerate(documents):
        tokens = yield from reader.fitted(asked + document, room, place, truncates=truncates, plain=True)
        found.append([*before, *tokens, *behind])
        yield len(found)
    return found


def certainty(yes: float, no: float) -> float:
    """The probability of yes where only these two can be said, from their log-probabilities."""
    return 1 / (1 + math.exp(min(no - yes, 700.0)))

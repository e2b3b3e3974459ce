"""Models and their tokenizers."""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, get_args

from inferlet._calls.checks import checked_text, integer, integers, number, token_limit, token_list
from inferlet._calls.host import HostLink, current_host
from inferlet.embedding import Embeddings, Ranking
from pie_mlx.calls import (
    Decode,
    Embed,
    Encode,
    LoadModel,
    ModelInfo,
    Pooling,
    ReadSplitRegex,
    ReadVocabulary,
    Rerank,
    Vocabulary,
)
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError


class Tokenizer:
    """The tokenizer of a model."""

    def __init__(self, model_name: str, host: HostLink) -> None:
        self.model_name = model_name
        self.host = host

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        """Text to token ids; special tokens written in the text are recognised. With `begins` the text begins a
        sequence: the tokens come first that the tokenizer puts before a text, such as BOS, unless the text has them
        itself. None are added otherwise."""
        return self.host.call(Encode(self.model_name, checked_text(text, "encode"), begins))

    def decode(self, tokens: Iterable[int]) -> str:
        """Token ids to text, special tokens kept. Raises InvalidArgumentError for an id outside the vocabulary."""
        return self.host.call(Decode(self.model_name, integers(tokens, "tokens")))

    def vocabs(self) -> tuple[list[int], list[bytes]]:
        """The whole vocabulary: token ids and the bytes each stands for, as parallel lists."""
        return _lists(self.host.call(ReadVocabulary(self.model_name)))

    def special_tokens(self) -> tuple[list[int], list[bytes]]:
        """The special tokens: ids and texts, as parallel lists."""
        return _lists(self.host.call(ReadVocabulary(self.model_name, special_only=True)))

    def split_regex(self) -> str:
        """The regular expression of the pre-tokenisation, "" if there is none."""
        return self.host.call(ReadSplitRegex(self.model_name))


class Model:
    """A model the engine has loaded. `info` is the engine's description of it, `host` the engine, `template` the
    variables of its chat template as JSON text."""

    def __init__(self, info: ModelInfo, host: HostLink, template: str = "") -> None:
        self.info = info
        self.host = host
        self.template = template

    @classmethod
    def load(cls, name: str, *, template: Mapping[str, Any] | None = None, keep_alive: float | None = None) -> "Model":
        """Bind to a model, which is loaded if it is not in memory. `template` sets variables of its chat template for
        every turn, such as `{"enable_thinking": False}` or `{"reasoning_effort": "high"}`; `template_variables` names
        them. It stays in memory for `keep_alive` seconds without use, forever if they are negative; None leaves that
        as it is.

        Raises ModelNotFoundError listing the models; ModelLoadError where there is no memory for it;
        InvalidArgumentError for a variable the template does not read, listing those it reads; InvalidTypeError for
        values that are not JSON.
        """
        host, variables = current_host(), _variables(template)
        asked = LoadModel(checked_text(name, "model name"), variables, _seconds(keep_alive))
        return cls(host.call(asked), host, variables)

    @property
    def name(self) -> str:
        """The name it was loaded under."""
        return self.info.name

    @property
    def template_variables(self) -> list[str]:
        """The variables its chat template reads besides the conversation, sorted."""
        return list(self.info.template_variables)

    @property
    def has_chat_template(self) -> bool:
        """Whether it has a chat template of its own. Turns are written as ChatML where it has none, which a base model
        was not trained on."""
        return self.info.has_chat_template

    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        return Tokenizer(self.info.name, self.host)

    def default_system_speculation(self) -> bool:
        """Whether the engine drafts for a Generator that does not say: it never does."""
        return False

    async def embed(
        self,
        texts: Iterable[str | Iterable[int]],
        *,
        prompt: str | None = None,
        prompt_name: str | None = None,
        dimensions: int | None = None,
        truncate: bool = False,
        pooling: Pooling | None = None,
        normalize: bool | None = None,
    ) -> Embeddings:
        """A vector for each text, made as the model was trained for: see `info.embedding`. Texts are batched with
        everything else.

        `prompt` stands before each text, or one of the model's prompts by its `prompt_name`. Vectors have their first
        `dimensions` values only, which is sensible for models trained so. With `truncate` texts that are too long are
        cut at their end. `pooling` makes the vector of a text in another way: of its first (`cls`) or `last` hidden
        state, of their `mean` or `max`; `normalize` says whether its length is 1.

        A text may be given as its tokens: these are taken as they are, without a prompt and without the special tokens
        of the tokenizer. Raises InvalidArgumentError for a text without tokens, for a cross-encoder and for a model
        whose hidden states cannot be read, ContextLengthError for a text that is too long.
        """
        from inferlet._calls.embedding import embedded  # it loads asyncio

        if isinstance(texts, str):
            raise InvalidTypeError("embed: got str", hint="pass a list of texts")
        make = partial(
            Embed,
            self.name,
            prompt=None if prompt is None else checked_text(prompt, "prompt"),
            prompt_name=None if prompt_name is None else checked_text(prompt_name, "prompt_name"),
            dimensions=0 if dimensions is None else _dimensions(dimensions),
            truncate=bool(truncate),
            pooling=_pooling(pooling),
            normalize=normalize,
        )
        return Embeddings(*await embedded(self.host, [self._given(text) for text in texts], make))

    async def rerank(
        self,
        query: str,
        documents: Iterable[str],
        *,
        top_n: int | None = None,
        instruction: str | None = None,
        truncate: bool = False,
    ) -> Ranking:
        """The documents in the order in which they answer the query, the best one first; of them the `top_n`.

        A cross-encoder scores query and document together, a reranker like Qwen3-Reranker judges them, and any other
        model compares their vectors: see `info.embedding.reranking`. `instruction` tells one that judges what to look
        for. With `truncate` documents that are too long are cut at their end. Raises as `embed`.
        """
        from inferlet._calls.embedding import relevances  # it loads asyncio

        if isinstance(documents, str):
            raise InvalidTypeError("rerank: got str", hint="pass a list of documents")
        make = partial(
            Rerank,
            self.name,
            checked_text(query, "query"),
            instruction=None if instruction is None else checked_text(instruction, "instruction"),
            truncate=bool(truncate),
        )
        texts, most = [checked_text(one, "rerank") for one in documents], token_limit("top_n", top_n)
        ranked, tokens = await relevances(self.host, texts, make)
        return Ranking(ranked[:most], tokens)

    def _given(self, text: str | Iterable[int]) -> str | list[int]:
        if isinstance(text, str):
            return checked_text(text, "embed")
        return token_list(integers(text, "embed"), self.info.vocabulary_size)

    def __repr__(self) -> str:
        return f"Model({self.info.name!r})"


def _seconds(keep_alive: float | None) -> float | None:
    return None if keep_alive is None else number(keep_alive, "keep_alive")


def _pooling(name: Pooling | None) -> Pooling | None:
    if name is not None and name not in get_args(Pooling):
        raise InvalidArgumentError(f"embed: pooling {name!r}", hint="use 'mean', 'last', 'cls' or 'max'")
    return name


def _dimensions(count: int) -> int:
    found = integer(count, "dimensions")
    if found < 1:
        raise InvalidArgumentError(f"embed: dimensions: {found}", hint="ask for 1 or more")
    return found


def checked_model(model: object) -> Model:
    """The model itself. Raises InvalidTypeError for anything else."""
    if not isinstance(model, Model):
        current_host()  # without an engine there are no models: that is the error to mend
        raise InvalidTypeError(f"model: got {type(model).__name__}", hint="pass what Model.load(name) returns")
    return model


def _variables(template: Mapping[str, Any] | None) -> str:
    """JSON text, the same for equal variables."""
    if not template:
        return ""
    try:
        return json.dumps(dict(template), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTypeError(f"template: {error}", hint="pass names with JSON values") from None


def _lists(vocabulary: Vocabulary) -> tuple[list[int], list[bytes]]:
    # Copies: inside the engine's interpreter these are its own lists.
    return list(vocabulary.token_ids), list(vocabulary.tokens)

"""Models and their tokenizers."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from inferlet._calls.checks import checked_text, integers, token_list
from inferlet._calls.host import HostLink, current_host
from pie_mlx.calls import (
    Decode,
    Encode,
    LoadModel,
    ModelInfo,
    ReadSplitRegex,
    ReadVocabulary,
    Vocabulary,
)
from pie_mlx.errors import InvalidTypeError

Pooling = Literal["mean", "last"]


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
    def load(cls, name: str, *, template: Mapping[str, Any] | None = None) -> "Model":
        """Bind to a loaded model. `template` sets variables of its chat template for every turn, such as
        `{"enable_thinking": False}` or `{"reasoning_effort": "high"}`; `template_variables` names them.

        Raises ModelNotFoundError listing the loaded models; InvalidArgumentError for a variable the template does not
        read, listing those it reads; InvalidTypeError for values that are not JSON.
        """
        host, variables = current_host(), _variables(template)
        return cls(host.call(LoadModel(checked_text(name, "model name"), variables)), host, variables)

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
        self, texts: Iterable[str | Iterable[int]], *, pooling: Pooling = "mean", normalize: bool = True
    ) -> list[list[float]]:
        """A vector for each text, as long as the model is wide: the mean of the final hidden states of its tokens, or
        with `last` that of its last token; `normalize` to length 1. Texts are batched with everything else.

        Texts are tokenised as they are, without a template, or given as their tokens. Raises InvalidArgumentError for a
        text without tokens and for a model whose hidden states cannot be read, ContextLengthError for one that is too
        long.
        """
        from inferlet._calls.embedding import embedded  # it loads asyncio

        if isinstance(texts, str):
            raise InvalidTypeError("embed: got str", hint="pass a list of texts")
        tokens = [self._tokens(text) for text in texts]
        return await embedded(self.host, self.name, tokens, pooling, normalize=normalize)

    def _tokens(self, text: str | Iterable[int]) -> list[int]:
        if isinstance(text, str):
            return self.tokenizer().encode(checked_text(text, "embed"))
        return token_list(integers(text, "embed"), self.info.vocabulary_size)

    def __repr__(self) -> str:
        return f"Model({self.info.name!r})"


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

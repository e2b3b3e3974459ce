"""The runtime and its models: descriptions, vocabulary, text to tokens and back, and to vectors."""

from typing import Literal

from pie_mlx.calls.base import Call, Record

Pooling = Literal["mean", "last", "cls", "max"]
Reranking = Literal["scores", "judges", "compares"]


class RuntimeInfo(Record, frozen=True):
    """Facts of the runtime of this inferlet. Of its `models` those `loaded` are in memory now; those `loading` are on
    their way there, by name and alias, with the part of their weights that is there, from 0 to 1."""

    version: str
    instance_id: str
    username: str
    models: list[str]
    process_id: str = ""
    loaded: list[str] = []
    loading: dict[str, float] = {}


class DescribeRuntime(Call[RuntimeInfo], frozen=True):
    """Version, instance, user, model names and process."""


class ModelState(Record, frozen=True):
    """A model that can be loaded. One in memory has contexts of up to `maximum_positions` tokens, 0 otherwise.

    `draft_model` guesses for it. `programs` use it now; unused, it leaves in `expires_in_seconds`, and `stays` says why
    it does not.
    """

    name: str
    state: Literal["unloaded", "loading", "loaded", "unloading", "failed"]
    aliases: list[str] = []
    draft_model: str = ""
    maximum_positions: int = 0
    programs: int = 0
    stays: str = ""
    expires_in_seconds: float | None = None


class DescribeModels(Call[list[ModelState]], frozen=True):
    """Every model, the engine's default one first. None is loaded for it."""


class ReasoningFormat(Record, frozen=True):
    """How a model marks its reasoning. `opened_by_cue`: the cue itself opens the block, so text starts inside it."""

    opening: str
    closing: str
    opened_by_cue: bool = False


class ToolFormat(Record, frozen=True):
    """How a model marks tool calls: text between one of `openings` and `closing` (empty: to the end of the turn).

    `style` names the family. A whole reply that begins with the character `bare` may be a call too (Llama).
    """

    style: str
    openings: list[str] = []
    closing: str = ""
    bare: str = ""


class Formats(Record, frozen=True):
    """The formats of a model that a decoder must know.

    `control_tokens` are never part of visible text. `channels`: replies are split by header tokens (gpt-oss).
    `answer_opening`: the end of what stands between the cue and the text of a reply, if anything: the closing
    of the reasoning that the cue has opened, or the header of the channel for answers.
    `strips_first_space`: the tokenizer writes a space before a text's first word that does not belong to the text.
    """

    stop_tokens: list[int]
    control_tokens: list[int] = []
    reasoning: ReasoningFormat | None = None
    tools: ToolFormat | None = None
    channels: bool = False
    answer_opening: str = ""
    strips_first_space: bool = False


class EmbeddingFormat(Record, frozen=True):
    """How a model makes vectors of `dimensions` values: of its final hidden states it takes the mean, the `last` one,
    the first one (`cls`) or the largest values (`max`), of length 1 where it `normalizes`.

    A text has at most `maximum_tokens`, those included that the tokenizer puts around it. `prompts` by name are texts
    to put before others, `default_prompt` where none is named. To rerank, a cross-encoder `scores` query and document
    together, a decoder trained for it `judges` them, and any other model `compares` their vectors.
    """

    pooling: Pooling
    normalizes: bool
    dimensions: int
    maximum_tokens: int
    prompts: dict[str, str] = {}
    default_prompt: str = ""
    reranking: Reranking = "compares"


class ModelInfo(Record, frozen=True):
    """A loaded model. `maximum_positions` bounds positions (F4); `vocabulary_size` is the width of a logits row,
    `hidden_size` that of a hidden state, 0 if none can be read. Its chat template reads the variables
    `template_variables`; without a chat template of its own it is given ChatML. Its attention layers have
    `attention_groups` KV heads together, 0 if their scores cannot be read. An encoder makes vectors, and `generates` no
    text."""

    name: str
    vocabulary_size: int
    page_size: int
    maximum_positions: int
    formats: Formats
    hidden_size: int = 0
    template_variables: list[str] = []
    has_chat_template: bool = True
    attention_groups: int = 0
    generates: bool = True
    embedding: EmbeddingFormat | None = None


class LoadModel(Call[ModelInfo], frozen=True):
    """Bind to a loaded model. `template` has variables for its chat template, the JSON text of an object; "" for none.

    It is loaded if it is not in memory, and may then leave after `keep_alive_seconds` without use, never if they are
    negative; None leaves that as it is. Raises ModelNotFoundError, and InvalidArgumentError for variables that the
    template does not read.
    """

    name: str
    template: str = ""
    keep_alive_seconds: float | None = None


class Encode(Call[list[int]], frozen=True):
    """Text to token ids; special tokens in the text are recognised. With `begins` the text begins a sequence: the
    tokens come first that the tokenizer puts before a text, such as BOS, unless the text has them. None are added
    otherwise."""

    model: str
    text: str
    begins: bool = False


class Decode(Call[str], frozen=True):
    """Token ids to text, special tokens kept. Raises InvalidArgumentError for an id outside the vocabulary."""

    model: str
    tokens: list[int]


class Vocabulary(Record, frozen=True):
    """Token ids and their bytes, as parallel lists."""

    token_ids: list[int]
    tokens: list[bytes]


class ReadVocabulary(Call[Vocabulary], frozen=True):
    """The whole vocabulary, or only its special tokens."""

    model: str
    special_only: bool = False


class ReadSplitRegex(Call[str], frozen=True):
    """The regular expression of the tokenizer's pre-tokenisation, "" if it has none."""

    model: str


class Embeddings(Record, frozen=True):
    """Vectors one after the other, float32 in little-endian bytes, each of `dimensions` values; and the tokens of each
    text."""

    vectors: bytes
    dimensions: int
    tokens: list[int]


class Embed(Call[Embeddings], frozen=True):
    """A vector for each text or list of tokens. `pooling`, `normalize` and `prompt` None are those of the model;
    `prompt_name` names one of its prompts. Vectors are cut to the first `dimensions`, 0 for all of them. Texts that are
    too long are cut at their end with `truncate`.

    Tokens are taken as they are, without a prompt and without the tokenizer's own ones around them. Raises
    InvalidArgumentError for a text without tokens, ContextLengthError.
    """

    model: str
    texts: list[str | list[int]]
    prompt: str | None = None
    prompt_name: str | None = None
    pooling: Pooling | None = None
    normalize: bool | None = None
    dimensions: int = 0
    truncate: bool = False


class Relevance(Record, frozen=True):
    """The score of each document, higher is better, and the tokens that were read for it."""

    scores: list[float]
    tokens: list[int]


class Rerank(Call[Relevance], frozen=True):
    """How well each document answers the query. `instruction` tells a model that judges what is looked for. Documents
    that are too long are cut at their end with `truncate`. Raises InvalidArgumentError, ContextLengthError."""

    model: str
    query: str
    documents: list[str]
    instruction: str | None = None
    truncate: bool = False

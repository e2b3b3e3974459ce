"""The runtime and its models: descriptions, vocabulary, text to tokens and back."""

from pie_mlx.calls.base import Call, Record


class RuntimeInfo(Record, frozen=True):
    """Facts of the runtime of this inferlet."""

    version: str
    instance_id: str
    username: str
    models: list[str]
    process_id: str = ""


class DescribeRuntime(Call[RuntimeInfo], frozen=True):
    """Version, instance, user, model names and process."""


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


class ModelInfo(Record, frozen=True):
    """A loaded model. `maximum_positions` bounds positions (F4); `vocabulary_size` is the width of a logits row,
    `hidden_size` that of a hidden state, 0 if none can be read. Its chat template reads the variables
    `template_variables`; without a chat template of its own it is given ChatML. Its attention layers have
    `attention_groups` KV heads together, 0 if their scores cannot be read."""

    name: str
    vocabulary_size: int
    page_size: int
    maximum_positions: int
    formats: Formats
    hidden_size: int = 0
    template_variables: list[str] = []
    has_chat_template: bool = True
    attention_groups: int = 0


class LoadModel(Call[ModelInfo], frozen=True):
    """Bind to a loaded model. `template` has variables for its chat template, the JSON text of an object; "" for none.

    Raises ModelNotFoundError, and InvalidArgumentError for variables that the template does not read.
    """

    name: str
    template: str = ""


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

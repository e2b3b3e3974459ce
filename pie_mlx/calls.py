"""The border between inferlets and the engine: every call an inferlet can make, and every reply.

Only data crosses it. A call is a frozen struct whose type parameter is the type of its reply; both encode as msgpack.
An SDK object knows nothing that the replies did not tell it.
"""

import math
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from pie_mlx.errors import InvalidArgumentError

Reply = TypeVar("Reply")
T = TypeVar("T")

Brle = list[int]
"""Run lengths of a mask, alternating, the first run False (F13). Empty means "no restriction" for logit masks."""

ARGMAX_TEMPERATURE = 1e-5
"""At or below this temperature every sampler is argmax (L2)."""


def _snake_case(class_name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in class_name).lstrip("_")


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value inside calls and replies."""


class Call(msgspec.Struct, Generic[Reply], frozen=True, omit_defaults=True, tag=_snake_case, tag_field="call"):
    """A message to the engine, answered by a `Reply` or by a PieError."""


class Host(Protocol):
    """The engine as an inferlet sees it.

    `call` blocks until the reply is there and serves the synchronous part of the API; `submit` serves what may take
    ticks. Calls that name one context take effect in the order they were made (P3). Both raise the engine's PieError.
    """

    def call(self, message: Call[T]) -> T: ...

    async def submit(self, message: Call[T]) -> T: ...


# Samplers and probes: what is read from a row of logits.


class Read(msgspec.Struct, frozen=True, omit_defaults=True, tag=_snake_case, tag_field="read"):
    """What is wanted from one row of logits."""


class Sampler(Read, frozen=True):
    """How a token is drawn (L1). Every filter acts on the unfiltered probabilities and keeps at least one token.

    `temperature` 0 is argmax. `k` 0, `p` 1.0 and `floor` 0.0 filter nothing: `k` most likely tokens; shortest prefix
    whose mass reaches `p`; probability at least `floor` times the largest. `seed` None draws from the context's own
    random stream (L6). Raises InvalidArgumentError outside these ranges (L2).
    """

    temperature: float = 0.0
    k: int = 0
    p: float = 1.0
    floor: float = 0.0
    draws: int = 1
    seed: int | None = None

    def __post_init__(self) -> None:
        rules = {
            "temperature must be finite and at least 0": math.isfinite(self.temperature) and self.temperature >= 0,
            "k must be at least 0 (0 keeps all)": self.k >= 0,
            "p must lie in [0, 1]": 0.0 <= self.p <= 1.0 and 0.0 <= self.floor <= 1.0,
            "draws must be at least 1": self.draws >= 1,
        }
        for rule, holds in rules.items():
            if not holds:
                raise InvalidArgumentError(f"sampler: {rule}, got {self}", hint="correct the sampler's arguments")

    @property
    def is_argmax(self) -> bool:
        return self.temperature <= ARGMAX_TEMPERATURE

    @staticmethod
    def argmax() -> "Sampler":
        """The largest logit; ties go to the lowest id."""
        return Sampler()

    @staticmethod
    def multinomial(temperature: float = 1.0, draws: int = 1, *, seed: int | None = None) -> "Sampler":
        """`draws` independent draws from the whole distribution."""
        return Sampler(temperature, draws=draws, seed=seed)

    @staticmethod
    def top_k(temperature: float = 0.6, k: int = 40, *, seed: int | None = None) -> "Sampler":
        """A draw from the `k` most likely tokens."""
        return Sampler(temperature, k=k, seed=seed)

    @staticmethod
    def top_p(temperature: float = 0.6, p: float = 0.95, *, seed: int | None = None) -> "Sampler":
        """A draw from the shortest prefix of the sorted tokens whose mass reaches `p`."""
        return Sampler(temperature, p=p, seed=seed)

    @staticmethod
    def min_p(temperature: float = 0.6, p: float = 0.1, *, seed: int | None = None) -> "Sampler":
        """A draw from the tokens at least `p` times as likely as the most likely one."""
        return Sampler(temperature, floor=p, seed=seed)

    @staticmethod
    def top_k_top_p(temperature: float = 0.6, k: int = 40, p: float = 0.95, *, seed: int | None = None) -> "Sampler":
        """Both filters, each on the unfiltered probabilities."""
        return Sampler(temperature, k=k, p=p, seed=seed)


class Logits(Read, frozen=True):
    """The row itself: vocabulary float32 values before temperature and masks."""


class Distribution(Read, frozen=True):
    """The `k` most likely tokens and their share of the full softmax; `k` 0 is the whole vocabulary."""

    temperature: float = 1.0
    k: int = 0


class Logprob(Read, frozen=True):
    """The natural log-probability of one token at temperature 1."""

    token_id: int


class Logprobs(Read, frozen=True):
    """The natural log-probabilities of several tokens at temperature 1, in the order given."""

    token_ids: list[int]


class Entropy(Read, frozen=True):
    """The entropy of the row at temperature 1, in nats."""


Probe = Logits | Distribution | Logprob | Logprobs | Entropy


class Slot(Record, frozen=True):
    """One reading of a pass: what to read at input `index` (0-based in the pass's own input)."""

    index: int
    read: Sampler | Logits | Distribution | Logprob | Logprobs | Entropy


class SlotResult(msgspec.Struct, frozen=True, omit_defaults=True, tag=_snake_case, tag_field="result"):
    """What one slot read."""


class SampledTokens(SlotResult, frozen=True):
    """One token per draw."""

    tokens: list[int]


class RawLogits(SlotResult, frozen=True):
    """Vocabulary × 4 bytes, native-endian float32."""

    data: bytes


class Probabilities(SlotResult, frozen=True):
    """Token ids and probabilities, falling."""

    token_ids: list[int]
    probabilities: list[float]


class LogprobValues(SlotResult, frozen=True):
    """Log-probabilities in request order."""

    values: list[float]


class EntropyValue(SlotResult, frozen=True):
    """Entropy in nats."""

    nats: float


AnyResult = SampledTokens | RawLogits | Probabilities | LogprobValues | EntropyValue


# The runtime and its models.


class RuntimeInfo(Record, frozen=True):
    """Who runs this inferlet."""

    version: str
    instance_id: str
    username: str
    models: list[str]


class DescribeRuntime(Call[RuntimeInfo], frozen=True):
    """Version, instance, user and model names."""


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
    """What a decoder must know of how a model speaks.

    `control_tokens` are never part of visible text. `channels`: replies are split by header tokens (gpt-oss).
    `strips_first_space`: the tokenizer writes a space before a text's first word that is no part of the text.
    """

    stop_tokens: list[int]
    control_tokens: list[int] = []
    reasoning: ReasoningFormat | None = None
    tools: ToolFormat | None = None
    channels: bool = False
    strips_first_space: bool = False


class ModelInfo(Record, frozen=True):
    """A loaded model. `maximum_positions` bounds positions (F4); `vocabulary_size` is the width of a logits row."""

    name: str
    vocabulary_size: int
    page_size: int
    maximum_positions: int
    formats: Formats


class LoadModel(Call[ModelInfo], frozen=True):
    """Bind to a loaded model. Raises ModelNotFoundError."""

    name: str


class Encode(Call[list[int]], frozen=True):
    """Text to token ids; special tokens in the text are recognised, none are added."""

    model: str
    text: str


class Decode(Call[str], frozen=True):
    """Token ids to text, special tokens kept. Raises InvalidArgumentError for an id outside the vocabulary."""

    model: str
    tokens: list[int]


class Vocabulary(Record, frozen=True):
    """Token ids and the bytes each stands for, as parallel lists."""

    token_ids: list[int]
    tokens: list[bytes]


class ReadVocabulary(Call[Vocabulary], frozen=True):
    """The whole vocabulary, or only its special tokens."""

    model: str
    special_only: bool = False


class ReadSplitRegex(Call[str], frozen=True):
    """The regular expression of the tokenizer's pre-tokenisation, "" if it has none."""

    model: str


# Chat rendering. The state is a value the SDK keeps beside its pending buffer and sends along.


Role = Literal["system", "user", "assistant", "cue", "seal", "tools", "tool_result", "flush"]


class Turn(Record, frozen=True):
    """One step of a conversation.

    `text` is the content; `name` that of the tool a `tool_result` answers; `schemas` the JSON texts of the `tools`.
    `cue` opens the assistant's turn, `seal` ends it, `flush` gives out what was held back for a first user turn.
    """

    role: Role
    text: str = ""
    name: str = ""
    schemas: list[str] = []


class ChatState(Record, frozen=True):
    """How far a conversation is written. `last` is the last turn given out; None at the start, "flush" for raw tokens.

    `held` turns wait for the first user turn; `owed` is text that goes before the next turn; `inline`: what was given
    out ends with ordinary text. `turns` is the history so far, kept only for templates that must see it.
    """

    last: Role | None = None
    held: list[Turn] = []
    owed: str = ""
    inline: bool = False
    turns: list[Turn] = []


class RenderedTurn(Record, frozen=True):
    """Tokens of a turn and the state after it."""

    tokens: list[int]
    state: ChatState


class RenderTurn(Call[RenderedTurn], frozen=True):
    """Render a turn by the model's own template (D1). Raises TemplateError."""

    model: str
    turn: Turn
    state: ChatState = ChatState()


class ParsedToolCall(Record, frozen=True):
    """A tool call: name and JSON text of the arguments."""

    name: str
    arguments: str


class ParseToolCall(Call[list[ParsedToolCall]], frozen=True):
    """The calls in a piece of text in the model's native format; empty when it does not parse (D4).

    With `schemas`, the JSON texts of the offered tools, a call of another tool is no call.
    """

    model: str
    text: str
    schemas: list[str] = []


# Grammars. Compiled and kept by the engine, so that a mask never crosses the border unless asked for.


class GrammarSource(Record, frozen=True):
    """What a matcher enforces. `text` is a JSON Schema, a regular expression or a grammar; `tools` has `schemas`.

    `strict` closes objects (G13); `lenient` compiles a schema of which parts cannot be enforced, and says which.
    """

    kind: Literal["json", "json_schema", "regex", "ebnf", "tools"]
    text: str = ""
    strict: bool = True
    schemas: list[str] = []
    lenient: bool = False


class MatcherState(Record, frozen=True):
    """A matcher. `complete`: it may end here. `terminated`: it has ended, or nothing may follow (G13).

    `warnings`: JSON path and reason of what a leniently compiled schema does not enforce.
    """

    matcher: int
    complete: bool = False
    terminated: bool = False
    warnings: list[str] = []


class CompileGrammar(Call[MatcherState | None], frozen=True):
    """A fresh matcher; None when the model has no enforceable native tool format (D7). Raises GrammarError.

    `stop_tokens` are allowed exactly where the grammar may end; empty means the model's own.
    """

    model: str
    source: GrammarSource
    stop_tokens: list[int] = []


class ReadMatcherMask(Call[Brle], frozen=True):
    """The allowed next tokens; [] when everything is allowed."""

    matcher: int


class AdvanceMatcher(Call[MatcherState], frozen=True):
    """Feed tokens. Raises GrammarRejectedError and changes nothing if one of them is forbidden."""

    matcher: int
    tokens: list[int]


class RollbackMatcher(Call[MatcherState], frozen=True):
    """Take back the last `count` tokens; None takes back all of them."""

    matcher: int
    count: int | None = None


class ForkMatcher(Call[MatcherState], frozen=True):
    """An independent copy."""

    matcher: int


class ReleaseMatcher(Call[None], frozen=True):
    """Forget a matcher."""

    matcher: int


# Contexts.


class PageCounters(Record, frozen=True):
    """Committed pages, working pages, and all working tokens (P9)."""

    committed: int = 0
    working: int = 0
    working_tokens: int = 0

    def sequence_length(self, page_size: int) -> int:
        """Tokens whose KV the context holds."""
        return self.committed * page_size + self.working_tokens


class ContextState(Record, frozen=True):
    """A context the caller owns."""

    context: int
    counters: PageCounters = PageCounters()


class PendingInput(Record, frozen=True):
    """What the SDK holds for a context that has no KV yet: buffered tokens and the state of the conversation."""

    tokens: list[int] = []
    chat: ChatState = ChatState()


class CreateContext(Call[ContextState], frozen=True):
    """An empty context."""

    model: str


class ForkContext(Call[ContextState], frozen=True):
    """A copy that shares every committed page (P13)."""

    context: int


class ReleaseContext(Call[None], frozen=True):
    """Give back a context and its pages; unknown ids are ignored, so releasing twice is no error (P15)."""

    context: int


class ReservePages(Call[PageCounters], frozen=True):
    """Add working pages (P4)."""

    context: int
    pages: int


class CommitPages(Call[PageCounters], frozen=True):
    """Turn full working pages into committed ones (P7)."""

    context: int
    pages: int


class ReleasePages(Call[PageCounters], frozen=True):
    """Free working pages from the tail (P5)."""

    context: int
    pages: int


class TruncateTokens(Call[PageCounters], frozen=True):
    """Forget working tokens from the tail (P6)."""

    context: int
    tokens: int


class SaveSnapshot(Call[str], frozen=True):
    """Save under `name`, or under a fresh name when it is empty; answers the name (N1-N3)."""

    context: int
    pending: PendingInput
    name: str = ""


class OpenedSnapshot(Record, frozen=True):
    """A context made from a snapshot, and what was pending when it was saved."""

    state: ContextState
    pending: PendingInput


class OpenSnapshot(Call[OpenedSnapshot | None], frozen=True):
    """Copy a snapshot into a context, or move it there with `take`; None when the name is absent (N4)."""

    model: str
    name: str
    take: bool = False


class DeleteSnapshot(Call[None], frozen=True):
    """Drop a snapshot. Raises SnapshotNotFoundError."""

    model: str
    name: str


class Forward(Call["ForwardReply"], frozen=True):
    """One pass over a context: a decode step is one of these.

    `pending` is the drained buffer, computed first; `tokens` are the pass's own input, at `positions` or, when None, at
    their slot numbers. `attention_masks` has one row per own token over KV slots (F7). `logit_mask` and `matchers`
    restrict every sampled row (F9, G13); matchers are advanced by the token of `advance_slot` when that is not None.
    `reserve` and `commit` are P10's automatic page handling. `horizon` (expected remaining tokens, squared coefficient
    of variation) renews the automatic bid before the pass (B4).
    """

    context: int
    tokens: list[int] = []
    pending: list[int] = []
    positions: list[int] | None = None
    attention_masks: list[Brle] | None = None
    slots: list[Slot] = []
    logit_mask: Brle = []
    matchers: list[int] = []
    advance_slot: int | None = None
    reserve: bool = True
    commit: bool = True
    horizon: tuple[float, float] | None = None


class ForwardReply(Record, frozen=True):
    """Slot results in slot order, the page counters after the pass, and whether a matcher has terminated."""

    results: list[AnyResult]
    counters: PageCounters
    grammar_terminated: bool = False


# The market.


class SetBid(Call[float], frozen=True):
    """Declare a bid in credits per page per tick (B1); answers the bid that holds."""

    context: int
    bid: float


class Rebid(Call[float], frozen=True):
    """Renew the automatic bid for `remaining_tokens` more tokens with that squared coefficient of variation (B4)."""

    context: int
    remaining_tokens: float
    variation: float


class SuspendContext(Call[None], frozen=True):
    """Give all pages back now (R2). Raises ContextBusyError during a pass."""

    context: int


class MarketReading(Record, frozen=True):
    """The latest settlement (M14): credits, credits per page per tick, credits per tick, seconds per tick."""

    balance: float
    rent: float
    dividend: float
    latency_seconds: float
    page_price: float


class ReadMarket(Call[MarketReading], frozen=True):
    """Market figures for the caller, with `latency_seconds` of a context where one is named."""

    context: int | None = None


# The session with the client.


class SendMessage(Call[None], frozen=True):
    """One message to the client. `format` tells text from JSON text."""

    text: str
    format: Literal["text", "json"] = "text"


class SendFile(Call[None], frozen=True):
    """A file to the client."""

    data: bytes
    name: str = ""


class ReceiveMessage(Call[str], frozen=True):
    """Wait for the next message of the client. Raises SessionClosedError when there is no client to wait for."""


class ReceiveFile(Call[bytes], frozen=True):
    """Wait for the next file of the client. Raises SessionClosedError when there is no client to wait for."""

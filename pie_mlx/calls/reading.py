"""Readings of a row of logits: samplers and probes, and their results."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pie_mlx.calls.base import Record, snake_case
from pie_mlx.calls.rule import RuleUse
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

ARGMAX_TEMPERATURE = 1e-5
"""At or below this temperature every sampler is argmax (L2)."""

HIGHEST_TEMPERATURE = 1e30
"""Up to here a forbidden token has a mass of 0; soon above, float32 overflows (L1, L2)."""

LARGEST_PENALTY = 1e6
"""The largest penalty or bias: float32 multiplies and adds it without an overflow (L7)."""

MOST_SCORED_ROWS = 64
"""Most inputs whose attention one probe sums up: their scores take memory for every slot of the context."""

MOST_DRAWS = 2048
"""Most tokens that one sampler draws: each takes the memory of a whole row of logits (L3)."""

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**64 - 1
"""The range of ints in a call."""


def _check_integer(what: str, value: int) -> None:
    """Raises InvalidTypeError for anything but an int, InvalidArgumentError for one beyond 64 bits."""
    if type(value) is not int:
        raise InvalidTypeError(f"{what}: got {type(value).__name__}", hint="pass a plain int")
    if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        raise InvalidArgumentError(f"{what}: it has more than 64 bits", hint="pass a smaller int")


def _are_plain(values: Sequence[int]) -> bool:
    """Whether all are ints of 64 bits. Runs at C speed, because there may be millions of them."""
    whole = {*map(type, values)} <= {int}
    return whole and (not values or SMALLEST_INTEGER <= min(values) <= max(values) <= LARGEST_INTEGER)


def _check_number(what: str, value: float) -> None:
    """A float, or an int as above. Raises InvalidTypeError for anything else."""
    if type(value) is int:
        _check_integer(what, value)
    elif type(value) is not float:
        raise InvalidTypeError(f"{what}: got {type(value).__name__}", hint="pass a plain number")


class Read(msgspec.Struct, frozen=True, omit_defaults=True, tag=snake_case, tag_field="read"):
    """A reading of one row of logits."""


class Sampler(Read, frozen=True):
    """How a token is drawn. Every filter acts on the unfiltered probabilities and keeps at least one token.

    `temperature` 0 is argmax, 1e30 the highest. `k` keeps that many most likely tokens, `p` the
    shortest prefix whose mass reaches it, `min_probability` the tokens at least that many times as likely as the most
    likely one. 0, 1.0 and 0.0 keep all tokens. `draws` is 1 to 2048. `seed` None draws from the context's own random
    stream.
    With `scores` each drawn token comes with its natural log-probability at temperature 1, before penalties and masks,
    as from `Logprob`. `logit_bias` is added to the logits of the tokens it names. `repetition_penalty` divides the
    positive logits of all tokens of the text by it and multiplies the others; `frequency_penalty` is taken off for each
    time that a token was generated, `presence_penalty` once. Generated are the tokens from slot `since` on; None means
    the Generator's, and all of the text without one. 0, 0, 1 and {} change nothing; none may be larger than 1e6.
    A `rule` then changes the row, before temperature and filters; one with states draws one token at a time.
    Raises InvalidTypeError for anything but a number, InvalidArgumentError outside these ranges.
    """

    temperature: float = 0.0
    k: int = 0
    p: float = 1.0
    min_probability: float = 0.0
    draws: int = 1
    seed: int | None = None
    scores: bool = False
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: dict[int, float] = {}
    since: int | None = None
    rule: RuleUse | None = None

    def __post_init__(self) -> None:
        _check_number("sampler: temperature", self.temperature)
        _check_number("sampler: p", self.p)
        _check_number("sampler: min_probability", self.min_probability)
        _check_integer("sampler: k", self.k)
        _check_integer("sampler: draws", self.draws)
        if self.seed is not None:
            _check_integer("sampler: seed", self.seed)
        self._check_ranges()
        if self.penalizes or self.logit_bias or self.since is not None:
            self._check_penalties()

    def _check_ranges(self) -> None:
        if not 0 <= self.temperature <= HIGHEST_TEMPERATURE:
            raise self._refusal(f"temperature must lie in [0, {HIGHEST_TEMPERATURE:g}]")
        if self.k < 0:
            raise self._refusal("k must be at least 0 (0 keeps all)")
        if not (0 <= self.p <= 1 and 0 <= self.min_probability <= 1):
            raise self._refusal("p and min_p must lie in [0, 1]")
        if not 1 <= self.draws <= MOST_DRAWS:
            raise self._refusal(f"draws must lie in [1, {MOST_DRAWS}]")

    def _check_penalties(self) -> None:
        if not isinstance(self.logit_bias, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(f"sampler: logit_bias: got {type(self.logit_bias).__name__}", hint="pass a dict")
        for token in self.logit_bias:
            _check_integer("sampler: logit_bias", token)
        for name, values in (
            ("frequency_penalty", [self.frequency_penalty]),
            ("presence_penalty", [self.presence_penalty]),
            ("repetition_penalty", [self.repetition_penalty]),
            ("logit_bias", self.logit_bias.values()),
        ):
            for value in values:
                _check_number(f"sampler: {name}", value)
                if not abs(value) <= LARGEST_PENALTY:
                    raise self._refusal(f"{name} must lie in [-{LARGEST_PENALTY:g}, {LARGEST_PENALTY:g}]")
        if self.repetition_penalty < 1 / LARGEST_PENALTY:
            raise self._refusal(f"repetition_penalty must be at least {1 / LARGEST_PENALTY:g}")
        if self.since is not None:
            _check_integer("sampler: since", self.since)
            if self.since < 0:
                raise self._refusal("since must be at least 0")

    def _refusal(self, rule: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"sampler: {rule}, got {self}", hint="correct the sampler's arguments")

    @property
    def is_argmax(self) -> bool:
        return self.temperature <= ARGMAX_TEMPERATURE

    @property
    def counts_tokens(self) -> bool:
        """Whether it depends on which tokens the text before has."""
        return self.penalizes or (self.rule is not None and self.rule.graph.counts_tokens)

    @property
    def carries_states(self) -> bool:
        """Whether the next draw depends on states that this one leaves."""
        return self.rule is not None and bool(self.rule.graph.states)

    @property
    def ends_text(self) -> bool:
        """Whether its rule may end the text."""
        return self.rule is not None and self.rule.graph.until is not None

    @property
    def penalizes(self) -> bool:
        """Whether it has a penalty that depends on the text before."""
        return not (self.frequency_penalty == self.presence_penalty == 0 and self.repetition_penalty == 1)

    def penalized(
        self,
        *,
        frequency: float = 0.0,
        presence: float = 0.0,
        repetition: float = 1.0,
        bias: Mapping[int, float] | None = None,
        since: int | None = None,
    ) -> "Sampler":
        """The same draws from logits with penalties and a `bias` by token id.

        `frequency` and `presence` are OpenAI's: they count the tokens that were generated. `repetition` is Hugging
        Face's: it counts the prompt as well. A Generator counts from its own beginning, unless `since` names a slot.
        """
        return msgspec.structs.replace(
            self,
            frequency_penalty=frequency,
            presence_penalty=presence,
            repetition_penalty=repetition,
            logit_bias=dict(bias or {}),
            since=since,
        )

    def ruled(self, rule: RuleUse | None) -> "Sampler":
        """The same draws from logits that `rule` changed first: `Sampler.multinomial(1.0).ruled(min_p(p=0.1))`."""
        return msgspec.structs.replace(self, rule=rule)

    def after(self, states: Sequence[float]) -> "Sampler":
        """The sampler of the next token, whose rule is given the states that the last draw left."""
        return self if self.rule is None else self.ruled(self.rule.after(states))

    def scored(self) -> "Sampler":
        """The same draws, each with its log-probability: `Output.logprobs`, `Generator.score`."""
        return msgspec.structs.replace(self, scores=True)

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
        return Sampler(temperature, min_probability=p, seed=seed)

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

    def __post_init__(self) -> None:
        _check_number("Distribution: temperature", self.temperature)
        _check_integer("Distribution: k", self.k)


class Logprob(Read, frozen=True):
    """The natural log-probability of one token at temperature 1."""

    token_id: int

    def __post_init__(self) -> None:
        _check_integer("Logprob: token_id", self.token_id)

    @property
    def token(self) -> int:
        """`token_id`, as Pie names it."""
        return self.token_id


class Logprobs(Read, frozen=True):
    """The natural log-probabilities of several tokens at temperature 1, in the order given."""

    token_ids: list[int]

    def __post_init__(self) -> None:
        if not isinstance(self.token_ids, list | tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(f"Logprobs: got {type(self.token_ids).__name__}", hint="pass a list of ints")
        for token_id in () if _are_plain(self.token_ids) else self.token_ids:
            _check_integer("Logprobs: token_ids", token_id)

    @property
    def tokens(self) -> tuple[int, ...]:
        """`token_ids`, as Pie names them."""
        return tuple(self.token_ids)


class Entropy(Read, frozen=True):
    """The entropy of the row at temperature 1, in nats."""


class HiddenState(Read, frozen=True):
    """The input of the output head: the row's final hidden state, after the last norm."""


class HiddenMean(Read, frozen=True):
    """The mean of the final hidden states of a pass's own inputs, from the slot's input to the last. A pass that reads
    it reads nothing else."""


class AttentionScores(Read, frozen=True):
    """How much attention the last `rows` inputs up to the slot's own, at most 64, pay to each page of the context: the
    sum over the rows, as a mean over the query heads of all attention layers. The pages of a row sum to 1, less what
    attention sinks take. With `by_group` a score for each KV head of each layer, as a mean over its query heads. A pass
    has one of them."""

    rows: int = 1
    by_group: bool = False

    def __post_init__(self) -> None:
        _check_integer("AttentionScores: rows", self.rows)
        if type(self.by_group) is not bool:  # pyright: ignore[reportUnnecessaryComparison]
            raise InvalidTypeError(f"AttentionScores: by_group: got {self.by_group!r}", hint="pass True or False")


Probe = Logits | Distribution | Logprob | Logprobs | Entropy | HiddenState | HiddenMean | AttentionScores


class Slot(Record, frozen=True):
    """One reading of a pass at input `index` (0-based in the pass's own input)."""

    index: int
    read: Sampler | Logits | Distribution | Logprob | Logprobs | Entropy | HiddenState | HiddenMean | AttentionScores


class SlotResult(msgspec.Struct, frozen=True, omit_defaults=True, tag=snake_case, tag_field="result"):
    """The result of one slot."""


class SampledTokens(SlotResult, frozen=True):
    """One token per draw, and for a sampler with `scores` the log-probability of each. `states` are those that each
    draw leaves for the next one, in the order of the rule's graph; `ended` tells whether the rule ended the text."""

    tokens: list[int]
    logprobs: list[float] = []
    states: list[list[float]] = []
    ended: bool = False


def joined(drawn: Iterable[SampledTokens]) -> SampledTokens:
    """The tokens of several draws, one after the other."""
    parts = list(drawn)
    return SampledTokens(
        [token for part in parts for token in part.tokens],
        [value for part in parts for value in part.logprobs],
        [states for part in parts for states in part.states],
        any([part.ended for part in parts]),
    )


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


class HiddenStateValues(SlotResult, frozen=True):
    """The state's float32 values, as many as the model is wide."""

    values: list[float]


class AttentionScoreValues(SlotResult, frozen=True):
    """Page scores of `groups` head groups, layer by layer, or of one that stands for all: `groups` × pages × 4 bytes,
    native-endian float32."""

    groups: int
    data: bytes


AnyResult = (
    SampledTokens | RawLogits | Probabilities | LogprobValues | EntropyValue | HiddenStateValues | AttentionScoreValues
)

"""What a pass reads of its inputs, checked against the model before anything is touched."""

from collections.abc import Sequence

from pie_mlx.calls import (
    HIGHEST_TEMPERATURE,
    MOST_DRAWS,
    MOST_SCORED_ROWS,
    AttentionScores,
    Distribution,
    Forward,
    HiddenMean,
    HiddenState,
    Logits,
    Logprob,
    Logprobs,
    ModelInfo,
    Probe,
    RuleUse,
    Sampler,
    Slot,
)
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.model.rules.checking import check_use
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

SLOTS_PER_INPUT = 16
"""A pass has so many for each input, and MOST_DRAWS in any case."""
MOST_READ_BYTES = 64 << 20
"""The answer of a pass: what one frame to a worker holds."""


def check_slot_count(slots: Sequence[Slot], inputs: int) -> None:
    """Raises InvalidArgumentError for more slots than so many inputs could reasonably have."""
    most = max(MOST_DRAWS, SLOTS_PER_INPUT * inputs)
    if len(slots) > most:
        raise InvalidArgumentError(
            f"forward: {len(slots)} slots, at most {most} for {inputs} inputs", hint="read in several passes"
        )


def check_slots(call: Forward, length: int, model: ModelInfo) -> None:
    """Whether a pass after which the context has `length` tokens may read what its call says.

    Raises InvalidArgumentError for slots, probes and biases out of range, and for more than one pass may draw or read
    (F6, L3, L4, L7), InvalidTypeError for what reads nothing.
    """
    slots, inputs = call.slots, len(call.tokens)
    for slot in slots:
        _check_slot(slot, inputs, model, len(call.others))
    if len(slots) > 1:  # a single sampler has checked itself
        _check_draws(slots, inputs)
        if any(isinstance(slot.read, HiddenMean) for slot in slots):
            raise InvalidArgumentError(
                "HiddenMean: the pass reads something else as well", hint="read each in a pass of its own"
            )
        _check_scores(slots)
    probes = [slot.read for slot in slots if not isinstance(slot.read, Sampler)]
    if probes:
        _check_probes(probes, length, model)


def _check_scores(slots: Sequence[Slot]) -> None:
    """Raises InvalidArgumentError for attention that is read twice."""
    if len([slot for slot in slots if isinstance(slot.read, AttentionScores)]) > 1:
        raise InvalidArgumentError("AttentionScores: the pass reads them twice", hint="read each in a pass of its own")


def check_advance(slots: Sequence[Slot], advance_slot: int) -> None:
    """Raises InvalidArgumentError for a slot that draws no token, or several: grammars move on by one (G13)."""
    if not 0 <= advance_slot < len(slots):
        raise InvalidArgumentError(
            f"forward: advance_slot {advance_slot} is outside the {len(slots)} slots of this pass",
            hint="name the slot whose token the grammars are fed",
        )
    read = slots[advance_slot].read
    if not isinstance(read, Sampler) or read.draws != 1:
        raise InvalidArgumentError(
            f"forward: advance_slot {advance_slot} draws no token, or several", hint="name a sampler of one draw"
        )


def _check_slot(slot: Slot, inputs: int, model: ModelInfo, others: int) -> None:
    if not (isinstance(slot.index, int) and 0 <= slot.index < inputs):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(
            f"forward: index {slot.index} is outside the {inputs} input tokens of this pass",
            hint="indices count the pass's own input from 0",
        )
    if not isinstance(slot.read, Sampler | Probe):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"forward: {type(slot.read).__name__} reads nothing", hint="use a Sampler or a probe")
    if isinstance(slot.read, Sampler):
        if slot.read.logit_bias:
            check_tokens(list(slot.read.logit_bias), model.vocabulary_size)
        if slot.read.rule is not None:
            _check_rule(slot.read, slot.read.rule, others, model)
    elif isinstance(slot.read, AttentionScores) and not 1 <= slot.read.rows <= min(slot.index + 1, MOST_SCORED_ROWS):
        raise InvalidArgumentError(
            f"AttentionScores: {slot.read.rows} rows up to input {slot.index} of the pass",
            hint=f"name at least 1 row, at most {MOST_SCORED_ROWS} and no more than there are inputs up to there",
        )


def _check_rule(sampler: Sampler, rule: RuleUse, others: int, model: ModelInfo) -> None:
    check_use(rule, model)
    if len(rule.graph.others) != others:
        raise InvalidArgumentError(
            f"rule {rule.graph.name}: it reads rows of {len(rule.graph.others)} other contexts "
            f"({', '.join(rule.graph.others) or 'none'}), the pass has {others}",
            hint="generate with others=[...], a context for each",
        )
    if sampler.carries_states and sampler.draws > 1:
        raise InvalidArgumentError(
            f"rule {rule.graph.name}: {sampler.draws} draws at once, but it carries states from draw to draw",
            hint="draw one token at a time, or fork the context",
        )


def _check_draws(slots: Sequence[Slot], inputs: int) -> None:
    """A pass draws no more than one sampler may, or one token at each input (L3)."""
    draws = sum(slot.read.draws for slot in slots if isinstance(slot.read, Sampler))
    most = max(MOST_DRAWS, inputs)
    if draws > most:
        raise InvalidArgumentError(f"forward: {draws} draws, at most {most} at once", hint="draw in several passes")


def _check_probes(probes: Sequence[Probe], length: int, model: ModelInfo) -> None:
    size_bytes = sum(_size_bytes(probe, length, model) for probe in probes)
    if size_bytes > MOST_READ_BYTES:
        raise InvalidArgumentError(
            f"forward: what is read comes to {size_bytes >> 20} MiB, at most {MOST_READ_BYTES >> 20} at once",
            hint="read at fewer inputs, or less of each: Logprobs, or a Distribution of its k most likely tokens",
        )
    for probe in probes:
        _check_probe(probe, model)


def _size_bytes(probe: Probe, length: int, model: ModelInfo) -> int:
    """What the answer takes on the wire, of a context of `length` slots after the pass."""
    if isinstance(probe, AttentionScores):
        return 4 * (model.attention_groups if probe.by_group else 1) * -(-length // model.page_size)
    if isinstance(probe, Logits):
        return 4 * model.vocabulary_size
    if isinstance(probe, Distribution):
        return 12 * min(probe.k or model.vocabulary_size, model.vocabulary_size)
    if isinstance(probe, HiddenState | HiddenMean):
        return 9 * model.hidden_size
    return 9 * len(probe.token_ids) if isinstance(probe, Logprobs) else 9


def _check_probe(read: Probe, model: ModelInfo) -> None:
    if isinstance(read, Logprob | Logprobs):
        ids = [read.token_id] if isinstance(read, Logprob) else read.token_ids
        if not ids:
            raise InvalidArgumentError("Logprobs: no token ids", hint="name at least one token")
        check_tokens(ids, model.vocabulary_size)
    if isinstance(read, HiddenState | HiddenMean) and not model.hidden_size:
        raise InvalidArgumentError(
            f"{type(read).__name__}: where {model.name} ends in its output head was not found", hint="use another model"
        )
    if isinstance(read, AttentionScores) and not model.attention_groups:
        raise InvalidArgumentError(
            f"AttentionScores: {model.name} computes its attention itself, so that nothing is known of it",
            hint="use a model of a paged tier (docs/reference/architectures.md)",
        )
    if isinstance(read, Distribution) and not (0 < read.temperature <= HIGHEST_TEMPERATURE and read.k >= 0):
        raise InvalidArgumentError(
            f"Distribution: temperature {read.temperature}, k {read.k}",
            hint=f"0 < temperature <= {HIGHEST_TEMPERATURE:g} and k >= 0",
        )

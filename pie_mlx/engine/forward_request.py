"""A Forward call checked against the model and the context it names, before anything is touched."""

from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.calls import (
    HIGHEST_TEMPERATURE,
    MOST_DRAWS,
    Distribution,
    Forward,
    HiddenState,
    Logprob,
    Logprobs,
    ModelInfo,
    Probe,
    Sampler,
    Slot,
)
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.kv.masks import canonical_row, is_empty, row_runs
from pie_mlx.engine.model.step import AdapterUse
from pie_mlx.errors import ContextLengthError, InvalidArgumentError, InvalidTypeError


@dataclass(frozen=True, slots=True)
class ForwardRequest:
    """`inputs` are the drained buffer and then the pass's own tokens, which begin at `own_start`.

    The first `plain` inputs carry no mask and sit at their slot numbers: only those can come from the cache (K5).
    """

    inputs: Sequence[WorkingToken]
    own_start: int
    plain: int


def check_tokens(tokens: Sequence[int], vocabulary_size: int) -> None:
    """Raises InvalidArgumentError for a token id outside the vocabulary (F5)."""
    for token in tokens:
        if not 0 <= token < vocabulary_size:
            raise InvalidArgumentError(
                f"token {token}: outside the vocabulary of {vocabulary_size}", hint="use ids the tokenizer gave"
            )


def read_request(call: Forward, length: int, model: ModelInfo, use: AdapterUse) -> ForwardRequest:
    """Check a call on a context that holds `length` tokens; its own input is computed with `use`, what was pending
    without (F1, F10).

    Raises InvalidArgumentError for empty input, ids, positions, masks or slots out of range (F3-F7, L4), and
    ContextLengthError for a position the model cannot reach (F4).
    """
    if not call.tokens and (call.slots or not call.pending):
        raise InvalidArgumentError("forward: no input tokens", hint="call input() or input_at() before execute()")
    check_tokens(call.pending, model.vocabulary_size)
    check_tokens(call.tokens, model.vocabulary_size)
    for slot in call.slots:
        _check_slot(slot, len(call.tokens), model)
    if len(call.slots) > 1:  # a single sampler has checked itself
        _check_draws(call.slots, len(call.tokens))
    own_start = len(call.pending)
    first_slot = length + own_start
    positions = _positions(call, first_slot, model.maximum_positions)
    _check_masks(call, first_slot)
    inputs = [WorkingToken(token, length + index) for index, token in enumerate(call.pending)]
    for index, (token, position) in enumerate(zip(call.tokens, positions, strict=True)):
        row = canonical_row(call.attention_masks[index], first_slot + index) if call.attention_masks else None
        inputs.append(WorkingToken(token, position, row, *use))
    own_plain = call.attention_masks is None and positions == list(range(first_slot, first_slot + len(positions)))
    return ForwardRequest(inputs, own_start, len(inputs) if own_plain else own_start)


def _positions(call: Forward, first_slot: int, maximum: int) -> list[int]:
    positions = call.positions
    if positions is None:
        positions = list(range(first_slot, first_slot + len(call.tokens)))
    if len(positions) != len(call.tokens):
        raise InvalidArgumentError(
            f"input_at: {len(call.tokens)} tokens and {len(positions)} positions", hint="give one position per token"
        )
    if min(positions, default=0) < 0:
        raise InvalidArgumentError(f"input_at: position {min(positions)} is negative", hint="positions start at 0")
    highest = max([*positions, first_slot - 1])
    if highest >= maximum:
        raise _too_long(highest, maximum, counted=call.positions is None or first_slot > maximum)
    return list(positions)


def _too_long(highest: int, maximum: int, *, counted: bool) -> ContextLengthError:
    """`counted` where positions are those of the slots, and people think of a length."""
    if counted:
        what = f"context: {highest + 1} tokens are more than this model reads: at most {maximum}"
    else:
        what = f"forward: position {highest} is beyond the model's {maximum} positions"
    return ContextLengthError(what, hint="shorten the prompt, or start a new context")


def _check_masks(call: Forward, first_slot: int) -> None:
    rows = call.attention_masks
    if rows is None:
        return
    if len(rows) != len(call.tokens):
        raise InvalidArgumentError(
            f"attention_mask: {len(rows)} rows for {len(call.tokens)} tokens", hint="give one row per input token"
        )
    slots = first_slot + len(call.tokens)
    for index, row in enumerate(rows):
        if min(row, default=0) < 0:
            raise InvalidArgumentError(f"attention_mask: row {index} has a negative run", hint="runs count slots")
        if sum(row) > slots:
            raise InvalidArgumentError(
                f"attention_mask: row {index} covers {sum(row)} slots, the context will have {slots}",
                hint="rows cover the slots held after the pass",
            )
        if is_empty(row_runs(canonical_row(row, first_slot + index), first_slot + index)):
            raise InvalidArgumentError(
                f"attention_mask: row {index} hides every slot its token may see",
                hint="leave at least one slot at or before the token visible",
            )


def _check_slot(slot: Slot, inputs: int, model: ModelInfo) -> None:
    if not (isinstance(slot.index, int) and 0 <= slot.index < inputs):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(
            f"forward: index {slot.index} is outside the {inputs} input tokens of this pass",
            hint="indices count the pass's own input from 0",
        )
    if not isinstance(slot.read, Sampler):
        _check_probe(slot.read, model)


def _check_draws(slots: Sequence[Slot], inputs: int) -> None:
    """A pass draws no more than one sampler may, or one token at each input (L3)."""
    draws = sum(slot.read.draws for slot in slots if isinstance(slot.read, Sampler))
    most = max(MOST_DRAWS, inputs)
    if draws > most:
        raise InvalidArgumentError(f"forward: {draws} draws, at most {most} at once", hint="draw in several passes")


def _check_probe(read: Probe, model: ModelInfo) -> None:
    if not isinstance(read, Probe):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"forward: {type(read).__name__} reads nothing", hint="use a Sampler or a probe")
    if isinstance(read, Logprob | Logprobs):
        ids = [read.token_id] if isinstance(read, Logprob) else read.token_ids
        if not ids:
            raise InvalidArgumentError("Logprobs: no token ids", hint="name at least one token")
        check_tokens(ids, model.vocabulary_size)
    if isinstance(read, HiddenState) and not model.hidden_size:
        raise InvalidArgumentError(
            f"HiddenState: where {model.name} ends in its output head was not found", hint="use another model"
        )
    if isinstance(read, Distribution) and not (0 < read.temperature <= HIGHEST_TEMPERATURE and read.k >= 0):
        raise InvalidArgumentError(
            f"Distribution: temperature {read.temperature}, k {read.k}",
            hint=f"0 < temperature <= {HIGHEST_TEMPERATURE:g} and k >= 0",
        )

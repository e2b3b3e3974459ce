"""A Forward call checked against the model and the context it names, before anything is touched."""

from collections.abc import Sequence
from itertools import pairwise

from pie_mlx.calls import (
    AttentionScores,
    Forward,
    HiddenMean,
    Logprobs,
    ModelInfo,
    Sampler,
    Slot,
)
from pie_mlx.engine.handlers.forward.pass_pages import check_room
from pie_mlx.engine.handlers.forward.slot_checks import check_advance, check_slot_count, check_slots
from pie_mlx.engine.handlers.forward.text_readings import counted, mean_requests, score_requests
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.kv.masks import canonical_row, is_empty, row_runs
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.model.step import AdapterUse
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.logit_mask import pack_runs
from pie_mlx.errors import ContextLengthError, InvalidArgumentError, SpeculationError

LONG_REQUEST = 16_384
"""Tokens and runs that are checked on the engine's loop, which takes 10 ms. More would keep others waiting."""

SLOT_LENGTH = 8
"""A slot counts as so many tokens."""


def check_lengths(call: Forward, length: int, model: ModelInfo) -> None:
    """Check the lengths of a call on a context that holds `length` tokens, before anything walks through it. How many
    tokens have positions of their own is left to the pool to bound.

    Raises InvalidArgumentError for empty input and numbers of positions, masks and slots that do not fit (F3-F7), and
    ContextLengthError for more tokens than the model can reach (F4).
    """
    if not call.tokens and (call.slots or not call.pending):
        raise InvalidArgumentError("forward: no input tokens", hint="call input() or input_at() before execute()")
    own, first_slot = len(call.tokens), length + len(call.pending)
    counted = first_slot if call.positions is not None else first_slot + own
    if counted > model.maximum_positions:
        raise _too_long(counted - 1, model.maximum_positions, counted=True)
    if call.positions is not None and len(call.positions) != own:
        raise InvalidArgumentError(
            f"input_at: {own} tokens and {len(call.positions)} positions", hint="give one position per token"
        )
    if call.attention_masks is not None:
        _check_rows(call.attention_masks, own, first_slot + own)
    check_slot_count(call.slots, own)


def check_plans(call: Forward, model: ModelInfo) -> None:
    """Check the lengths of stop tokens and drafts. Raises InvalidArgumentError and SpeculationError."""
    for what, stops in (
        ("continuation", call.continuation),
        ("speculation", call.speculation),
    ):
        if stops is not None and len(stops.stop_tokens) > model.vocabulary_size:
            raise InvalidArgumentError(
                f"{what}: {len(stops.stop_tokens)} stop tokens, the vocabulary has {model.vocabulary_size}",
                hint="name each once",
            )
    drafts = call.speculation.drafts if call.speculation is not None else None
    if drafts is not None and len(drafts) > model.maximum_positions:
        raise SpeculationError(
            f"drafts: {len(drafts)}, more than this model reads: at most {model.maximum_positions}",
            hint="draft what may be verified in one pass",
        )


async def checked_inputs(
    services: Services, process: HostedProcess, context: LiveContext, call: Forward, length: int, use: AdapterUse
) -> tuple[list[WorkingToken], PackedMask | None]:
    """The inputs of the call, checked, and its logit mask. A long call is checked on another thread."""
    check_lengths(call, length, services.model_info)
    if call.positions is not None:
        check_room(services, context, call)
    recurrent = services.runner.model.recurrent
    if not is_long(call):
        return _read(call, length, services.model_info, use, recurrent)
    found = await process.time.aside(_read, call, length, services.model_info, use, recurrent)
    await services.queue.restore(context, computes=True)  # it may have been suspended meanwhile
    return found


def _read(
    call: Forward, length: int, model: ModelInfo, use: AdapterUse, recurrent: bool
) -> tuple[list[WorkingToken], PackedMask | None]:
    inputs = read_inputs(call, length, model, use)
    if recurrent and plain_inputs(call, length) < len(inputs):
        check_order(call, inputs, length, model)
    return inputs, pack_runs(call.logit_mask, model.vocabulary_size) if call.logit_mask else None


def is_long(call: Forward) -> bool:
    """Whether `read_inputs` takes so long that the engine's loop should not wait for it."""
    rows = sum(map(len, call.attention_masks)) if call.attention_masks else 0
    lists = len(call.pending) + len(call.tokens) + len(call.logit_mask) + rows
    return lists + sum([_slot_length(slot) for slot in call.slots]) > LONG_REQUEST


def _slot_length(slot: Slot) -> int:
    """How many tokens a slot counts as: the tokens that it names are checked one by one."""
    read = slot.read
    named = read.token_ids if isinstance(read, Logprobs) else read.logit_bias if isinstance(read, Sampler) else ()
    return SLOT_LENGTH + len(named)


def next_sampler(call: Forward) -> Sampler | None:
    """The sampler that draws each next token, if steps like this one can follow it."""
    drafts = None if call.speculation is None else call.speculation.drafts
    if len(call.slots) == 1 and call.positions is None and call.attention_masks is None and drafts is None:
        slot = call.slots[0]
        if isinstance(slot.read, Sampler) and slot.read.draws == 1 and slot.index == len(call.tokens) - 1:
            return slot.read
    return None


def read_inputs(call: Forward, length: int, model: ModelInfo, use: AdapterUse) -> list[WorkingToken]:
    """The inputs of a call on a context that holds `length` tokens, checked: the pending tokens, and then its own ones,
    which are computed with the adapter `use` (F1, F10). Call `check_lengths` before. Any thread may do this.

    Raises InvalidArgumentError for ids, positions, masks or slots out of range (F3-F7, L4), and ContextLengthError for
    a position the model cannot reach (F4).
    """
    check_tokens(call.pending, model.vocabulary_size)
    check_tokens(call.tokens, model.vocabulary_size)
    check_slots(call, length + len(call.pending) + len(call.tokens), model)
    if call.advance_slot is not None:
        check_advance(call.slots, call.advance_slot)
    first_slot = length + len(call.pending)
    positions = _positions(call, first_slot, model.maximum_positions)
    rows = _rows(call, first_slot)
    inputs = [WorkingToken(token, length + index) for index, token in enumerate(call.pending)]
    return inputs + [WorkingToken(*own, *use) for own in zip(call.tokens, positions, rows, strict=True)]


def plain_inputs(call: Forward, length: int) -> int:
    """How many of the first inputs of a call carry no mask and sit at their slot numbers: only those can come from the
    cache (K5)."""
    first_slot, own = length + len(call.pending), len(call.tokens)
    at_slots = call.positions is None or call.positions == list(range(first_slot, first_slot + own))
    return len(call.pending) + (own if at_slots and call.attention_masks is None else 0)


def check_order(call: Forward, inputs: Sequence[WorkingToken], length: int, model: ModelInfo) -> None:
    """Refuse what recurrent layers cannot do, as they read all tokens in the order of the input. Raises
    InvalidArgumentError for masks that hide something and for positions that change the order (F3, F7)."""
    own = inputs[len(call.pending) :]
    if any([one.mask is not None for one in own]):
        raise InvalidArgumentError(
            f"attention_mask: {model.name} has recurrent layers, which would still read what it hides",
            hint="leave tokens out of the context instead, or use a model with attention in all layers",
        )
    positions = [length + len(call.pending) - 1, *(one.position for one in own)]
    if any(later <= before for before, later in pairwise(positions)):
        raise InvalidArgumentError(
            f"input_at: {model.name} has recurrent layers, which read tokens in the order of the input: positions must "
            "rise from each token to the next, and lie at or after the end of the context",
            hint="give the tokens in the order of their positions",
        )


def requests(
    store: PageStore,
    context: LiveContext,
    call: Forward,
    inputs: Sequence[WorkingToken],
    mask: PackedMask | None,
    claimed: int,
) -> list[LogitsRequest]:
    """What to read of the logits, with random streams: the counter is the number of tokens drawn so far, plus the rank
    in this pass (L6). A mean of hidden states is one request per input. Attention scores have one per slot, and more
    for further inputs at the end.

    Raises InvalidArgumentError for a sampler that counts from a slot after its row.
    """
    if reads_mean(call):
        return mean_requests(call.slots[0].index, len(call.tokens))
    reads: list[LogitsRequest] = []
    more: list[LogitsRequest] = []
    counter = context.sampled + claimed
    for slot in call.slots:
        if isinstance(slot.read, Sampler):
            stream = context.stream if slot.read.seed is None else slot.read.seed
            counts = None
            if slot.read.counts_tokens:
                text = [one.token for one in inputs[: len(call.pending) + slot.index + 1]]
                counts = counted(store, context, text, slot.read.since or 0)
            reads.append(LogitsRequest(slot.index, slot.read, stream, counter, mask, counts, context.watch))
            counter += 1
        elif isinstance(slot.read, AttentionScores):
            own, others = score_requests(slot, slot.read)
            reads.append(own)
            more += others
        else:
            reads.append(LogitsRequest(slot.index, slot.read))
    return reads + more


def reads_mean(call: Forward) -> bool:
    """Whether a pass reads the mean of its hidden states, and nothing else."""
    return len(call.slots) == 1 and isinstance(call.slots[0].read, HiddenMean)


def _positions(call: Forward, first_slot: int, maximum: int) -> list[int]:
    positions = call.positions
    if positions is None:
        return list(range(first_slot, first_slot + len(call.tokens)))
    if min(positions, default=0) < 0:
        raise InvalidArgumentError(f"input_at: position {min(positions)} is negative", hint="positions start at 0")
    highest = max(positions, default=0)
    if highest >= maximum:
        raise _too_long(highest, maximum, counted=False)
    return list(positions)


def _too_long(highest: int, maximum: int, *, counted: bool) -> ContextLengthError:
    """With `counted`, positions are those of the slots, so that the message speaks of a length."""
    if counted:
        what = f"context: {highest + 1} tokens are more than this model reads: at most {maximum}"
    else:
        what = f"forward: position {highest} is beyond the model's {maximum} positions"
    return ContextLengthError(what, hint="shorten the prompt, or start a new context")


def _check_rows(rows: Sequence[Sequence[int]], tokens: int, slots: int) -> None:
    if len(rows) != tokens:
        raise InvalidArgumentError(
            f"attention_mask: {len(rows)} rows for {tokens} tokens", hint="give one row per input token"
        )
    longest = max(map(len, rows), default=0)
    if longest > 2 * slots + 1:  # a run of its own for each slot
        raise InvalidArgumentError(
            f"attention_mask: {longest} runs for {slots} slots", hint="leave out runs of length 0"
        )


def _rows(call: Forward, first_slot: int) -> list[bytes | None]:
    """The canonical attention mask of each token."""
    slots = first_slot + len(call.tokens)
    if call.attention_masks is None:
        return [None] * len(call.tokens)
    return [_row(index, row, first_slot + index, slots) for index, row in enumerate(call.attention_masks)]


def _row(index: int, row: Sequence[int], slot: int, slots: int) -> bytes | None:
    if min(row, default=0) < 0:
        raise InvalidArgumentError(f"attention_mask: row {index} has a negative run", hint="runs count slots")
    if sum(row) > slots:
        raise InvalidArgumentError(
            f"attention_mask: row {index} covers {sum(row)} slots, the context will have {slots}",
            hint="rows cover the slots held after the pass",
        )
    mask = canonical_row(row, slot)
    if is_empty(row_runs(mask, slot)):
        raise InvalidArgumentError(
            f"attention_mask: row {index} hides every slot its token may see",
            hint="leave at least one slot at or before the token visible",
        )
    return mask

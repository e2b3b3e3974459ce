"""A Forward call checked against the model and the context it names, before anything is touched."""

from collections.abc import Sequence
from itertools import pairwise

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
from pie_mlx.engine.handlers.forward.pass_pages import check_room
from pie_mlx.engine.handlers.forward.text_readings import counted, mean_requests, score_requests
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.kv.masks import canonical_row, is_empty, row_runs
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.model.rules.checking import check_use
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.model.step import AdapterUse
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.logit_mask import pack_runs
from pie_mlx.errors import ContextLengthError, InvalidArgumentError, InvalidTypeError, SpeculationError

LONG_REQUEST = 16_384
SLOT_LENGTH = 8
"""Tokens and runs that are checked on the engine's loop: 10 ms. More would keep others waiting."""
SLOTS_PER_INPUT = 16
"""A pass has so many for each input, and MOST_DRAWS in any case."""
MOST_READ_BYTES = 64 << 20
"""The answer of a pass: what one frame to a worker holds."""


def check_lengths(call: Forward, length: int, model: ModelInfo) -> None:
    """Whether a call on a context that holds `length` tokens may be walked through: everything in it is as long as it
    can be at most. Only the number of tokens at positions of their own is left to the pool to bound.

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
    _check_slot_count(call.slots, own)


def check_plans(call: Forward, model: ModelInfo) -> None:
    """Whether what is planned after the pass may be walked through. Raises InvalidArgumentError, SpeculationError."""
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
    """The inputs of the call, checked, and its logit mask. A long one is checked beside the engine's loop."""
    check_lengths(call, length, services.model_info)
    if call.positions is not None:
        check_room(services, context, call)
    recurrent = services.runner.model.recurrent
    if not is_long(call):
        return _read(call, length, services.model_info, use, recurrent)
    found = await process.time.aside(_read, call, length, services.model_info, use, recurrent)
    await services.queue.restore(context, computes=True)  # it may have had to go meanwhile
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
    """In the currency of tokens: a slot is checked one by one."""
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
    """Check a call on a context that holds `length` tokens; the drained buffer, and then its own input, which is
    computed with `use` (F1, F10). Its lengths are checked. Any thread may do this.

    Raises InvalidArgumentError for ids, positions, masks or slots out of range (F3-F7, L4), and ContextLengthError for
    a position the model cannot reach (F4).
    """
    check_tokens(call.pending, model.vocabulary_size)
    check_tokens(call.tokens, model.vocabulary_size)
    _check_slots(call.slots, len(call.tokens), length + len(call.pending) + len(call.tokens), model)
    if call.advance_slot is not None:
        _check_advance(call.slots, call.advance_slot)
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
    """Whether recurrent layers can read a pass on a context that holds `length` tokens: they read all tokens, in the
    order of the input. Raises InvalidArgumentError for masks that hide something and for positions that change the
    order (F3, F7)."""
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
    """What to read, with random streams: the counter is the tokens drawn so far plus the rank in this pass (L6).
    The mean of hidden states is one request for each input that it is of; attention has one for each further input
    after those of the slots.

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
    """`counted` where positions are those of the slots, and people think of a length."""
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
    if longest > 2 * slots + 1:  # what one writes who gives each slot a run of its own
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


def _check_slot_count(slots: Sequence[Slot], inputs: int) -> None:
    """Raises InvalidArgumentError for more slots than anybody needs at so many inputs."""
    most = max(MOST_DRAWS, SLOTS_PER_INPUT * inputs)
    if len(slots) > most:
        raise InvalidArgumentError(
            f"forward: {len(slots)} slots, at most {most} for {inputs} inputs", hint="read in several passes"
        )


def _check_slots(slots: Sequence[Slot], inputs: int, length: int, model: ModelInfo) -> None:
    """Raises InvalidArgumentError for slots, probes and biases out of range, and for more than one pass may draw or
    read (F6, L3, L4, L7), InvalidTypeError for what reads nothing."""
    for slot in slots:
        _check_slot(slot, inputs, model.vocabulary_size)
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


def _check_advance(slots: Sequence[Slot], advance_slot: int) -> None:
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


def _check_slot(slot: Slot, inputs: int, vocabulary_size: int) -> None:
    if not (isinstance(slot.index, int) and 0 <= slot.index < inputs):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(
            f"forward: index {slot.index} is outside the {inputs} input tokens of this pass",
            hint="indices count the pass's own input from 0",
        )
    if not isinstance(slot.read, Sampler | Probe):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"forward: {type(slot.read).__name__} reads nothing", hint="use a Sampler or a probe")
    if isinstance(slot.read, Sampler):
        if slot.read.logit_bias:
            check_tokens(list(slot.read.logit_bias), vocabulary_size)
        if slot.read.rule is not None:
            _check_rule(slot.read, slot.read.rule)
    elif isinstance(slot.read, AttentionScores) and not 1 <= slot.read.rows <= min(slot.index + 1, MOST_SCORED_ROWS):
        raise InvalidArgumentError(
            f"AttentionScores: {slot.read.rows} rows up to input {slot.index} of the pass",
            hint=f"name at least 1 row, at most {MOST_SCORED_ROWS} and no more than there are inputs up to there",
        )


def _check_rule(sampler: Sampler, rule: RuleUse) -> None:
    check_use(rule)
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

"""What a pass may ask for. Calls come from strangers: nothing is walked through that is longer than it can be."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from inferlet import Context
from pie_mlx import calls
from pie_mlx.calls import (
    Distribution,
    Entropy,
    Formats,
    Forward,
    HiddenState,
    Logits,
    Logprobs,
    ModelInfo,
    Sampler,
    Slot,
)
from pie_mlx.engine.handlers.forward.forward_request import check_lengths, check_plans, is_long, read_inputs
from pie_mlx.engine.kv.masks import row_runs
from pie_mlx.engine.model.adapters import NO_ADAPTER
from pie_mlx.errors import ContextLengthError, InvalidArgumentError, SpeculationError
from tests.engine.running import Running, running

MODEL = ModelInfo("model", 512, 16, 4096, Formats([]), hidden_size=64)


class Endless(Sequence[Any]):
    """More of the same than anybody walks through."""

    def __init__(self, item: object, length: int = 10**9) -> None:
        self._item, self._length = item, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("somebody looks at it")

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("somebody walks through it")


def endless(item: object, length: int = 10**9) -> Any:
    return cast("Any", Endless(item, length))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (Forward(1, pending=endless(5)), ContextLengthError),
        (Forward(1, endless(5)), ContextLengthError),
        (Forward(1, [5], pending=endless(5), positions=[0]), ContextLengthError),
        (Forward(1, endless(5), positions=[0]), InvalidArgumentError),
        (Forward(1, [5], positions=endless(0)), InvalidArgumentError),
        (Forward(1, [5], attention_masks=endless([1])), InvalidArgumentError),
        (Forward(1, [5], attention_masks=[endless(0)]), InvalidArgumentError),
        (Forward(1, [5], slots=endless(Slot(0, Entropy()))), InvalidArgumentError),
    ],
    ids=["pending", "tokens", "pending before positions", "positions", "tokens", "rows", "runs", "slots"],
)
def test_what_is_too_long_is_refused_by_its_length(call: Forward, error: type[Exception]) -> None:  # F3-F7
    with pytest.raises(error):
        check_lengths(call, 10, MODEL)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (Forward(1, [5], continuation=calls.Continuation(9, endless(5))), InvalidArgumentError),
        (Forward(1, [5], speculation=calls.Speculation(9, stop_tokens=endless(5))), InvalidArgumentError),
        (Forward(1, [5], speculation=calls.Speculation(9, endless(5))), SpeculationError),
    ],
    ids=["stop tokens", "stop tokens of a window", "drafts"],
)
def test_plans_that_are_too_long_are_refused_by_their_length(call: Forward, error: type[Exception]) -> None:  # V1
    with pytest.raises(error):
        check_plans(call, MODEL)


@pytest.mark.parametrize(
    "probe", [Logits(), Distribution(), Distribution(k=2**63), HiddenState(), Logprobs([5] * 600)], ids=str
)
def test_a_pass_reads_no_more_than_an_answer_holds(probe: Any) -> None:
    model = ModelInfo("model", 2**19, 16, 4096, Formats([]), hidden_size=2**12)
    slots = [Slot(index % 1000, probe) for index in range(16_000)]
    with pytest.raises(InvalidArgumentError, match="at most 64 at once"):
        read_inputs(Forward(1, [5] * 1000, slots=slots), 0, model, NO_ADAPTER)
    read_inputs(Forward(1, [5] * 1000, slots=slots[:10]), 0, model, NO_ADAPTER)


@pytest.mark.parametrize(
    ("slots", "advance"),
    [
        ([Slot(0, Sampler())], 1),
        ([Slot(0, Sampler())], -1),
        ([Slot(0, Sampler())], 2**64 - 1),
        ([], 0),
        ([Slot(0, Sampler()), Slot(0, Entropy())], 1),
        ([Slot(0, Sampler(draws=3))], 0),
    ],
)
def test_grammars_move_on_by_the_one_token_of_a_sampler(slots: list[Slot], advance: int) -> None:  # G13
    with pytest.raises(InvalidArgumentError, match="advance_slot"):
        read_inputs(Forward(1, [5], slots=slots, advance_slot=advance), 0, MODEL, NO_ADAPTER)


def test_long_rows_are_as_short_ones() -> None:  # F7, F13
    rows = [[0, *[1] * index, 1] for index in range(1, 300)]
    call = Forward(1, [5] * len(rows), attention_masks=rows)
    found = read_inputs(call, 300, MODEL, NO_ADAPTER)
    for index, (row, token) in enumerate(zip(rows, found, strict=True)):
        assert sum(row_runs(token.mask, 300 + index)) == 301 + index
        visible = [slot for slot in range(index + 2) if slot % 2 == 0]
        runs, seen, start = row_runs(token.mask, 300 + index), list[int](), 0
        for place, run in enumerate(runs):
            seen += range(start, start + run) if place % 2 else ()
            start += run
        assert seen == visible, row


async def test_a_pass_that_is_refused_for_its_grammars_changes_nothing(engine: Running) -> None:  # E3
    with Context(engine.model) as context:
        state = engine.host.call(calls.CompileGrammar(engine.model.name, calls.GrammarSource("regex", "[a-z]+")))
        assert state is not None
        number = state.matcher
        for matchers, advance in (([number], 5), ([number, number], 0), ([number] * 9, 0)):
            call = Forward(context.id, [45, 46], slots=[Slot(1, Sampler())], matchers=matchers, advance_slot=advance)
            with pytest.raises(InvalidArgumentError, match=r"advance_slot|twice"):
                await engine.host.submit(call)
            assert context.seq_len == engine.store.sequence_length(context.id) == 0


async def test_more_tokens_at_one_position_than_the_pool_holds_are_refused_by_their_number() -> None:  # F4, P4
    with running(total_pages=16) as engine, Context(engine.model) as context:
        tokens = [5] * 16 * 17
        with pytest.raises(MemoryError):
            await engine.host.submit(Forward(context.id, [*tokens, -1], positions=[0] * (len(tokens) + 1)))


async def test_a_long_call_is_answered_like_a_short_one(engine: Running) -> None:  # F7
    rows = [[0, *[1] * index] for index in range(1, 300)]
    context = Context(engine.model)
    call = Forward(context.id, [5] * len(rows), attention_masks=rows)
    assert is_long(call)
    assert (await engine.host.submit(call)).counters.sequence_length(16) == len(rows)

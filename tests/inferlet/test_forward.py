"""Passes by hand."""

import asyncio
import math

import pytest

from inferlet import Adapter, Context, Distribution, Entropy, Logits, Logprob, Logprobs, SampleHandle, Sampler, brle
from pie_mlx import calls
from pie_mlx.errors import (
    AdapterNotFoundError,
    BatchFailedError,
    ContextLengthError,
    EmptyMaskError,
    InvalidArgumentError,
    InvalidTypeError,
    StepConsumedError,
)
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import VOCABULARY, encode


async def test_forward_drains_the_buffer(host: ToyHost, ctx: Context) -> None:  # T41, F1
    drained = len(ctx.user("x").buffer())
    forward = ctx.forward()
    assert ctx.buffer() == []
    assert ctx.seq_len == forward.start_position() == drained
    sampled = forward.input(encode("ab")).sample([0, 1], Sampler.argmax())
    output = await forward.execute()
    assert output.tokens_at(sampled) == encode("bc")
    assert ctx.seq_len == drained + 2
    (message,) = host.sent(calls.Forward)
    assert (len(message.pending), message.tokens) == (drained, encode("ab"))


async def test_forward_drains_what_was_held_back(ctx: Context) -> None:  # F1
    ctx.system("s")
    assert ctx.forward().start_position() == len(encode("<s><sys>s<end>"))


@pytest.mark.parametrize("operation", ["fork", "save", "truncate", "flush"])
async def test_drained_tokens_are_computed_by_the_next_operation(host: ToyHost, ctx: Context, operation: str) -> None:
    ctx.append([7, 8, 9]).forward()  # F1
    assert host.sent(calls.Forward) == []
    match operation:
        case "fork":
            assert ctx.fork().seq_len == 3
        case "save":
            ctx.save("a")
        case "truncate":
            ctx.truncate(1)
        case _:
            await ctx.flush()
    assert [message.pending for message in host.sent(calls.Forward)] == [[7, 8, 9]]
    assert ctx.seq_len == (2 if operation == "truncate" else 3)


async def test_slots_are_numbered_in_order_of_attachment(host: ToyHost, ctx: Context) -> None:  # T35
    forward = ctx.forward().input(encode("abcd"))
    first = forward.sample([0, 2], Sampler.argmax())
    probe = forward.probe(1, Entropy())
    last = forward.sample([3], Sampler.argmax())
    output = await forward.execute()
    assert [slot.index for slot in host.sent(calls.Forward)[0].slots] == [0, 2, 1, 3]
    assert output.tokens_at(first) == encode("bd")
    assert output.token(first) is None
    assert output.token(last) == encode("e")[0]
    assert output.raw is not None
    assert output.raw.results[2] == calls.EntropyValue(output.entropy(probe) or 0.0)
    assert output.tokens == []
    assert output.auto_sampler is None


async def test_the_wrong_handle_reads_nothing(ctx: Context) -> None:  # T35, F11
    forward = ctx.forward().input(encode("a"))
    sampled, probe = forward.sample([0], Sampler.argmax()), forward.probe(0, Entropy())
    output = await forward.execute()
    assert output.tokens_at(probe) == []
    assert output.token(SampleHandle()) is None
    for read in (output.distribution, output.logits, output.logprobs, output.entropy):
        assert read(sampled) is None
    assert output.logprobs(probe) is None


async def test_handles_of_another_pass_read_nothing(ctx: Context) -> None:
    one, other = ctx.forward().input(encode("a")), ctx.forward().input(encode("b"))
    sampled, _ = one.sample([0], Sampler.argmax()), other.sample([0], Sampler.argmax())
    assert (await other.execute()).token(sampled) is None


async def test_several_draws_share_one_index(ctx: Context) -> None:  # T35, L3
    forward = ctx.forward().input(encode("a"))
    sampled = forward.sample([0], Sampler.multinomial(temperature=50.0, draws=3))
    output = await forward.execute()
    assert len(output.tokens_at(sampled)) == 3
    assert output.token(sampled) is None


async def test_every_probe_has_its_accessor(ctx: Context) -> None:
    forward = ctx.forward().input(encode("a"))
    logits, entropy = forward.probe(0, Logits()), forward.probe(0, Entropy())
    one, several = forward.probe(0, Logprob(1)), forward.probe(0, Logprobs([1, 2, 3]))
    spread = forward.probe(0, Distribution(temperature=1.0, k=2))
    output = await forward.execute()
    assert len(output.logits(logits) or b"") == VOCABULARY * 4
    assert (output.entropy(entropy) or 0) > 0
    assert len(output.logprobs(one) or []) == 1
    assert len(output.logprobs(several) or []) == 3
    ids, shares = output.distribution(spread) or ([], [])
    assert ids[0] == encode("b")[0]
    assert shares[0] > shares[1]


async def test_no_input_is_refused(ctx: Context) -> None:  # F5, T35
    forward = ctx.append([7]).forward()
    forward.sample([0], Sampler.argmax())
    with pytest.raises(ValueError, match="no input"):
        await forward.execute()


async def test_a_pass_runs_once(ctx: Context) -> None:  # F10
    forward = ctx.forward().input([7])
    await forward.execute()
    with pytest.raises(StepConsumedError):
        await forward.execute()


async def test_a_failed_pass_can_be_repeated(host: ToyHost, ctx: Context) -> None:  # E3, E4
    forward = ctx.append([7, 8]).forward().input(encode("a"))
    sampled = forward.sample([0], Sampler.argmax())
    host.failure = BatchFailedError("batch: device error", cause="test")
    with pytest.raises(BatchFailedError):
        await forward.execute()
    assert ctx.seq_len == 2
    assert (await forward.execute()).token(sampled) == encode("b")[0]
    assert ctx.seq_len == 3


async def test_a_pass_cancelled_before_it_starts_keeps_the_drained_tokens(host: ToyHost, ctx: Context) -> None:  # E5
    forward = ctx.append([7, 8]).forward().input([9])
    host.before = asyncio.Event()
    task = asyncio.ensure_future(forward.execute())
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ctx.seq_len == 2
    assert ctx.inner().working_page_token_count() == 2


async def test_input_takes_slot_numbers_and_input_at_explicit_positions(host: ToyHost, ctx: Context) -> None:  # F3
    await ctx.append([7, 8]).flush()
    await ctx.forward().input([9]).input_at([10, 11], [40, 3]).input([12]).execute()
    assert host.contexts[ctx.id].positions == [0, 1, 2, 40, 3, 5]


async def test_automatic_positions_are_left_to_the_engine(host: ToyHost, ctx: Context) -> None:  # F3
    await ctx.forward().input([9]).input([10]).execute()
    assert host.sent(calls.Forward)[0].positions is None


def test_positions_must_fit_the_tokens(ctx: Context) -> None:  # F3
    forward = ctx.forward()
    with pytest.raises(InvalidArgumentError):
        forward.input_at([7, 8], [1])
    with pytest.raises(InvalidArgumentError):
        forward.input_at([7], [-1])


@pytest.mark.parametrize("position", [10**6, 2**70])
def test_positions_beyond_the_model_are_refused(ctx: Context, position: int) -> None:  # F4
    with pytest.raises(ContextLengthError):
        ctx.forward().input_at([7], [position])


async def test_a_logit_mask_restricts_every_sampled_row(ctx: Context) -> None:  # T36, F9
    forward = ctx.forward().input(encode("ab")).mask(brle.allow_only([5, 9]))
    sampled = forward.sample([0, 1], Sampler.multinomial(temperature=100.0, draws=40))
    assert set((await forward.execute()).tokens_at(sampled)) == {5, 9}


async def test_an_empty_mask_restricts_nothing(ctx: Context) -> None:  # F9
    forward = ctx.forward().input(encode("a")).mask([])
    sampled = forward.sample([0], Sampler.argmax())
    assert (await forward.execute()).token(sampled) == encode("b")[0]


@pytest.mark.parametrize("mask", [[5], [0], [VOCABULARY, 3], [4, 0, 9]])
async def test_a_mask_that_allows_nothing_is_refused(host: ToyHost, ctx: Context, mask: list[int]) -> None:  # F9
    forward = ctx.forward().input(encode("a")).mask(mask)
    forward.sample([0], Sampler.argmax())
    with pytest.raises(EmptyMaskError):
        await forward.execute()
    assert host.sent(calls.Forward) == []


async def test_attention_masks_hide_slots(ctx: Context) -> None:  # F7, T34
    await ctx.append(encode("<bot>he")).flush()
    forward = ctx.forward().input(encode("l")).attention_mask([[1, 3]])
    sampled = forward.sample([0], Sampler.argmax())
    assert (await forward.execute()).token(sampled) == encode("m")[0]


def test_negative_runs_are_refused(ctx: Context) -> None:  # F13
    with pytest.raises(InvalidArgumentError):
        ctx.forward().mask([1, -1])
    with pytest.raises(InvalidArgumentError):
        ctx.forward().attention_mask([[1, -1]])


async def test_indices_outside_the_input_are_refused(ctx: Context) -> None:  # F6
    with pytest.raises(InvalidArgumentError):
        ctx.forward().sample([], Sampler.argmax())
    forward = ctx.append([7, 8]).forward().input([9])
    forward.sample([1], Sampler.argmax())
    with pytest.raises(InvalidArgumentError):
        await forward.execute()


def test_samplers_and_probes_are_told_apart(ctx: Context) -> None:
    with pytest.raises(InvalidTypeError):
        ctx.forward().sample([0], Entropy())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidTypeError):
        ctx.forward().probe(0, Sampler.argmax())  # pyright: ignore[reportArgumentType]


def test_only_an_adapter_is_an_adapter(ctx: Context) -> None:
    with pytest.raises(InvalidTypeError, match="adapter"):
        ctx.forward().adapter(object())  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seed", [1 << 63, -(1 << 63) - 1])
def test_a_noise_seed_has_64_bits(ctx: Context, seed: int) -> None:  # Z2
    with pytest.raises(InvalidArgumentError, match="zo_seed"):
        ctx.forward().zo_seed(seed)


async def test_adapter_and_seed_are_for_one_pass(host: ToyHost, ctx: Context) -> None:  # F10
    adapter = Adapter(ctx.model, calls.AdapterState(7, "style"))
    await ctx.append([1]).forward().adapter(adapter).zo_seed(-3).input([7]).execute()
    await ctx.forward().input([8]).execute()
    first, second = host.sent(calls.Forward)
    assert (first.pending, first.adapter, first.zo_seed) == ([1], 7, -3)
    assert (second.adapter, second.zo_seed) == (0, 0)


async def test_a_handle_that_was_given_up_is_of_no_use(ctx: Context) -> None:  # A1
    with Adapter(ctx.model, calls.AdapterState(7, "style")) as adapter:
        forward = ctx.forward().input([7]).adapter(adapter)
    with pytest.raises(AdapterNotFoundError):
        await forward.execute()


async def test_several_passes_of_a_context_run_in_order(ctx: Context) -> None:  # P3
    passes = [ctx.forward().input(encode(letter)) for letter in "abc"]
    handles = [one.sample([0], Sampler.argmax()) for one in passes]
    outputs = await asyncio.gather(*(one.execute() for one in passes))
    assert [out.token(h) for out, h in zip(outputs, handles, strict=True)] == encode("bcd")
    assert ctx.seq_len == 3


async def test_deferred_commits_leave_working_pages(ctx: Context) -> None:  # P10
    await ctx.forward().input(range(7, 47)).defer_commit().execute()
    assert (ctx.inner().committed_page_count(), ctx.inner().working_page_count()) == (0, 3)
    ctx.truncate(30)
    assert ctx.seq_len == 10


def test_a_pass_knows_its_page_size(ctx: Context) -> None:
    assert ctx.forward().page_size == 16


async def test_logprobs_are_natural_logarithms(ctx: Context) -> None:
    forward = ctx.forward().input(encode("a"))
    all_of_them = forward.probe(0, Logprobs(list(range(VOCABULARY))))
    values = (await forward.execute()).logprobs(all_of_them) or []
    assert math.fsum(math.exp(value) for value in values) == pytest.approx(1.0)

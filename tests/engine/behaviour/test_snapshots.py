"""Saved contexts outlive the programs that saved them."""

import asyncio

import pytest

from inferlet import Context, Sampler
from pie_mlx.calls import ChatState, PendingInput, SaveSnapshot, Turn
from pie_mlx.engine.kv.snapshot_limits import SnapshotLimits
from pie_mlx.errors import ContextLengthError, InvalidArgumentError, SnapshotError, SnapshotNotFoundError
from tests.engine.running import Running


async def test_a_snapshot_can_be_opened_often_and_taken_once(engine: Running) -> None:  # T13
    context = Context(engine.model)
    context.append(engine.prompt(20, 31))
    await context.flush()
    context.save("a")
    context.append(engine.prompt(5, 32))
    await context.flush()
    context.save("a")
    opened = [Context.open(engine.model, "a") for _ in range(2)]
    assert [found.seq_len for found in opened if found] == [25, 25]
    taken = Context.take(engine.model, "a")
    assert taken is not None
    assert taken.seq_len == 25
    assert Context.open(engine.model, "a") is None
    assert Context.take(engine.model, "a") is None
    with pytest.raises(SnapshotNotFoundError):
        Context.delete(engine.model, "a")


async def test_a_snapshot_outlives_its_program_with_what_was_pending(engine: Running) -> None:  # T14
    prompt = engine.prompt(37, 33)
    with engine.process():
        whole = Context(engine.model)
        whole.append(prompt)
        expected = await engine.greedy(whole, 8)
        context = Context(engine.model)
        context.append(prompt[:30])
        await context.flush()
        context.append(prompt[30:])
        context.save("pending")
    opened = Context.take(engine.model, "pending")
    assert opened is not None
    assert opened.buffer() == prompt[30:]
    assert await engine.greedy(opened, 8) == expected


@pytest.mark.parametrize("take", [False, True], ids=["open", "take"])
async def test_a_seeded_draw_goes_on_where_it_was_saved(engine: Running, take: bool) -> None:  # L6
    context = Context(engine.model)
    context.append(engine.prompt(20, 34))
    await seeded(context, 6)
    context.save("drawn")
    opened = (Context.take if take else Context.open)(engine.model, "drawn")
    assert opened is not None
    assert await seeded(opened, 10) == await seeded(context, 10)


async def test_a_snapshot_is_drawn_from_on_a_stream_of_its_own(engine: Running) -> None:  # L6, N4
    context = Context(engine.model)
    context.append(engine.prompt(20, 35))
    context.save("streams")
    opened = Context.take(engine.model, "streams")
    assert opened is not None
    assert await seeded(opened, 16, seed=None) != await seeded(context, 16, seed=None)


async def seeded(context: Context, tokens: int, seed: int | None = 7) -> list[int]:
    """Drawn tokens, without an end and in one go; the context's own stream for no seed."""
    sampler = Sampler.multinomial(1.5, seed=seed)
    return await context.generate(sampler, max_tokens=tokens, stop=[], auto_flush=False).collect_tokens()


def test_whoever_opens_a_snapshot_owns_the_context_and_has_bid_nothing(engine: Running) -> None:  # N4
    context = Context(engine.model)
    context.set_bid(7.5)
    context.save("bid")
    with engine.process() as host:
        opened = [Context.open(engine.model, "bid"), Context.take(engine.model, "bid")]
        owned = engine.core.services.processes[host.process_id].contexts
        assert [owned[found.id].bid for found in opened if found] == [0.0, 0.0]


def test_users_do_not_see_each_others_snapshots(engine: Running) -> None:  # N5
    Context(engine.model).save("mine")
    with engine.process(username="other"):
        assert Context.open(engine.model, "mine") is None
    Context.delete(engine.model, "mine")


def test_a_generated_name_can_be_opened_but_not_chosen(engine: Running) -> None:  # N3
    name = Context(engine.model).snapshot()
    assert Context.take(engine.model, name) is not None
    with pytest.raises(InvalidArgumentError):
        Context(engine.model).save(name)


def test_a_name_of_256_characters_is_fine(engine: Running) -> None:  # N1
    Context(engine.model).save("x" * 256)
    Context.delete(engine.model, "x" * 256)


async def test_a_save_during_a_pass_waits_for_the_pass(engine: Running) -> None:  # N2
    context = Context(engine.model).append(engine.prompt(600, 36))
    flushing = asyncio.ensure_future(context.flush())
    await asyncio.sleep(0)
    context.save("during")
    await flushing
    opened = Context.take(engine.model, "during")
    assert opened is not None
    assert (opened.seq_len, opened.buffer()) == (600, [])


@pytest.mark.parametrize("name", ["", "x" * 257])
def test_bad_names_are_refused(engine: Running, name: str) -> None:  # N1
    with pytest.raises(InvalidArgumentError):
        Context(engine.model).save(name)


@pytest.mark.parametrize(
    ("tokens", "error"),
    [([5] * 4097, ContextLengthError), ([-1], InvalidArgumentError), ([10**6], InvalidArgumentError)],
)
def test_a_buffer_that_nobody_could_flush_is_refused(
    engine: Running, tokens: list[int], error: type[Exception]
) -> None:  # F4, F5
    context = Context(engine.model)
    with pytest.raises(error):
        engine.host.call(SaveSnapshot(context.id, PendingInput(tokens), "pending"))
    assert Context.open(engine.model, "pending") is None


def test_histories_count_as_what_a_user_keeps(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.store.snapshots, "limits", SnapshotLimits(user_bytes=10_000))
    with engine.process("historian") as host:  # who has kept nothing before
        context = Context(engine.model)
        long = ChatState(turns=[Turn("user", "x" * 11_000)])
        with pytest.raises(SnapshotError):
            host.call(SaveSnapshot(context.id, PendingInput([], long), "history"))
        context.append([5] * 300)
        with pytest.raises(SnapshotError):
            context.save("history")
        Context(engine.model).save("history")
        Context.delete(engine.model, "history")


def test_what_a_program_leaves_unnamed_stays_and_is_counted(engine: Running) -> None:  # N1, N3
    before = len(engine.store.snapshots.all())
    with engine.process("unnamed"):
        names = [Context(engine.model).snapshot() for _ in range(3)]
    with engine.process("unnamed"):
        assert all(Context.take(engine.model, name) for name in names)
    assert len(engine.store.snapshots.all()) == before
    engine.store.snapshots.check_integrity()

import asyncio

from inferlet import Context, Model, Sampler, runtime, session
from pie_mlx import Engine
from pie_mlx.events import BidDeclared, ContextSuspended, ProcessReturned
from tests.examples.stage import EXAMPLES

JOBS = {"jobs": ["Hello!", "Tell me a story about a dog.", "Who are you?"], "max_tokens": 16}


def test_every_token_is_bid_for_with_next_to_nothing(play):
    played = play("background-worker", {**JOBS, "bid": 0.002})
    assert played.result == 3
    assert 0.002 in {event.bid for event in played.of(BidDeclared)}


def test_it_ends_with_its_budget(play):
    played = play("background-worker", JOBS, token_budget=40)
    assert played.result < 3
    assert "is left undone" in played.text


async def foreground(input):
    """Holds most of the pool, and says when it does."""
    with Context(Model.load(runtime.models()[0])) as context:
        await context.append([5] * 200).flush()
        session.send("ready")
        await context.append([5]).generate(Sampler.argmax(), max_tokens=40, stop=[]).collect_tokens()


async def test_others_go_first_and_nothing_is_lost(play):
    events, ready, answers = [], asyncio.Event(), []
    async with Engine("pie-tiny", total_pages=16, seed=1, on_event=events.append) as engine:
        busy = await engine.launch(foreground, on_message=lambda message: ready.set())
        await ready.wait()
        worker = await engine.launch(EXAMPLES / "background-worker", JOBS, on_message=answers.append)
        await asyncio.gather(busy.result(), worker.result())
    ends = [event.process for event in events if isinstance(event, ProcessReturned)]
    assert ends == [busy.id, worker.id]
    assert any(isinstance(event, ContextSuspended) for event in events)
    assert answers[:3] == play("background-worker", JOBS).messages[:3]

"""Messaging as programs use it, on an engine."""

import asyncio

import pytest

from inferlet import messaging, session
from pie_mlx import Engine
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, MessageOverflowError


async def test_pushed_messages_are_pulled_in_order(engine: Engine) -> None:  # T48
    async def main(input):
        messaging.push("q", "text")
        messaging.push("q", {"n": [1, None]})
        return [await messaging.pull("q"), await messaging.pull("q")]

    assert await engine.run(main) == ["text", '{"n":[1,null]}']


async def test_programs_of_a_user_meet(engine: Engine) -> None:
    async def worker(input):
        messaging.push("done", await messaging.pull("work") + "!")

    async def boss(input):
        messaging.push("work", "a")
        return await messaging.pull("done")

    working = await engine.launch(worker, username="ada")
    other = await engine.launch(worker, username="bob")
    assert await engine.run(boss, username="ada") == "a!"
    await working.result()
    other.cancel()
    await other.outcome()


async def test_a_pull_that_is_cancelled_leaves_the_message_in_the_queue(engine: Engine) -> None:
    async def main(input):
        waiting = [asyncio.create_task(messaging.pull("q")) for _ in range(50)]
        await asyncio.sleep(0)
        sender = asyncio.to_thread(lambda: [messaging.push("q", str(n)) for n in range(50)])
        sending = asyncio.create_task(sender)
        await asyncio.sleep(0.001)
        for task in waiting[::2]:
            task.cancel()
        await sending
        answers = await asyncio.gather(*waiting[1::2])
        got = [task.result() for task in waiting[::2] if task.done() and not task.cancelled() and not task.exception()]
        left = [await messaging.pull("q") for _ in range(50 - len(answers) - len(got))]
        return sorted(map(int, [*answers, *got, *left]))

    assert await engine.run(main) == list(range(50))


async def test_a_program_that_ends_while_it_pulls_takes_nothing(engine: Engine) -> None:
    async def puller(input):
        session.send("ready")
        await messaging.pull("q")

    async def main(input):
        messaging.push("q", "kept")
        return await messaging.pull("q")

    ready = asyncio.Event()
    pulling = await engine.launch(puller, on_message=lambda text: ready.set())
    await ready.wait()
    pulling.cancel()
    await pulling.outcome()
    assert await engine.run(main) == "kept"


async def test_broadcasts_are_read_by_get_next_and_iteration(engine: Engine) -> None:
    async def main(input):
        with messaging.subscribe("t") as sub:
            nothing = sub.get()
            for text in ("a", "b", "c", "d"):
                messaging.broadcast("t", text)
            read = [nothing, sub.get(), await sub.next()]
            async for text in sub:
                read.append(text)
                if text == "d":
                    break
        return [*read, await sub.next(), sub.get()]

    assert await engine.run(main) == [None, "a", "b", "c", "d", None, None]


async def test_unsubscribing_ends_a_wait(engine: Engine) -> None:
    async def main(input):
        sub = messaging.subscribe("t")
        waiting = asyncio.create_task(sub.next())
        await asyncio.sleep(0.01)
        sub.unsubscribe()
        sub.unsubscribe()
        return await waiting

    assert await engine.run(main) is None


async def test_a_wait_for_a_broadcast_that_is_cancelled_loses_nothing(engine: Engine) -> None:
    async def main(input):
        sub = messaging.subscribe("t")
        waiting = asyncio.create_task(sub.next())
        await asyncio.sleep(0)
        messaging.broadcast("t", "x")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return "x" if waiting.done() and not waiting.cancelled() else await sub.next()

    assert await engine.run(main) == "x"


async def test_a_subscriber_that_does_not_read_loses_the_newest_and_is_told(engine: Engine) -> None:
    async def main(input):
        sub = messaging.subscribe("t")
        for number in range(1030):
            messaging.broadcast("t", str(number))
        try:
            sub.get()
        except MessageOverflowError as error:
            return [error.dropped, sub.dropped, sub.get()]

    assert await engine.run(main) == [6, 6, "0"]


async def test_a_subscription_that_is_dropped_is_closed(engine: Engine) -> None:
    async def main(input):
        for _ in range(300):  # more than a process may have
            messaging.subscribe("t")

    await engine.run(main)


@pytest.mark.parametrize("topic", ["", "x" * 257, "a\nb", "\ud800"])
async def test_a_topic_that_is_none_is_refused(engine: Engine, topic: str) -> None:
    async def main(input):
        messaging.push(topic, "x")

    with pytest.raises(InvalidArgumentError, match="topic"):
        await engine.run(main)


@pytest.mark.parametrize(
    ("message", "error"),
    [("x" * 1_000_001, InvalidArgumentError), ("\ud800", InvalidArgumentError), (object(), InvalidTypeError)],
)
async def test_a_message_that_cannot_be_sent_is_refused(
    engine: Engine, message: object, error: type[Exception]
) -> None:
    async def main(input):
        messaging.broadcast("t", message)

    with pytest.raises(error):
        await engine.run(main)

"""A child that fails is heard: in the output of its launcher, in its waits for messages, and in listings."""

import asyncio
from pathlib import Path

import pytest

from pie_mlx import Engine
from pie_mlx.errors import ChildFailedError, child_failure
from pie_mlx.events import ProcessEvent, ProcessFailed, ProcessOutput
from pie_mlx.runtime.children import FailureReport
from pie_mlx.runtime.messaging.interruptible_waits import InterruptibleWaits

PROGRAM = """
import asyncio
from inferlet import messaging, runtime

async def main(input):
    topic = input.get("topic") or f"jobs-{runtime.process_id()}"
    match input["do"]:
        case "fail":
            raise ValueError("bad luck")
        case "answer":
            return messaging.push(topic, "answer")
        case "pull":
            child = runtime.launch("./", {"do": "fail"})
            return await messaging.pull(topic)
        case "next":
            child = runtime.launch("./", {"do": "fail"})
            with messaging.subscribe(topic) as news:
                return await news.next()
        case "tolerate":
            failed, helper = runtime.launch("./", {"do": "fail"}), None
            try:
                await messaging.pull(topic)
            except Exception as error:
                helper = runtime.launch("./", {"do": "answer", "topic": topic})
                return [error.child_message, await messaging.pull(topic), error.child_type]
        case "await":
            child = runtime.launch("./", {"do": "fail"})
            try:
                await child.result()
            except Exception:
                helper = runtime.launch("./", {"do": "answer", "topic": topic})
                return await messaging.pull(topic)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("family") / "main.py"
    file.write_text(PROGRAM)
    return file.parent


@pytest.mark.parametrize("do", ["pull", "next"])
async def test_a_wait_for_a_child_that_fails_raises_and_shows_its_traceback(program: Path, do: str) -> None:
    events: list[ProcessEvent] = []
    async with Engine(dummy=True, total_pages=64, seed=1, isolation="process") as engine:
        process = await engine.launch(program, {"do": do}, capture_output=True, on_event=events.append)
        with pytest.raises(ChildFailedError, match="ValueError: bad luck"):
            await process.result()
    shown = "".join(event.text for event in events if isinstance(event, ProcessOutput))
    line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if "bad luck" in text)
    assert f'File "{program / "main.py"}", line {line}, in main' in shown
    assert "failed: ValueError: bad luck\n" in shown


@pytest.mark.parametrize(("do", "value"), [("tolerate", ["bad luck", "answer", "ValueError"]), ("await", "answer")])
async def test_a_failure_is_raised_once_and_not_where_it_is_awaited(program: Path, do: str, value: object) -> None:
    async with Engine(dummy=True, total_pages=64, seed=1) as engine:
        assert await engine.run(program, {"do": do}, capture_output=True) == value


def test_the_end_of_a_child_on_request_is_no_failure() -> None:
    told: list[str] = []
    report = FailureReport("demo@0.0.0", told.append)
    report(ProcessFailed("1" * 36, "ProcessCancelledError", "cancelled"))
    assert told == []


def failure() -> ChildFailedError:
    return child_failure("1" * 36, "ValueError", "", "bad luck")


async def test_a_failure_that_is_taken_back_interrupts_nothing() -> None:
    waits = InterruptibleWaits()
    waits.set_failure("child", failure())
    waits.set_failure("child", None)
    with waits.waiting():
        await asyncio.sleep(0)


async def test_a_failure_interrupts_one_of_the_waits() -> None:
    waits = InterruptibleWaits()

    async def wait(event: asyncio.Event) -> None:
        with waits.waiting():
            await event.wait()

    event = asyncio.Event()
    tasks = [asyncio.create_task(wait(event)) for _ in range(2)]
    await asyncio.sleep(0)
    waits.set_failure("child", failure())
    with pytest.raises(ChildFailedError):
        await tasks[0]
    event.set()
    await tasks[1]


async def test_a_wait_that_is_cancelled_stays_cancelled() -> None:
    waits, started = InterruptibleWaits(), asyncio.Event()

    async def wait() -> None:
        with waits.waiting():
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

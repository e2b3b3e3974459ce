import asyncio
import threading

import pytest
from msgspec.structs import replace

import pie_mlx
from inferlet import Context, Model, Sampler, runtime, session
from pie_mlx import Engine
from pie_mlx.errors import (
    EngineStoppedError,
    InvalidArgumentError,
    LaunchError,
    ProcessCancelledError,
    SessionClosedError,
    TokenBudgetError,
)
from pie_mlx.events import EngineStarted, ProcessLaunched, ProcessMessage, ProcessReturned, TickCompleted


def model():
    return Model.load(runtime.models()[0])


async def generate(input):
    with Context(model()) as context:
        context.append(range(40))
        return await context.generate(Sampler.argmax(), max_tokens=4, auto_flush=False).collect_tokens()


async def leak(input):
    """Keeps a context alive in a place no garbage collector looks at."""
    leak.context = Context(model())
    leak.context.append(range(40))
    await leak.context.flush()


async def test_a_function_runs_beside_the_model(engine):
    assert len(await engine.run(generate)) == 4


async def test_a_file_runs_beside_the_model(engine, tmp_path):
    (tmp_path / "a.py").write_text(
        "from inferlet import runtime\nasync def main(input):\n    return [runtime.username(), input['n']]\n"
    )
    assert await engine.run(tmp_path / "a.py", {"n": 3}, username="ada") == ["ada", 3]


async def test_the_input_is_a_copy(engine):
    given = {"items": [1]}

    async def main(input):
        input["items"].append(2)
        return input

    assert await engine.run(main, given) == {"items": [1, 2]}
    assert given == {"items": [1]}


async def test_messages_and_files_arrive_in_order_and_before_the_result(engine):
    received = []

    async def main(input):
        session.send("text")
        session.send({"n": 1})
        session.send_file(b"bytes", "a.bin")
        session.send("last")

    def on_file(data, name):
        received.append((data, name))

    await engine.run(main, on_message=received.append, on_file=on_file)
    assert received == ["text", {"n": 1}, (b"bytes", "a.bin"), "last"]


async def test_printed_and_sent_text_keep_their_order(engine):
    events = []

    async def main(input):
        print("one")
        session.send("two")
        print("three", end="")

    await engine.run(main, on_event=events.append, capture_output=True)
    assert [event.text for event in events[1:-1]] == ["one\n", "two", "three"]


async def test_events_tell_the_life_of_a_process():
    events = []
    async with Engine(dummy=True, total_pages=16, on_event=events.append) as engine:

        async def main(input):
            session.send("hi")
            await generate(input)
            return 1

        process = await engine.launch(main)
        await process.result()
    kinds = [type(event) for event in events]
    assert kinds[:2] == [EngineStarted, ProcessLaunched]
    (returned,) = [event for event in events if isinstance(event, ProcessReturned)]
    assert replace(returned, at_seconds=0.0) == ProcessReturned(process.id, "1", "json")
    assert events.index(ProcessMessage(process.id, "hi")) < events.index(returned)
    assert TickCompleted in kinds


async def test_the_event_of_a_launch_tells_its_input():
    events = []

    async def main(input):
        return input["prompt"]

    async with Engine(dummy=True, total_pages=16, seed=1, on_event=events.append) as engine:
        await engine.run(main, {"prompt": "hi"})
    assert [event.input for event in events if isinstance(event, ProcessLaunched)] == ['{"prompt": "hi"}']


async def test_a_launched_program_can_be_talked_to(engine):
    async def main(input):
        name = await session.receive()
        return f"hello {name}, {await session.receive_file()!r}"

    process = await engine.launch(main)
    process.send("Ada")
    process.send_file(b"x")
    assert await process.result() == "hello Ada, b'x'"


async def test_a_program_that_waits_for_nobody_is_told_so(engine):
    async def main(input):
        await session.receive()

    with pytest.raises(SessionClosedError):
        await engine.run(main)


async def test_programs_run_side_by_side(engine):
    meeting = threading.Barrier(3)

    async def main(input):
        await asyncio.to_thread(meeting.wait)
        return await generate(input)

    results = await asyncio.gather(*(engine.run(main) for _ in range(3)))
    assert [len(tokens) for tokens in results] == [4, 4, 4]


@pytest.mark.parametrize("program", [generate, leak])
async def test_everything_a_program_owned_is_released(engine, program):
    await engine.run(program)
    assert (await engine.page_usage()).used == 0  # E7


async def test_a_crashed_program_leaves_nothing_behind(engine):
    async def main(input):
        await leak(input)
        raise RuntimeError("oh")

    with pytest.raises(RuntimeError, match="oh"):
        await engine.run(main)
    assert (await engine.page_usage()).used == 0  # E7


async def test_cancelling_a_run_cancels_the_program(engine):
    started = threading.Event()

    async def main(input):
        await leak(input)
        started.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(engine.run(main))
    await asyncio.to_thread(started.wait)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await engine.page_usage()).used == 0


async def test_a_token_budget_bounds_a_program(engine):
    with pytest.raises(TokenBudgetError):
        await engine.run(generate, token_budget=10)


async def test_leaving_the_engine_ends_what_still_runs():
    started = threading.Event()

    async def main(input):
        started.set()
        await asyncio.Event().wait()

    async with Engine(dummy=True, total_pages=16) as engine:
        process = await engine.launch(main)
        await asyncio.to_thread(started.wait)
    with pytest.raises(ProcessCancelledError, match="Engine stopped"):
        await process.result()


async def test_a_stopped_engine_takes_no_programs():
    async with Engine(dummy=True, total_pages=16) as engine:
        pass
    with pytest.raises(EngineStoppedError):
        await engine.run(generate)


async def test_an_engine_not_entered_takes_no_programs():
    with pytest.raises(EngineStoppedError):
        await Engine(dummy=True).run(generate)


def test_an_unknown_setting_is_refused_at_once():
    with pytest.raises(InvalidArgumentError, match="'total_page': unknown, did you mean 'total_pages'"):
        Engine(total_page=3)


async def test_inputs_are_checked_before_anything_starts(engine, tmp_path):
    (tmp_path / "main.py").write_text("async def main(input): ...\n")
    (tmp_path / "Pie.toml").write_text(
        '[package]\nname = "a"\nversion = "0.1.0"\n[parameters]\nn = { type = "int", default = 1 }\n'
    )
    with pytest.raises(LaunchError, match="parameter 'n': expected int"):
        await engine.run(tmp_path, {"n": "x"})


def test_scripts_run_a_program_in_one_call():
    assert len(pie_mlx.run(generate, dummy=True, total_pages=16)) == 4


async def test_notebooks_run_a_program_in_one_call_too():
    messages = []

    async def main(input):
        session.send(input["n"])

    pie_mlx.run(main, {"n": 1}, dummy=True, total_pages=16, on_message=messages.append)
    assert messages == [1]

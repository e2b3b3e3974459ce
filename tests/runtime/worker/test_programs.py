"""Programs in processes of their own behave as programs in this one."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from pie_mlx import Engine
from pie_mlx.errors import (
    InvalidArgumentError,
    LaunchError,
    OutOfPagesError,
    PieError,
    ProcessCancelledError,
    ProcessError,
    SessionClosedError,
)
from pie_mlx.events import ProcessFile, ProcessMessage, ProcessOutput, ProcessReturned
from pie_mlx.runtime.program.program import find_program
from tests.runtime.worker.conftest import bounded_engine, launch

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_program_runs_in_another_process(engine, program):
    path = program("import os\nasync def main(input):\n    return [os.getpid(), input['n']]\n")
    pid, n = await engine.run(path, {"n": 3})
    assert pid != os.getpid()
    assert n == 3


@pytest.mark.parametrize("value", [1 << 70, -(1 << 70), "\ud800", {"\udcff": [1.5, None]}])
async def test_whatever_json_carries_is_an_input(engine, program, value):
    path = program("async def main(input):\n    return ascii(input['x'])\n")
    assert await engine.run(path, {"x": value}) == ascii(value)


async def test_integers_of_any_size_are_messages_and_results(engine, program):
    path = program("""
        from inferlet import session
        async def main(input):
            session.send(1 << 70)
            return 1 << 70
        """)
    heard = []
    assert await engine.run(path, on_message=heard.append) == 1 << 70
    assert heard == [1 << 70]


async def test_many_calls_that_wait_are_ended_by_those_that_come_after(engine, program):
    path = program("""
        import asyncio
        from inferlet import messaging
        async def main(input):
            waiting = [asyncio.create_task(messaging.pull(f"waits {number}")) for number in range(1500)]
            await asyncio.sleep(0)
            for number in range(1500):
                messaging.push(f"waits {number}", "x")
            return len(await asyncio.gather(*waiting))
        """)
    assert await engine.run(path) == 1500


async def test_a_function_stays_in_this_process(engine):
    async def main(input):
        return os.getpid()

    assert await engine.run(main) == os.getpid()


async def test_a_program_decodes(engine, program):
    path = program("""
        from inferlet import Context, Model, Sampler, runtime
        async def main(input):
            with Context(Model.load(runtime.models()[0])) as context:
                context.append(range(40))
                return await context.generate(Sampler.argmax(), max_tokens=4, auto_flush=False).collect_tokens()
        """)
    assert len(await engine.run(path)) == 4


async def test_generators_of_one_grammar_go_their_own_ways(engine, program):
    path = program("""
        import asyncio
        from inferlet import Context, Model, Regex, Sampler, runtime
        async def main(input):
            model = Model.load(runtime.models()[0])
            contexts = [Context(model).user(name) for name in ("a", "b", "c")]
            grammar = Regex("[a-z]{9}")
            writers = [context.generate(Sampler.multinomial(), constrain=grammar) for context in contexts]
            return await asyncio.gather(*(writer.collect_text() for writer in writers))
        """)
    texts = await engine.run(path)
    assert [len(text) for text in texts] == [9, 9, 9]
    assert len(set(texts)) > 1


async def test_both_kinds_of_isolation_generate_the_same(engine, program):
    path = program("""
        from inferlet import Context, Model, Sampler, runtime
        async def main(input=None):
            with Context(Model.load(runtime.models()[0])) as context:
                context.append(range(20))
                sampler = Sampler.argmax()
                return await context.generate(sampler, max_tokens=8, auto_flush=False).collect_tokens()
        """)
    async with Engine(dummy=True, total_pages=64, seed=1) as inline:
        assert await inline.run(path) == await engine.run(path)


async def test_what_it_gives_out_arrives_in_order(engine, program):
    path = program("""
        import sys
        from inferlet import session
        async def main(input):
            print("one")
            session.send("two")
            print("three", file=sys.stderr)
            session.send_file(b"four", "f")
            print("five", end="")
            return {"n": 6}
        """)
    launched = await launch(engine, path)
    await launched.process.outcome()
    me = launched.process.id
    *before, returned = launched.events[1:]
    assert [*before, msgspec.structs.replace(returned, at_seconds=0.0)] == [
        ProcessOutput(me, "stdout", "one\n"),
        ProcessMessage(me, "two"),
        ProcessOutput(me, "stderr", "three\n"),
        ProcessFile(me, "f", 4),
        ProcessOutput(me, "stdout", "five"),
        ProcessReturned(me, '{"n": 6}', "json"),
    ]


async def test_messages_reach_it(engine, program):
    path = program("""
        from inferlet import session
        async def main(input):
            return [await session.receive(), (await session.receive_file()).decode()]
        """)
    launched = await launch(engine, path)
    launched.process.send("hello")
    launched.process.send_file(b"data")
    assert await launched.process.result() == ["hello", "data"]


async def test_a_message_that_is_no_unicode_text_arrives_as_far_as_it_is(engine, program):
    path = program("""
        from inferlet import session
        async def main(input):
            return [await session.receive(), await session.receive()]
        """)
    process = (await launch(engine, path)).process
    process.send("a\ud800b")
    process.send("next")
    assert await process.result() == ["a\ufffdb", "next"]


async def test_a_closed_session_is_told(engine, program):
    path = program("from inferlet import session\nasync def main(input):\n    await session.receive()\n")
    with pytest.raises(SessionClosedError):
        await engine.run(path)


async def test_typed_errors_keep_class_code_and_details(engine, program):
    path = program("""
        from inferlet import Context, Model, runtime
        async def main(input):
            context = Context(Model.load(runtime.models()[0]))
            context.append([1] * 64 * 16 + [1])
            await context.flush()
        """)
    with pytest.raises(OutOfPagesError) as caught:
        await engine.run(path)
    assert caught.value.code == "out_of_pages"
    assert caught.value.needed > caught.value.capacity  # E2


async def test_an_error_can_be_caught_by_its_class_in_the_program(engine, program):
    path = program("""
        from inferlet import Model
        async def main(input):
            try:
                Model.load("nobody")
            except Exception as error:
                return [type(error).__name__, error.code, error.hint]
        """)
    name, code, hint = await engine.run(path)
    assert (name, code) == ("ModelNotFoundError", "model_not_found")
    assert "loaded models" in hint  # E2


async def test_a_call_with_a_value_of_a_wrong_type_is_refused_and_the_program_goes_on(engine, program):
    path = program("""
        import asyncio
        from pie_mlx.calls import Decode, ReleaseMatcher
        from inferlet._calls.host import current_host
        async def main(input):
            host, caught = current_host(), []
            host.post(ReleaseMatcher("no number"))
            for ask in (host.call, host.submit):
                try:
                    await ask(Decode("dummy", ["a"]))
                except Exception as error:
                    caught.append([type(error).__name__, error.code])
            return caught
        """)
    assert await engine.run(path) == [["InvalidTypeError", "invalid_type"]] * 2  # E2


@pytest.mark.parametrize(
    ("line", "kind", "name", "message"),
    [
        ('raise ValueError("bad luck")', ValueError, "ValueError", "bad luck"),
        ('raise KeyError("k")', ProcessError, "KeyError", "'k'"),
        ('class Mine(Exception): ...\n    raise Mine("own")', ProcessError, "Mine", "own"),
        ("raise SystemExit(3)", ProcessError, "SystemExit", "3"),
        ("raise KeyboardInterrupt", ProcessError, "KeyboardInterrupt", "KeyboardInterrupt"),
        ("return object()", PieError, "InvalidTypeError", "return value of type object"),
    ],
)
async def test_an_uncaught_error_ends_it(engine, program, line, kind, name, message):
    launched = await launch(engine, program(f"async def main(input):\n    {line}\n"))
    outcome = await launched.process.outcome()
    assert isinstance(outcome.error, kind)
    assert (outcome.error_type, message in outcome.message) == (name, True)  # E7


@pytest.mark.parametrize("line", ["raise ValueError('bad luck')", "open('nowhere')", "import nowhere"])
async def test_a_traceback_shows_the_programs_lines(engine, program, line):
    launched = await launch(engine, program(f"async def main(input):\n    {line}\n"))
    await launched.process.outcome()
    assert line in launched.text("stderr")
    assert "pie_mlx" not in launched.text("stderr")


async def test_a_program_without_main_is_a_launch_error(engine, program):
    with pytest.raises(LaunchError, match="is not 'async def'"):
        await engine.run(program("main = 3\n"))


async def test_cancelling_lets_it_clean_up(engine, program):
    path = program("""
        import asyncio
        from inferlet import session
        async def main(input):
            session.send("started")
            try:
                await asyncio.Event().wait()
            finally:
                session.send("cleaned")
        """)
    launched = await launch(
        engine, path, on_message=lambda text: text == "started" and launched.process.cancel("enough")
    )
    with pytest.raises(ProcessCancelledError, match="enough"):
        await launched.process.result()
    assert launched.messages() == ["started", "cleaned"]


async def test_cancelling_before_the_first_line_is_no_different(engine, program):
    launched = await launch(
        engine, program("import asyncio\nasync def main(input):\n    await asyncio.Event().wait()\n")
    )
    launched.process.cancel("no longer wanted")
    assert str(await launched.failure()) == "no longer wanted"


async def test_a_cancelled_wait_is_taken_back(engine, program):
    path = program("""
        import asyncio
        from inferlet import session
        async def main(input):
            waiting = asyncio.create_task(session.receive())
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.sleep(0)
            session.send("ready")
            return await session.receive()
        """)
    launched = await launch(engine, path, on_message=lambda text: launched.process.send("for the second"))
    assert await launched.process.result() == "for the second"  # E5


async def test_a_wait_that_is_given_up_as_its_answer_comes_loses_no_message(engine, program):
    path = program("""
        import asyncio
        from inferlet import runtime, session
        async def main(input):
            heard, turns = [], 0
            while heard[-1:] != ["last"]:
                waiting = asyncio.create_task(session.receive())
                for _ in range(turns % 7):
                    await asyncio.sleep(0)
                if turns % 2:
                    runtime.username()  # reads the answer of the wait, which its task has not seen yet
                turns += 1
                if not waiting.done() and turns % 8:
                    waiting.cancel()
                [end] = await asyncio.gather(waiting, return_exceptions=True)
                heard += [end] if isinstance(end, str) else []
            return heard
        """)
    launched = await launch(engine, path)
    texts = [*map(str, range(30)), "last"]
    for text in texts:
        launched.process.send(text)
    assert await launched.process.result() == texts  # E5


async def test_calls_from_threads_and_other_loops_are_answered(engine, program):
    path = program("""
        import asyncio
        from inferlet import Model, runtime
        def blocking(n):
            return [runtime.username() for _ in range(n)]
        def own_loop(text):
            async def ask():
                return Model.load(runtime.models()[0]).tokenizer().encode(text)
            return asyncio.run(ask())
        async def main(input):
            answers = await asyncio.gather(*(asyncio.to_thread(blocking, 50) for _ in range(4)),
                                           asyncio.to_thread(own_loop, "a"))
            return sum(map(len, answers[:4]))
        """)
    assert await engine.run(path) == 200


async def test_everything_a_program_owned_is_released(engine, program):
    path = program("""
        from inferlet import Context, Model, runtime
        kept = []
        async def main(input):
            kept.append(Context(Model.load(runtime.models()[0])))
            kept[0].append(range(40))
            await kept[0].flush()
        """)
    await engine.run(path)
    assert (await engine.page_usage()).used == 0  # E7


async def test_output_below_python_is_captured_too(engine, program):
    path = program("""
        import os, sys
        async def main(input):
            os.write(1, b"raw out\\n")
            sys.stderr.buffer.write("raw \\u00e9rr\\n".encode())
        """)
    launched = await launch(engine, path)
    await launched.process.outcome()
    assert launched.text("stdout") == "raw out\n"
    assert launched.text("stderr") == "raw \u00e9rr\n"


async def test_without_capture_output_goes_to_this_interpreters_streams(engine, program, capsys):
    await engine.run(program("async def main(input):\n    print('plain')\n"))
    assert capsys.readouterr().out == "plain\n"


async def test_only_named_variables_are_seen(program, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("MY_SETTING", "y")
    async with bounded_engine(environment=("MY_SETTING",)) as engine:
        seen = await engine.run(program("import os\nasync def main(input):\n    return dict(os.environ)\n"))
    assert set(seen) - {"LC_CTYPE"} <= {"PATH", "HOME", "LANG", "TZ", "MY_SETTING"}
    assert seen["MY_SETTING"] == "y"


async def test_a_program_was_given_no_arguments_of_a_command_line(program):
    path = program("import sys\nasync def main(input):\n    return sys.argv\n")
    async with bounded_engine() as engine:
        assert await engine.run(path) == [str(path)]


async def test_the_working_directory_vanishes(program):
    path = program("""
        import os
        async def main(input):
            open("file", "w").write("x")
            return [os.getcwd(), os.environ["HOME"]]
        """)
    async with bounded_engine() as engine:
        directory, home = await engine.run(path)
    assert directory == home
    assert not Path(directory).exists()  # noqa: ASYNC240


async def test_an_unknown_isolation_is_refused():
    with pytest.raises(InvalidArgumentError, match="isolation 'thread'"):
        Engine(dummy=True, isolation="thread")


async def test_many_programs_run_at_once(engine, program):
    path = program("async def main(input):\n    return input['n']\n")
    assert await asyncio.gather(*(engine.run(path, {"n": n}) for n in range(20))) == list(range(20))


async def test_programs_launch_programs_and_hear_of_their_end(engine, program):
    child = program("import os\nasync def main(input):\n    return [os.getpid(), input['n']]\n", "child.py")
    path = program("""
        import os
        from inferlet import runtime
        async def main(input):
            child = runtime.launch(input["child"], {"n": 3})
            return [os.getpid(), await child.result()]
        """)
    own, (other, n) = await engine.run(path, {"child": str(child)})
    assert own != other
    assert n == 3


async def test_programs_talk_to_each_other(engine, program):
    path = program("""
        from inferlet import messaging
        async def main(input):
            if input["talks"]:
                messaging.push("topic", "hello")
            else:
                return await messaging.pull("topic")
        """)
    listening = await launch(engine, path, {"talks": False})
    await engine.run(path, {"talks": True})
    assert await listening.process.result() == "hello"


async def test_a_module_of_a_dependency_is_found(engine, tmp_path):
    needed = _package(tmp_path / "needed", "async def main(input): ...\n", values="VALUE = 7\n")
    source = "from needed_one import values\nasync def main(input):\n    return values.VALUE\n"
    user = _package(tmp_path / "user", source)
    assert await engine.run(replace(user, dependencies={"needed-one": needed})) == 7


async def test_seeds_of_programs_differ(engine, program):
    path = program("import random\nasync def main(input):\n    return random.random()\n")
    assert await engine.run(path) != await engine.run(path)


def _package(directory, main, **modules):
    directory.mkdir()
    for name, source in {"main": main, **modules}.items():
        (directory / f"{name}.py").write_text(source)
    return find_program(directory)


async def test_nothing_overtakes_a_call_that_takes_long_to_decode(engine, program):  # P3
    path = program("""
        from pie_mlx import calls
        from inferlet._calls.host import current_host
        async def main(input):
            host = current_host()
            host.post(calls.SendFile(bytes(4 << 20), "long"))
            host.post(calls.SendMessage("short"))
            return (await host.submit(calls.DescribeRuntime())).username
        """)
    launched = await launch(engine, path)
    assert await launched.process.result()
    found = [type(event) for event in launched.events if isinstance(event, ProcessFile | ProcessMessage)]
    assert found == [ProcessFile, ProcessMessage]


async def test_a_long_return_value_is_not_lost_with_its_worker(engine, program):
    path = program("async def main(input):\n    return list(range(100_000))\n")
    assert await engine.run(path) == list(range(100_000))

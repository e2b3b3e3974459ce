import asyncio
import sys

from pie_mlx.runtime.execution.output_capture import captured_output


def test_what_a_program_prints_is_captured(capsys):
    written = []
    with captured_output(lambda stream, text: written.append((stream, text))):
        print("out")
        print("err", file=sys.stderr)
    assert written == [("stdout", "out"), ("stdout", "\n"), ("stderr", "err"), ("stderr", "\n")]
    assert capsys.readouterr() == ("", "")


def test_the_streams_are_themselves_again_afterwards():
    before = sys.stdout, sys.stderr
    with captured_output(lambda stream, text: None):
        assert sys.stdout is not before[0]
    assert (sys.stdout, sys.stderr) == before


async def test_programs_side_by_side_keep_their_output_apart(capsys):
    async def program(name, written):
        with captured_output(lambda stream, text: written.append(text)):
            for _ in range(3):
                print(name, end="")
                await asyncio.sleep(0)

    first, second = [], []
    await asyncio.gather(program("1", first), program("2", second))
    print("mine", end="")
    assert ("".join(first), "".join(second), capsys.readouterr().out) == ("111", "222", "mine")


async def test_threads_of_a_program_are_captured():
    written = []
    with captured_output(lambda stream, text: written.append(text)):
        await asyncio.to_thread(print, "there", end="")
    assert "".join(written) == "there"


def test_captured_output_is_no_terminal():
    with captured_output(lambda stream, text: None):
        assert not sys.stdout.isatty()
        assert sys.stdout.encoding

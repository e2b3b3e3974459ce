"""`pie run --inline`: a program that stops in the terminal of the command."""

import pytest

pytestmark = pytest.mark.timeout(60)

SOURCE = """
import asyncio, json
from inferlet import session

{define} main(input):
    number = 41
    breakpoint()
    print("printed", number)
    {wait}
    return {{"number": number}}
"""


@pytest.fixture
def program(tmp_path):
    """Writes a program that stops."""

    def write(define="async def", wait="await asyncio.sleep(0)"):
        file = tmp_path / "stops.py"
        file.write_text(SOURCE.format(define=define, wait=wait))
        return file

    return write


def test_a_breakpoint_stops_the_program_where_its_values_can_be_changed(pie, answer, program):
    answer("p number + 1\nnumber = 7\nc\n")
    ended = pie("run", "--inline", "--dummy", program())
    assert (ended.code, ended.err) == (0, "")
    assert '-> print("printed", number)' in ended.out
    assert [line for line in ended.out.splitlines() if "(Pdb)" in line] == ["(Pdb) 42", "(Pdb) (Pdb) printed 7"]
    assert ended.out.endswith('{"number": 7}\n')


@pytest.mark.parametrize(
    ("typed", "define", "wait"), [("q\n", "async def", "await asyncio.sleep(0)"), ("", "def", "session.send('sent')")]
)
def test_who_leaves_the_debugger_ends_the_program_as_ctrl_c_does(pie, answer, program, typed, define, wait):
    answer(typed)
    ended = pie("run", "--inline", "--dummy", program(define, wait))
    assert (ended.code, ended.err) == (130, "")
    assert "printed 41" not in ended.out


def test_another_debugger_that_the_user_has_chosen_is_the_one_that_stops(pie, program, monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "builtins.print")
    assert pie("run", "--inline", "--dummy", program()).out == '\nprinted 41\n{"number": 41}\n'


def test_a_program_that_fails_in_this_process_is_reported_as_any(pie, tmp_path):
    (tmp_path / "fails.py").write_text("async def main(input):\n    return input['n']\n")
    ended = pie("run", "--inline", "--dummy", tmp_path / "fails.py")
    assert (ended.code, "KeyError" in ended.err.splitlines()[-1]) == (1, True)


INTERRUPT = "import signal; signal.raise_signal(signal.SIGINT)"


def test_ctrl_c_is_the_debugger_s_at_its_prompt_and_ends_a_program_that_runs(pie, answer, program):
    answer(f"{INTERRUPT}\nnumber = 7\nc\n")
    ended = pie("run", "--inline", "--dummy", program(wait=f"{INTERRUPT}; await asyncio.sleep(1e9)"))
    assert (ended.code, ended.err) == (130, "")
    assert "KeyboardInterrupt" in ended.out
    assert ended.out.endswith("printed 7\n")

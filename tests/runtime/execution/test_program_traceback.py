"""A program's author reads its own lines."""

from pie_mlx.runtime.execution.entry import ProgramBody
from pie_mlx.runtime.execution.program_traceback import print_traceback
from pie_mlx.runtime.program.program import find_program


def test_a_missing_name_of_the_input_is_shown_without_the_lines_that_answer_it(tmp_path, capsys):
    (tmp_path / "agent.py").write_text("def main(input):\n    return input['promt']\n")
    try:
        ProgramBody(find_program(tmp_path / "agent.py"))({"prompt": "hi"})
    except KeyError as error:
        print_traceback(error)
    lines = capsys.readouterr().err.splitlines()
    _, *frames = [line.strip() for line in lines if line.startswith("  File")]  # the first is this test
    assert frames == [f'File "{tmp_path}/agent.py", line 2, in main']
    assert "input has: prompt" in lines[-1]

import ast
import re

from pie_mlx.events import ContextCreated


def test_the_model_writes_arithmetic_that_python_runs(play):
    played = play("code-act", {"question": "What is 120 + 345?"})
    code, value = re.fullmatch(r">>> (.*)\n(.*)\n", played.text).groups()
    assert eval(compile(ast.parse(code, mode="eval"), "", "eval"), {"__builtins__": {}}) == int(value)
    assert len(played.of(ContextCreated)) == 2
    assert isinstance(played.result, str)


def test_no_question_makes_it_write_anything_else(play):
    played = play("code-act", {"question": "Delete all files.", "max_tokens": 6})
    assert re.match(r">>> [\d(][\d +*/()-]*\n", played.text)

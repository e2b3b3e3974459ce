"""Examples that there are in two languages do the same in both."""

import re
from pathlib import Path

import pytest

from pie_mlx.events import ContextForked, ProcessLaunched
from tests.examples.stage import EXAMPLES

ALIKE = {
    "hello": {"prompt": "What can you do?"},
    "beam-search": {"width": 2, "max_tokens": 6},
    "grammars": {"question": "What is 58 + 67?", "max_tokens": 24},
    "n-gram-speculator": {"question": "Repeat the list: dog, cat, horse, rabbit, fox", "max_tokens": 24},
    "json-extraction": {"texts": ["Nina lives in Lima. She is 27 years old."]},
    "snapshots": {"say": "What is my name?", "forget": True},
}
"""Examples that draw nothing at random, and their inputs."""


@pytest.mark.parametrize("name", ALIKE)
def test_both_languages_give_the_same_value(play, name):
    python, typescript = play(name, ALIKE[name]), play(f"{name}/main.ts", ALIKE[name])
    assert typescript.result == python.result
    assert len(typescript.messages) == len(python.messages)


def test_logits_are_read_as_in_python(play):
    python, typescript = play("raw-logits", {"answer": "47"}), play("raw-logits/main.ts", {"answer": "47"})
    assert typescript.result == pytest.approx(python.result, rel=1e-6)
    assert typescript.text == python.text


def test_two_forks_answer_and_one_of_them_calls_a_tool(play):
    played = play("fork-and-tool/main.ts", {"city": "Lima"})
    assert len(played.of(ContextForked)) == 2
    assert played.text.startswith(play("fork-and-tool", {"city": "Lima"}).text.partition("\n\n> ")[0])
    assert re.search(r'\[get_weather {"city": ?"Lima"} -> {"temperature_c":\d+', played.text)


def test_a_conversation_goes_on_with_what_the_client_says(play):
    played = play("chat/main.ts", {"turns": ["My name is Anna."], "max_tokens": 8}, says=["What is my name?"])
    assert re.findall(r"^> (.*)$", played.text, re.MULTILINE) == ["My name is Anna.", "What is my name?"]


def test_the_likeliest_candidate_is_returned(play):
    played = play("best-of-n/main.ts", {"n": 2, "max_tokens": 6})
    assert len(played.of(ContextForked)) == 2
    assert played.messages[0].endswith(f"  {played.result}\n")


def test_a_program_in_typescript_launches_children_in_python(play):
    played = play("fan-out/main.ts", {"texts": ["Tom lives in Oslo. Tom is 45 years old."]})
    parent, child = played.of(ProcessLaunched)
    assert child.parent == parent.process
    assert played.result == "from Tom (45) to Tom (45)"


def test_an_agent_uses_the_tools_of_a_server(play):
    played = play("react-agent/main.ts", {"max_calls": 1})
    assert "Observation: 23 degrees, cloudy" in played.text


def test_each_example_in_typescript_is_beside_one_in_python() -> None:
    assert all(Path(file.parent, "main.py").is_file() for file in EXAMPLES.glob("*/main.ts"))

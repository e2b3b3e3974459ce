"""`pie chat` on the embedded model."""

import io
import json
import re
import shutil
import sys

import pytest

from pie_mlx.engine.model.loading.sources import EMBEDDED
from tests.terminal import Terminal


def without_models(home):
    """An environment in which only the embedded model is on the disk."""
    return {"HOME": str(home), "HF_HUB_CACHE": str(home / "hub")}


def test_a_question_is_answered(pie):
    ended = pie("chat", "My name is Anna.", "--temperature", 0)
    assert (ended.code, ended.out, ended.err) == (0, "Nice to meet you, Anna!\n", "")


def test_a_question_needs_no_quotes(pie):
    assert pie("chat", "My", "name", "is", "Anna.", "--temperature", 0).out == "Nice to meet you, Anna!\n"


def test_what_is_piped_in_is_the_question(pie, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("My name is Bob.\n"))
    assert "Bob" in pie("chat", "--temperature", 0).out


def test_what_is_piped_in_is_read_below_the_question(pie, monkeypatch, tmp_path):
    file = tmp_path / "passage.txt"
    file.write_text("The plum costs 12 euros. The drum is in the barn.\n")
    with file.open() as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert "12" in pie("chat", "What does the plum cost?", "--temperature", 0).out


def test_a_question_that_is_too_long_is_told_with_its_length_and_the_models(pie):
    ended = pie("chat", "word " * 9000)
    said = r"context: \d+ tokens are more than this model reads: at most \d+"
    advice = "     try: shorten the prompt, or start a new context"
    assert ended.code == 1
    assert re.search(rf"^pie: program 'chat@[^']+': ContextLengthError: {said}\n{advice}$", ended.err, re.MULTILINE)


def test_what_is_piped_in_must_be_text(pie, monkeypatch, tmp_path):
    file = tmp_path / "picture"
    file.write_bytes(b"\xff\xd8\xff")
    with file.open(encoding="utf-8") as piped:
        monkeypatch.setattr("sys.stdin", piped)
        ended = pie("chat")
    assert ended.code == 2
    assert "the piped input is not UTF-8 text" in ended.err


def test_a_thought_is_no_longer_than_it_may_be(pie):
    ask = ("chat", "What is 12 plus 30? Think before you answer.", "--temperature", 0)
    assert len(pie(*ask, "--think", 1).out.partition("... done")[0]) < len(pie(*ask).out.partition("... done")[0])


def test_quiet_prints_what_was_said_without_what_was_thought(pie):
    ended = pie("chat", "-q", "What is 12 plus 30? Think before you answer.", "--temperature", 0)
    assert ended.out == "12 + 30 = 42\n"


def test_json_is_one_object_per_event(pie):
    lines = pie("chat", "My name is Anna.", "--temperature", 0, "--json").out.splitlines()
    assert json.loads(lines[-1])["value"] == "Nice to meet you, Anna!"


def test_options_are_the_programs_input(pie):
    ended = pie("chat", "Who are you?", "--max-tokens", 2, "--temperature", 0)
    assert len(ended.out.split()) <= 2


@pytest.mark.parametrize("piped", ["", " \n"])
def test_nobody_who_asks_is_told_so(pie, monkeypatch, piped):
    monkeypatch.setattr("sys.stdin", io.StringIO(piped))
    ended = pie("chat")
    assert ended.code == 2
    assert "there is no question: give a QUESTION" in ended.err


PROMPT = "\x1b[?2004h"
"""Pasted text is to be told from what is typed."""


def test_at_a_terminal_turns_are_taken(home):
    with Terminal(
        [sys.executable, "-m", "pie_mlx", "chat", "--temperature", "0"], PIE_HOME=str(home), **without_models(home)
    ) as terminal:
        terminal.read(PROMPT)
        assert "Nice to meet you, Anna!" in terminal.type("My name is Anna.\r", until=PROMPT)
        assert "Your name is Anna." in terminal.type("What is my name?\r", until=PROMPT)
        terminal.type("\x04", until="\n")
        assert terminal.wait() == 0


def test_a_question_at_a_terminal_is_answered_and_no_other_asked_for(home):
    words = ["chat", "My name is Anna.", "--temperature", "0"]
    with Terminal([sys.executable, "-m", "pie_mlx", *words], PIE_HOME=str(home), **without_models(home)) as terminal:
        terminal.read("Nice to meet you, Anna!")
        assert terminal.wait() == 0


def test_variables_of_the_chat_template_are_told_to_it(pie):
    question = ("chat", "What is 12 plus 30? Think before you answer.", "--temperature", 0)
    assert pie(*question, "--template", "enable_thinking=false").out == "12 + 30 = 42\n"
    assert pie(*question).out != "12 + 30 = 42\n"


def test_a_chat_on_a_model_without_a_template_says_so_once(pie, tmp_path):
    folder = shutil.copytree(EMBEDDED / "pie-tiny", tmp_path / "bare")
    (folder / "chat_template.jinja").unlink()
    ended = pie("chat", "Hello", "--model", folder, "--max-tokens", 4)
    assert ended.code == 0
    assert ended.err.count("bare has no chat template: turns are written as ChatML") == 1


def test_a_variable_that_the_template_does_not_read_is_refused(pie):
    ended = pie("chat", "Hello", "--template", "effort=high")
    assert ended.code == 1
    assert "reads no 'effort'" in ended.err


def test_a_variable_without_a_value_is_refused(pie):
    ended = pie("chat", "Hello", "--template", "enable_thinking")
    assert ended.code == 2
    assert "NAME=VALUE" in ended.err


def test_a_conversation_begins_with_a_choice_of_the_models_on_this_disk(home, tiny_model_directory):
    folder = home / ".lmstudio" / "models" / "owner"
    folder.mkdir(parents=True)
    (folder / "tiny").symlink_to(tiny_model_directory("llama"))
    words = [sys.executable, "-m", "pie_mlx", "chat", "--temperature", "0"]
    with Terminal(words, PIE_HOME=str(home), **without_models(home)) as terminal:
        assert "1  owner/tiny" in terminal.read("Which model")
        terminal.type("2\r", until=PROMPT)
        assert "Nice to meet you, Anna!" in terminal.type("My name is Anna.\r", until=PROMPT)

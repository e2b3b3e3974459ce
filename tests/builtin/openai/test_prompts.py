"""How much to think is told in the words of the model's chat template."""

from types import SimpleNamespace

import pytest


@pytest.fixture
def thinking(openai_module):
    return openai_module("prompts")._thinking


@pytest.mark.parametrize(("effort", "enabled"), [("none", False), ("minimal", True), ("high", True)])
def test_a_template_that_only_knows_yes_and_no_is_told_whether(thinking, effort, enabled):
    assert thinking(effort, ["enable_thinking"]) == {"enable_thinking": enabled}


def test_a_template_that_knows_efforts_is_told_which(thinking):
    both = ["enable_thinking", "reasoning_effort"]
    assert thinking("high", both) == {"reasoning_effort": "high"}


def test_to_a_template_that_reads_neither_nothing_is_told(thinking):
    assert thinking("low", ["date_string"]) == {}


def test_an_effort_that_the_template_cannot_be_told_is_left_out_and_reported_but_none_is_held(
    openai_module, monkeypatch
):
    prompts, wire = openai_module("prompts"), openai_module("wire")
    model = SimpleNamespace(name="m", template_variables=[])
    monkeypatch.setattr(prompts, "load_model", lambda name, template=None: model)
    body = b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "reasoning_effort": "%b"}'
    low, none = (wire.read_fields(body % effort, openai_module("fields").ChatRequest) for effort in (b"low", b"none"))
    assert prompts.load_with_variables(low, wire.CHAT) is prompts.load_with_variables(none, wire.CHAT) is model
    assert (low.left_out, low.thought_tokens) == (["reasoning_effort"], None)
    assert (none.left_out, none.thought_tokens) == ([], 0)

"""How much to think is told in the words of the model's chat template."""

import pytest


@pytest.fixture
def thinking(openai_module):
    return openai_module("prompts")._thinking


@pytest.mark.parametrize(("effort", "enabled"), [("none", False), ("minimal", True), ("high", True)])
def test_a_template_that_only_knows_yes_and_no_is_told_whether(thinking, effort, enabled):
    assert thinking(effort, ["enable_thinking"], "reasoning_effort") == {"enable_thinking": enabled}


def test_a_template_that_knows_efforts_is_told_which(thinking):
    both = ["enable_thinking", "reasoning_effort"]
    assert thinking("high", both, "reasoning_effort") == {"reasoning_effort": "high"}


def test_a_template_that_cannot_be_told_is_named_as_the_reason(thinking, openai_module):
    with pytest.raises(openai_module("wire").Refusal, match="leave it out") as refused:
        thinking("low", ["date_string"], "reasoning.effort")
    assert (refused.value.status, refused.value.param) == (400, "reasoning.effort")

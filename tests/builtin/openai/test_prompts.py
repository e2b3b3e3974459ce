"""How much to think is told in the words of the model's chat template."""

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

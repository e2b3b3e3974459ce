"""How much to think is told in the words of the model's chat template."""

import json
from types import SimpleNamespace

import pytest


@pytest.fixture
def request_with(openai_module, monkeypatch):
    """A request with an effort to a model with some template variables; what the template is told, and the request."""
    prompts, wire = openai_module("prompts"), openai_module("wire")

    def ask(effort, variables):
        def load(name, template=None):
            told.append(template or {})
            return SimpleNamespace(name="m", template_variables=variables)

        told = []
        monkeypatch.setattr(prompts, "load_model", load)
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "reasoning_effort": effort}
        request = wire.read_fields(json.dumps(body).encode(), openai_module("fields").ChatRequest)
        prompts.load_with_variables(request, wire.CHAT)
        return told[-1], request

    return ask


@pytest.mark.parametrize(("effort", "enabled"), [("none", False), ("minimal", True), ("high", True)])
def test_a_template_that_only_knows_yes_and_no_is_told_whether(request_with, effort, enabled):
    told, request = request_with(effort, ["enable_thinking"])
    assert (told, request.left_out) == ({"enable_thinking": enabled}, [])


def test_a_template_that_knows_efforts_is_told_which(request_with):
    told, _ = request_with("high", ["enable_thinking", "reasoning_effort"])
    assert told == {"reasoning_effort": "high"}


def test_to_a_template_that_reads_neither_nothing_is_told(request_with):
    told, request = request_with("low", ["date_string"])
    assert (told, request.left_out) == ({}, ["reasoning_effort"])


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

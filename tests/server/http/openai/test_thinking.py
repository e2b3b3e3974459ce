"""How much a model is told to think."""

import openai
import pytest

from tests.server.http.openai.conftest import MODEL

SUM = [{"role": "system", "content": "Think before you answer."}, {"role": "user", "content": "What is 31 + 47?"}]


@pytest.fixture
def thought(client):
    """What a chat thinks, None for nothing, and what it says."""

    def asked(**told):
        options = {"model": MODEL, "messages": SUM, "temperature": 0, "max_tokens": 60}
        message = client.chat.completions.create(**options, **told).choices[0].message
        assert "78" in message.content
        return getattr(message, "reasoning_content", None)

    return asked


def test_a_model_thinks_as_it_is_told(thought):
    assert thought()
    assert thought(reasoning_effort="low") == thought()
    assert thought(reasoning_effort="none") is None


def test_variables_of_the_chat_template_are_told_to_it_and_go_first(thought):
    assert thought(extra_body={"chat_template_kwargs": {"enable_thinking": False}}) is None
    assert thought(reasoning_effort="none", extra_body={"chat_template_kwargs": {"enable_thinking": True}})


def test_a_variable_that_the_template_does_not_read_is_refused(thought):
    with pytest.raises(openai.BadRequestError, match="reads no 'thinking': it reads enable_thinking") as refused:
        thought(extra_body={"chat_template_kwargs": {"thinking": True}})
    assert refused.value.body["param"] == "chat_template_kwargs.thinking"


def test_a_response_has_its_reasoning_as_an_item_and_none_where_it_is_told_so(client):
    def items(**told):
        response = client.responses.create(model=MODEL, input=SUM, temperature=0, max_output_tokens=60, **told)
        assert "78" in response.output_text
        return response.reasoning.effort, [item.type for item in response.output]

    assert items() == (None, ["reasoning", "message"])
    assert items(reasoning={"effort": "none"}) == ("none", ["message"])
    assert items(extra_body={"chat_template_kwargs": {"enable_thinking": False}}) == (None, ["message"])

"""How much a model is told to think."""

import openai
import pytest

from tests.server.http.openai.conftest import MODEL, WEATHER

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


LIMIT = 3
BUDGETS = {
    "reasoning": {"reasoning": {"max_tokens": LIMIT}},
    "thinking_budget": {"thinking_budget": LIMIT},
    "with stop texts": {"thinking_budget": LIMIT, "stop": ["never there"]},
    "with strict tools": {
        "thinking_budget": LIMIT,
        "tools": [{**WEATHER, "function": {**WEATHER["function"], "strict": True}}],
    },
    "streamed": {"thinking_budget": LIMIT, "stream": True, "stream_options": {"include_usage": True}},
}


@pytest.mark.parametrize("fields", BUDGETS.values(), ids=BUDGETS)
def test_a_thought_takes_no_more_than_its_budget_and_the_answer_follows(post, fields):
    answers = post(
        "/v1/chat/completions", {"model": MODEL, "messages": SUM, "temperature": 0, "max_tokens": 60, **fields}
    )
    parts = [part.get("delta") or part.get("message") or {} for answer in answers for part in answer["choices"]]
    cut, said = ("".join(part.get(name) or "" for part in parts) for name in ("reasoning_content", "content"))
    assert cut
    assert said or any(part.get("tool_calls") for part in parts)
    assert "think" not in cut + said
    assert answers[-1]["usage"]["completion_tokens_details"]["reasoning_tokens"] == LIMIT + 1, "and its opening"


def test_all_interfaces_limit_thoughts(post):
    drawn = {"model": MODEL, "temperature": 0, "max_tokens": 60}
    (chat,) = post("/v1/chat/completions", {**drawn, "messages": SUM, "thinking_budget": LIMIT})
    message = chat["choices"][0]["message"]
    reply = [message["reasoning_content"], message["content"]]
    options = {**drawn, "system": SUM[0]["content"], "thinking": {"type": "enabled", "budget_tokens": LIMIT}}
    (answer,) = post("/v1/messages", {**options, "messages": SUM[1:]})
    assert [block.get("thinking") or block["text"] for block in answer["content"]] == reply
    options = {"model": MODEL, "temperature": 0, "max_output_tokens": 60, "reasoning": {"max_tokens": LIMIT}}
    (response,) = post("/v1/responses", {**options, "input": SUM})
    assert [item["content"][0]["text"] for item in response["output"]] == reply


def test_a_response_has_its_reasoning_as_an_item_and_none_where_it_is_told_so(client):
    def items(**told):
        response = client.responses.create(model=MODEL, input=SUM, temperature=0, max_output_tokens=60, **told)
        assert "78" in response.output_text
        return response.reasoning.effort, [item.type for item in response.output]

    assert items() == (None, ["reasoning", "message"])
    assert items(reasoning={"effort": "none"}) == ("none", ["message"])
    assert items(extra_body={"chat_template_kwargs": {"enable_thinking": False}}) == (None, ["message"])

"""What /v1/responses answers to the official `openai` client."""

import json
from functools import partial

import jsonschema
import openai
import pydantic
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.server.http.openai.conftest import MODEL, WEATHER

pytestmark = pytest.mark.timeout(60)

TOOL = {"type": "function", **WEATHER["function"]}
HELPER = "You are a helpful assistant."
QUESTION = "What is the capital of France?"
IN_PARIS = {"role": "user", "content": "What is the weather in Paris?"}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
LOGPROBS = "message.output_text.logprobs"
PICTURE = {"type": "input_image", "image_url": "https://example.com/cat.png"}
RESULT = {"type": "function_call_output", "call_id": "1", "output": "x"}


@pytest.fixture
def respond(client):
    """A greedy request for a response."""
    return partial(client.responses.create, model=MODEL, temperature=0, max_output_tokens=60)


@pytest.fixture
def called(respond):
    """A response that calls the tool."""
    return respond(input=[IN_PARIS], instructions=HELPER, tools=[TOOL])


class Light(pydantic.BaseModel):
    color: bool
    level: int


def test_a_response_says_what_a_chat_says(respond, ask):
    response, chat = respond(input=QUESTION), ask(QUESTION)
    assert response.output_text == chat.choices[0].message.content
    assert (response.status, response.error, response.incomplete_details) == ("completed", None, None)
    (message,) = response.output
    assert (message.type, message.role, message.status) == ("message", "assistant", "completed")
    assert response.model == MODEL


def test_its_usage_is_that_of_the_chat(respond, ask):
    ask(QUESTION)
    response, chat = respond(input=QUESTION), ask(QUESTION)
    assert response.usage.input_tokens == chat.usage.prompt_tokens
    assert response.usage.output_tokens == chat.usage.completion_tokens
    assert response.usage.total_tokens == chat.usage.total_tokens
    assert response.usage.input_tokens_details.cached_tokens == chat.usage.prompt_tokens_details.cached_tokens
    assert response.usage.output_tokens_details.reasoning_tokens == 0
    assert response.timings["prompt_n"] + response.timings["cache_n"] == chat.usage.prompt_tokens


@pytest.mark.parametrize("hint", [{"prompt_cache_retention": "24h"}, {"expect_return_seconds": 8}])
def test_what_a_request_asks_to_keep_is_kept(respond, hint):
    response = respond(input="Remember the butter, " * 20, extra_body=hint)
    assert response.timings["cache"]["kept_seconds"] > 8


def test_instructions_and_items_are_turns(respond, ask):
    parts = [{"type": "input_text", "text": "What is "}, {"type": "input_text", "text": "your name?"}]
    items = [
        {"role": "user", "content": "Hello"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello!"}]},
        {"type": "message", "role": "user", "content": parts},
    ]
    turns = [
        {"role": "system", "content": HELPER},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "What is your name?"},
    ]
    response, chat = respond(input=items, instructions=HELPER), ask(turns)
    assert response.usage.input_tokens == chat.usage.prompt_tokens
    assert response.output_text == chat.choices[0].message.content


def test_a_stream_tells_a_message_in_the_order_of_its_parts(respond):
    events = list(respond(input=QUESTION, stream=True))
    kinds = [event.type for event in events]
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert [kind for kind in kinds if kind != "response.output_text.delta"] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert kinds[4 : 4 + len(deltas)] == ["response.output_text.delta"] * len(deltas)
    assert len(deltas) > 1
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_a_stream_says_the_same_in_pieces(respond):
    whole, events = respond(input=QUESTION), list(respond(input=QUESTION, stream=True))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == whole.output_text == events[-1].response.output_text
    assert events[-1].response.usage.total_tokens == whole.usage.total_tokens
    assert {event.response.id for event in events if hasattr(event, "response")} == {events[0].response.id}
    assert events[0].response.output == []


def test_a_function_is_called_and_its_result_told(respond, called):
    (call,) = called.output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "weather", {"city": "Paris"})
    assert (called.status, call.status) == ("completed", "completed")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": '{"temp": 21}'}
    told = respond(input=[IN_PARIS, *called.output, result], instructions=HELPER, tools=[TOOL])
    assert "21" in told.output_text


def test_items_can_be_sent_as_they_were_kept_with_nulls(respond, called):
    result = {"type": "function_call_output", "call_id": called.output[0].call_id, "output": '{"temp": 21}'}
    told = respond(input=[IN_PARIS, *called.output, result], instructions=HELPER, tools=[TOOL])

    def answer(without_nulls, **nulls):
        calls, texts = ([item.model_dump(exclude_none=without_nulls) for item in r.output] for r in (called, told))
        return respond(input=[IN_PARIS, *calls, result | nulls, *texts, IN_PARIS], instructions=HELPER).output_text

    assert answer(without_nulls=False, name=None) == answer(without_nulls=True) != ""


def test_a_streamed_call_is_told_as_arguments(client):
    options = {"input": [IN_PARIS], "instructions": HELPER, "tools": [TOOL], "temperature": 0}
    with client.responses.stream(model=MODEL, **options) as stream:
        kinds = [event.type for event in stream]
        (call,) = stream.get_final_response().output
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert (call.name, json.loads(call.arguments)) == ("weather", {"city": "Paris"})


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "weather"}])
def test_a_required_call_is_made(respond, choice):
    tools = [TOOL, {"type": "function", "name": "other"}] if choice != "required" else [TOOL]
    response = respond(input="Hello", tools=tools, tool_choice=choice, max_output_tokens=200)
    assert response.output[0].name == "weather"


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_a_choice_that_asks_for_no_call_needs_no_tools(respond, choice):
    assert respond(input="Hello", tool_choice=choice).output_text


def test_a_schema_is_enforced_whatever_is_drawn(respond):
    described = {"type": "json_schema", "name": "person", "schema": PERSON, "strict": True}
    drawn = respond(
        input="Anything", text={"format": described}, temperature=2, max_output_tokens=100, extra_body={"seed": 3}
    )
    jsonschema.validate(json.loads(drawn.output_text), PERSON)
    assert drawn.text.format.name == "person"


def test_a_json_object_is_an_object(respond):
    options = {"text": {"format": {"type": "json_object"}}, "max_output_tokens": 300}
    assert respond(input="Anything", **options).output_text.startswith("{")


def test_the_client_parses_responses_into_its_own_types(client):
    parsed = client.responses.parse(model=MODEL, input="Switch on", text_format=Light, temperature=0)
    assert isinstance(parsed.output_parsed, Light)


def test_the_client_parses_streams_into_its_own_types(client):
    with client.responses.stream(model=MODEL, input="Switch on", text_format=Light, temperature=0) as stream:
        assert isinstance(stream.get_final_response().output_parsed, Light)


def test_a_response_that_is_cut_is_incomplete(respond):
    response = respond(input=QUESTION, max_output_tokens=3)
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert (response.output[0].status, response.usage.output_tokens) == ("incomplete", 3)
    *_, last = respond(input=QUESTION, max_output_tokens=3, stream=True)
    assert last.type == "response.incomplete"
    assert last.response.output_text == response.output_text


def test_a_call_that_is_cut_is_incomplete(respond):
    limits = range(4, 18, 2)
    cut = [respond(input=[IN_PARIS], instructions=HELPER, tools=[TOOL], max_output_tokens=limit) for limit in limits]
    calls = [response.output[0] for response in cut if response.output[0].type == "function_call"]
    assert {response.status for response in cut} == {response.output[0].status for response in cut} == {"incomplete"}
    assert any(call.arguments.startswith('{"city": "P') for call in calls)
    assert not any(response.output_text for response in cut)


def test_logprobs_are_included_where_asked_for(respond, ask):
    response = respond(input="Say hello", include=[LOGPROBS], top_logprobs=2)
    chat = ask("Say hello", logprobs=True, top_logprobs=2).choices[0].logprobs
    read = response.output[0].content[0].logprobs
    assert [(entry.token, entry.logprob) for entry in read] == [(entry.token, entry.logprob) for entry in chat.content]
    assert all(len(entry.top_logprobs) == 2 for entry in read)


def test_streamed_logprobs_come_with_their_text(respond):
    whole = respond(input="Say hello", include=[LOGPROBS])
    events = list(respond(input="Say hello", include=[LOGPROBS], stream=True))
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    told = [entry.token for event in deltas for entry in event.logprobs]
    assert told == [entry.token for entry in whole.output[0].content[0].logprobs]


def test_a_response_repeats_what_was_asked(respond):
    response = respond(input="Hello", instructions=HELPER, tools=[TOOL], metadata={"run": "7"}, top_p=0.5)
    assert (response.instructions, response.metadata, response.top_p) == (HELPER, {"run": "7"}, 0.5)
    assert (response.tools[0].name, response.tool_choice, response.parallel_tool_calls) == ("weather", "auto", True)
    assert response.max_output_tokens == 60


@pytest.fixture
def next_turn(respond):
    """A response that goes on from another one, and one to the whole conversation."""
    asked = {"role": "user", "content": "And of Italy?"}

    def both(first):
        items = [{"role": "user", "content": QUESTION}, *first.output, asked]
        return respond(input=[asked], previous_response_id=first.id), respond(input=items)

    return both


def test_a_response_goes_on_from_the_previous_one(respond, next_turn):
    first = respond(input=QUESTION, instructions=HELPER)
    further, whole = next_turn(first)
    assert (further.output_text, further.usage.input_tokens) == (whole.output_text, whole.usage.input_tokens)
    assert further.previous_response_id == first.id
    assert respond(input="Thanks", previous_response_id=further.id).usage.input_tokens > whole.usage.input_tokens


def test_a_response_goes_on_from_a_streamed_one_that_was_cut(respond, next_turn):
    *_, last = respond(input=QUESTION, max_output_tokens=3, stream=True)
    further, whole = next_turn(last.response)
    assert further.usage.input_tokens == whole.usage.input_tokens


def test_the_result_of_a_call_is_told_alone(respond, called):
    result = {"type": "function_call_output", "call_id": called.output[0].call_id, "output": '{"temp": 21}'}
    told = respond(input=[result], previous_response_id=called.id, instructions=HELPER, tools=[TOOL])
    assert "21" in told.output_text


def test_items_of_a_response_are_told_by_their_names(respond, called):
    (call,) = called.output
    named = {"type": "item_reference", "id": call.id}
    result = {"type": "function_call_output", "call_id": call.call_id, "output": '{"temp": 21}'}
    told = [respond(input=[IN_PARIS, item, result], instructions=HELPER, tools=[TOOL]) for item in (named, call)]
    assert told[0].output_text == told[1].output_text


def test_a_response_is_found_until_it_is_deleted(client, respond):
    response = respond(input="Hello")
    assert response.store is True
    assert client.responses.retrieve(response.id) == response
    client.responses.delete(response.id)
    for find in (client.responses.retrieve, client.responses.delete):
        with pytest.raises(openai.NotFoundError, match=f"'{response.id}' not found"):
            find(response.id)
    with pytest.raises(openai.BadRequestError, match="send the whole conversation") as refused:
        respond(input="Hello", previous_response_id=response.id)
    assert refused.value.code == "previous_response_not_found"


def test_a_response_that_is_not_to_be_stored_is_not_found(client, respond):
    response = respond(input="Hello", store=False)
    assert response.store is False
    with pytest.raises(openai.NotFoundError, match="it was not stored"):
        client.responses.retrieve(response.id)


def test_a_response_is_not_streamed_again(client, respond):
    with pytest.raises(openai.BadRequestError, match="the response is complete"):
        list(client.responses.retrieve(respond(input="Hello").id, stream=True))


def test_a_stream_tells_the_progress_of_its_prompt_if_asked(post):
    body = {
        "model": MODEL,
        "input": "The progress of a response. " * 60,
        "max_output_tokens": 1,
        "return_progress": True,
    }
    events = post("/v1/responses", {**body, "stream": True})
    found = [event["prompt_progress"] for event in events if "prompt_progress" in event]
    assert {event["type"] for event in events if "prompt_progress" in event} == {"response.in_progress"}
    assert found[-1]["processed"] == found[-1]["total"] == events[-1]["response"]["usage"]["input_tokens"]
    TypeAdapter(list[ResponseStreamEvent]).validate_python(events)
    assert "prompt_progress" not in post("/v1/responses", body)[0]


def test_fields_that_ask_for_nothing_are_accepted(respond):
    neutral = {"background": False, "truncation": "disabled", "service_tier": "auto", "include": [], "user": "ada"}
    extra = {"previous_response_id": None, "reasoning": {"effort": None}, "text": {"verbosity": None}, "top_k": 1}
    assert respond(input="Hello", **neutral, extra_body=extra).output_text


@pytest.mark.parametrize(
    ("fields", "param", "advice"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id", "send the whole conversation as input"),
        ({"conversation": "conv_1"}, "conversation", "use previous_response_id"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt", "write it as instructions and input"),
        ({"background": True}, "background", "set stream"),
        ({"truncation": "auto"}, "truncation", "leave it out"),
        ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tools[0].type", "offer functions"),
        ({"tool_choice": "required"}, "tool_choice", "there are no tools"),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}, "tool_choice.type", "name one"),
        ({"top_logprobs": 2}, "top_logprobs", LOGPROBS),
        ({"input": []}, "input", "length >= 1"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].id", "send the item itself"),
        ({"input": [{"type": "computer_call", "id": "cu_1"}]}, "input[0].type", "send message, function_call"),
        ({"input": [{"role": "user", "content": [PICTURE]}]}, "input[0].content[0].type", "only text is read"),
        ({"input": [{**RESULT, "output": [PICTURE]}]}, "input[0].output[0].type", "only text is read"),
        ({"input": [IN_PARIS, RESULT], "instructions": HELPER}, "input[1].call_id", "the call it answers"),
        ({"input": "word " * 5000}, "input", "maximum context length"),
        ({"extra_body": {"max_tokens": 5}}, "max_tokens", "use max_output_tokens"),
        ({"extra_body": {"response_format": {"type": "text"}}}, "response_format", "use text.format"),
        ({"extra_body": {"wish": 1}}, "wish", "leave it out"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(respond, fields, param, advice):
    with pytest.raises(openai.BadRequestError) as refused:
        respond(**{"input": "Hello", **fields})
    assert refused.value.body["param"] == param
    assert advice in refused.value.body["message"]


@pytest.mark.parametrize(
    ("fields", "left_out"),
    [
        ({"extra_body": {"client_metadata": {"turn": "1"}}, "prompt_cache_key": "a", "user": "ada"}, None),
        ({"include": ["reasoning.encrypted_content"]}, "include (reasoning.encrypted_content)"),
        ({"reasoning": {"summary": "auto"}}, "reasoning.summary"),
        ({"text": {"verbosity": "low"}}, "text.verbosity"),
        (
            {"service_tier": "priority", "prompt_cache_options": {"mode": "implicit"}},
            "service_tier, prompt_cache_options",
        ),
        ({"tools": [TOOL, {"type": "web_search"}]}, "tools[1] (web_search)"),
        ({"tools": [{"type": "namespace", "name": "agents", "tools": [TOOL]}]}, "tools[0] (agents)"),
        ({"tools": [{"type": "local_shell"}], "tool_choice": "none"}, "tools[0] (local_shell)"),
    ],
)
def test_a_hint_that_has_no_effect_is_left_out_and_reported(client, fields, left_out):
    create = client.responses.with_raw_response.create
    answer = create(model=MODEL, input="Hello", max_output_tokens=1, **fields)
    assert answer.headers.get("x-pie-left-out") == left_out


def test_what_codex_sends_is_answered_on_every_turn(client, called):
    codex = {
        "instructions": HELPER,
        "tools": [TOOL, {"type": "web_search", "external_web_access": False}],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "01a21937",
        "client_metadata": {"session_id": "01a21937"},
    }
    asked = {**IN_PARIS, "type": "message", "id": "msg_1"}
    (call,) = [item.model_dump() for item in called.output]
    thought = {"type": "reasoning", "summary": [], "content": None, "encrypted_content": None}
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "21 degrees"}
    for turns in ([asked], [asked, thought, call, result]):
        stream = client.post("/responses", body={"model": MODEL, "input": turns, **codex, "stream": True}, cast_to=str)
        assert "event: response.completed" in stream


def test_tokens_of_an_input_are_counted(client, called, post):
    options = {"input": [IN_PARIS], "instructions": HELPER, "tools": [TOOL]}
    counted = client.responses.input_tokens.count(model=MODEL, **options)
    assert (counted.object, counted.input_tokens) == ("response.input_tokens", called.usage.input_tokens)


def test_a_conversation_is_not_compacted_here(client):
    with pytest.raises(openai.NotFoundError, match="ask for a summary with POST /v1/responses"):
        client.responses.compact(model=MODEL, input="Hello")


def test_an_unknown_model_is_not_found(respond):
    with pytest.raises(openai.NotFoundError, match="there is pie-tiny"):
        respond(input="Hello", model="gpt-4")

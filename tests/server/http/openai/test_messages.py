"""What /v1/messages answers to the official `anthropic` client."""

import json
from functools import partial

import anthropic
import jsonschema
import pytest
from anthropic.types import Message, MessageTokensCount, ModelInfo, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from pydantic import TypeAdapter

from pie_mlx.events import PassCompleted
from pie_mlx.server import ServerSettings
from tests.server.http.openai.conftest import HELLO, MODEL, WEATHER
from tests.server.running import RunningServer

pytestmark = pytest.mark.timeout(60)

TOOL = {
    "name": "weather",
    "description": WEATHER["function"]["description"],
    "input_schema": WEATHER["function"]["parameters"],
}
HELPER = "You are a helpful assistant."
QUESTION = "What is the capital of France?"
IN_PARIS = {"role": "user", "content": "What is the weather in Paris?"}
SUM = {"system": "Think before you answer.", "messages": [{"role": "user", "content": "What is 31 + 47?"}]}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
BILLING = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197.{}; cc_entrypoint=cli;"}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "cold"}
GREEDY = {"temperature": 0}  # no longer among the fields of the client
WHOLE, EVENT = TypeAdapter(Message), TypeAdapter(RawMessageStreamEvent)
BETA_WHOLE, BETA_EVENT = TypeAdapter(BetaMessage), TypeAdapter(BetaRawMessageStreamEvent)
REQUESTS = {
    "text": {"messages": [{"role": "user", "content": QUESTION}]},
    "call": {"messages": [IN_PARIS], "system": HELPER, "tools": [TOOL]},
    "thought": {**SUM, "thinking": {"type": "enabled", "budget_tokens": 1024}},
    "cut": {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 3},
    "cut call": {"messages": [IN_PARIS], "system": HELPER, "tools": [TOOL], "max_tokens": 12},
}


@pytest.fixture
def create(claude):
    """A greedy request for a message."""

    def ask_for(extra_body=None, **options):
        body = {**GREEDY, **(extra_body or {})}
        return claude.messages.create(**{"model": MODEL, "max_tokens": 60, **options}, extra_body=body)

    return ask_for


def said(message):
    return "".join(block.text for block in message.content if block.type == "text")


def asked(text):
    return [{"role": "user", "content": text}]


def strict(event):
    """An event as the published types have it, with a type known to them and no field missing."""
    return BETA_EVENT.validate_python(event) and EVENT.validate_python(event)


def test_a_message_says_what_a_chat_says(create, ask):
    message, chat = create(messages=asked(QUESTION)), ask(QUESTION)
    assert said(message) == chat.choices[0].message.content
    assert (message.stop_reason, message.stop_sequence, message.model) == ("end_turn", None, MODEL)


@pytest.mark.parametrize("kind", REQUESTS)
def test_whole_and_streamed_messages_are_of_the_published_types_and_equal(claude, post, kind):
    options = {"model": MODEL, "max_tokens": 60, **REQUESTS[kind]}
    body = {**options, **GREEDY}
    (whole,) = post("/v1/messages?beta=true", body)
    WHOLE.validate_python(whole)
    BETA_WHOLE.validate_python(whole)
    events = post("/v1/messages?beta=true", {**body, "stream": True})
    # The published types leave pings out, which come while a prompt is read.
    events = [strict(event) for event in events if event != {"type": "ping"}]
    assert [events[0].type, events[-2].type, events[-1].type] == ["message_start", "message_delta", "message_stop"]
    with claude.messages.stream(**options, extra_body=GREEDY) as stream:
        told = stream.get_final_message()
    blocks = [block.to_dict(exclude_none=True) for block in told.content]
    for block, other in zip(blocks, whole["content"], strict=True):
        assert {**other, "id": None} == {**block, "id": None} or kind == "cut call"
    assert (told.stop_reason, told.usage.output_tokens) == (whole["stop_reason"], whole["usage"]["output_tokens"])


def test_text_comes_in_pieces(claude):
    options = {"model": MODEL, "messages": asked(QUESTION), "max_tokens": 60, "extra_body": GREEDY}
    with claude.messages.stream(**options) as stream:
        pieces = list(stream.text_stream)
        assert "".join(pieces) == said(stream.get_final_message())
    assert len(pieces) > 1


async def test_the_asynchronous_client_reads_the_same(server, create):
    async with anthropic.AsyncAnthropic(base_url=server.http, api_key="any", max_retries=0) as client:
        options = {"model": MODEL, "messages": asked(QUESTION), "max_tokens": 60, "extra_body": GREEDY}
        async with client.messages.stream(**options) as stream:
            message = await stream.get_final_message()
        assert said(await client.messages.create(**options)) == said(message) == said(create(messages=asked(QUESTION)))


def test_a_tool_is_used_and_its_result_told(create):
    options = {"tools": [TOOL], "system": HELPER}
    used = create(messages=[IN_PARIS], **options)
    (block,) = used.content
    assert (used.stop_reason, block.type, block.name, block.input) == (
        "tool_use",
        "tool_use",
        "weather",
        {"city": "Paris"},
    )
    result = {"type": "tool_result", "tool_use_id": block.id, "content": [{"type": "text", "text": '{"temp": 21}'}]}
    turns = [IN_PARIS, {"role": "assistant", "content": used.content}, {"role": "user", "content": [result]}]
    assert "21" in said(create(messages=turns, **options))


def test_a_tool_is_used_whose_schema_says_more_than_a_model_was_trained_on(create):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **TOOL["input_schema"]}
    tool = {**TOOL, "input_schema": {**schema, "additionalProperties": False}}
    (block,) = create(messages=[IN_PARIS], system=HELPER, tools=[tool]).content
    assert (block.type, block.input) == ("tool_use", {"city": "Paris"})


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "weather"}])
def test_a_choice_that_asks_for_a_tool_gets_one(create, choice):
    tools = [TOOL] if choice["type"] == "any" else [TOOL, {"name": "other", "input_schema": {"type": "object"}}]
    used = create(messages=HELLO, tools=tools, tool_choice=choice, max_tokens=200)
    assert used.content[0].name == "weather"
    jsonschema.validate(used.content[0].input, TOOL["input_schema"])


def test_a_choice_of_no_tool_gets_none(create):
    used = create(messages=[IN_PARIS], tools=[TOOL], tool_choice={"type": "none"})
    assert {block.type for block in used.content} == {"text"}


def test_a_stop_sequence_is_told(create):
    whole = said(create(messages=asked(QUESTION)))
    message = create(messages=asked(QUESTION), stop_sequences=["never there", whole[3:6]])
    assert said(message) == whole[: whole.index(whole[3:6])]
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", whole[3:6])


def test_a_limit_of_tokens_is_told(create):
    message = create(messages=asked(QUESTION), max_tokens=2)
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 2)


def test_a_thought_is_a_block_of_its_own_and_comes_back(create):
    message = create(**SUM, thinking={"type": "enabled", "budget_tokens": 1024})
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].thinking
    assert 0 < message.usage.output_tokens_details.thinking_tokens < message.usage.output_tokens
    turns = [*SUM["messages"], {"role": "assistant", "content": message.content}, *asked("What is 2 + 2?")]
    assert create(messages=turns, system=SUM["system"]).content


def test_a_thought_that_is_omitted_is_a_block_without_text(create):
    thought, text = create(**SUM, thinking={"type": "adaptive", "display": "omitted"}).content
    assert (thought.type, thought.thinking, text.type) == ("thinking", "", "text")


def test_a_model_does_not_think_where_that_is_disabled(create):
    assert [block.type for block in create(**SUM, thinking={"type": "disabled"}).content] == ["text"]


def test_a_schema_is_enforced(create):
    schema = {
        "type": "object",
        "properties": {"on": {"type": "boolean"}},
        "required": ["on"],
        "additionalProperties": False,
    }
    message = create(messages=asked("Anything"), output_config={"format": {"type": "json_schema", "schema": schema}})
    jsonschema.validate(json.loads(said(message)), schema)


def test_a_message_that_the_assistant_began_is_continued(create):
    whole = said(create(messages=asked(QUESTION)))
    begun = [*asked(QUESTION), {"role": "assistant", "content": whole[:11]}]
    assert whole[:11] + said(create(messages=begun)) == whole


def test_system_texts_stand_in_the_conversation_too(create, ask):
    turns = [
        *HELLO,
        {"role": "assistant", "content": "Hello!"},
        {"role": "system", "content": HELPER},
        *asked(QUESTION),
    ]
    assert said(create(messages=turns)) == ask(turns).choices[0].message.content


def test_the_prompt_is_what_was_found_again_and_what_will_be_and_the_rest(server, create):
    system = [{"type": "text", "text": "Answer politely. " + " ".join(f"Hint {n}: smile." for n in range(40))}]
    system[0]["cache_control"] = {"type": "ephemeral"}
    first = create(messages=HELLO, system=system, max_tokens=1).usage
    server.seen()
    second = create(messages=asked(QUESTION), system=system, max_tokens=1).usage
    (passed,) = [event for event in server.seen() if isinstance(event, PassCompleted)]
    assert first.cache_creation_input_tokens > 200
    assert second.cache_read_input_tokens == passed.attached_tokens > 200
    assert second.cache_creation_input_tokens + second.input_tokens == passed.computed_tokens
    assert second.cache["from_memory"] == passed.attached_tokens
    assert second.cache["miss"]["message"] == passed.miss != ""


@pytest.mark.parametrize(("control", "most"), [({"type": "ephemeral", "ttl": "1h"}, 3600), ({"type": "ephemeral"}, 0)])
def test_a_time_to_live_asks_for_pages_to_be_kept(create, control, most):
    system = [{"type": "text", "text": "Be kind.", "cache_control": control}]
    kept = create(messages=HELLO, system=system, max_tokens=1).usage.cache["kept_seconds"]
    assert (kept > 0) == (most > 0)
    assert kept <= most


def test_pages_are_kept_for_a_client_that_says_when_it_is_back(create):
    system = "Be kind. " * 20
    usage = create(messages=HELLO, system=system, max_tokens=1, extra_body={"expect_return_seconds": 8}).usage
    assert 8 < usage.cache["kept_seconds"] <= 32


def test_a_billing_header_that_differs_keeps_nothing_from_being_found_again(claude, server):
    rules = {"type": "text", "text": "Be brief. " + " ".join(f"Habit {n}: nod." for n in range(40))}

    def system(session):
        return [{**BILLING, "text": BILLING["text"].format(session)}, rules]

    create = partial(claude.messages.with_raw_response.create, model=MODEL, max_tokens=1, messages=HELLO)
    create(system=system("1c0"))
    answer = create(system=system("f77"))
    assert answer.parse().usage.cache_read_input_tokens > 200
    assert answer.headers["x-pie-left-out"] == "system (billing header)"


def test_tokens_are_counted_without_an_answer(claude, create, post):
    options = {"messages": [IN_PARIS], "system": HELPER, "tools": [TOOL]}
    usage = create(**options).usage
    counted = claude.messages.count_tokens(model=MODEL, **options).input_tokens
    assert counted == usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    (whole,) = post("/v1/messages/count_tokens?beta=true", {"model": MODEL, **options})
    TypeAdapter(MessageTokensCount).validate_python(whole)


def test_models_are_listed(claude, post):
    assert [model.id for model in claude.models.list()] == [MODEL]
    assert claude.models.retrieve(MODEL).max_input_tokens == 4096
    TypeAdapter(ModelInfo).validate_python(post_free(claude))


def post_free(claude):
    return json.loads(claude.models.with_raw_response.retrieve(MODEL).text())


@pytest.mark.parametrize(
    ("fields", "left_out"),
    [
        ({"service_tier": "auto", "metadata": {"user_id": "ada"}, "extra_body": {"diagnostics": {}}}, None),
        ({"inference_geo": "us"}, "inference_geo"),
        ({"tools": [TOOL, {"type": "web_search_20250305", "name": "web_search"}]}, "tools[1] (web_search)"),
        (
            {"extra_body": {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}}},
            "context_management",
        ),
    ],
)
def test_a_hint_that_has_no_effect_is_left_out_and_reported(claude, fields, left_out):
    create = claude.messages.with_raw_response.create
    answer = create(model=MODEL, max_tokens=1, messages=HELLO, **fields)
    assert answer.headers.get("x-pie-left-out") == left_out


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"messages": [{"role": "user", "content": [PICTURE]}]}, r"messages\[0\]\.content\[0\]\.type.*only text"),
        (
            {"messages": [{"role": "user", "content": [{**RESULT, "content": [PICTURE]}]}]},
            r"messages\[0\]\.content\[0\]\.content\[0\]\.type.*only text",
        ),
        ({"messages": [{"role": "user", "content": [RESULT]}]}, "no message before this one makes the tool call"),
        ({"tool_choice": {"type": "any"}}, "there are no tools"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}}, "no tool is named 'other'"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}], "tool_choice": {"type": "any"}}, r"tools\[0\]"),
        ({"messages": asked("word " * 5000)}, "prompt is too long: .* 4096 tokens"),
        ({"extra_body": {"mcp_servers": [{"type": "url"}]}}, "'mcp_servers' is not supported: connect the client"),
        ({"extra_body": {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}}, "leave out the ed"),
        ({"extra_body": {"wish": 1}}, "'wish' is not supported: leave it out"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_what_would_change_the_answer_is_refused(create, fields, words):
    with pytest.raises(anthropic.BadRequestError, match=words) as refused:
        create(**{"messages": HELLO, **fields})
    assert refused.value.body["type"] == "error"
    assert refused.value.body["error"]["type"] == "invalid_request_error"


def test_an_unknown_model_is_not_found(create):
    with pytest.raises(anthropic.NotFoundError, match="there is pie-tiny") as refused:
        create(messages=HELLO, model="claude")
    assert refused.value.body["error"]["type"] == "not_found_error"


def test_with_authentication_on_the_token_is_the_key(tmp_path):
    locked = RunningServer(tmp_path, ServerSettings(port=0, authentication=True), announces=False).start()
    try:
        options = {"base_url": locked.http, "max_retries": 0}
        with anthropic.Anthropic(api_key=locked.server.token, **options) as client:
            assert [model.id for model in client.models.list()] == ["dummy"]
        wrong = anthropic.Anthropic(api_key="wrong", **options)
        with wrong as client, pytest.raises(anthropic.AuthenticationError) as refused:
            client.messages.create(model="dummy", max_tokens=1, messages=HELLO)
        assert refused.value.body["error"]["type"] == "authentication_error"
    finally:
        locked.stop()

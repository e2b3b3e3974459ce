"""What the endpoint that comes with the engine answers to the official `openai` client."""

import json
from functools import partial

import jsonschema
import openai
import pydantic
import pytest
from openai.types.chat import ChatCompletionChunk

from pie_mlx.events import PassCompleted, ProcessReturned
from tests.server.http.openai.conftest import HELLO, MODEL, WEATHER, TinyServer

pytestmark = pytest.mark.timeout(60)

HELPER = {"role": "system", "content": "You are a helpful assistant."}
IN_PARIS = [HELPER, {"role": "user", "content": "What is the weather in Paris?"}]
IN_TWO_CITIES = [HELPER, {"role": "user", "content": "What is the weather in Paris? What is the weather in Rome?"}]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ENDLESS = {"type": "array", "items": {"type": "integer"}, "minItems": 1000}
LONG = {"type": "json_schema", "json_schema": {"name": "long", "schema": ENDLESS}}


def test_models_are_listed_and_found_by_name(client):
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).owned_by == "pie"
    with pytest.raises(openai.NotFoundError, match="there is pie-tiny"):
        client.models.retrieve("gpt-4")


def test_a_chat_is_answered_with_usage_and_timings(ask):
    answer = ask("What is the capital of France?")
    (choice,) = answer.choices
    assert choice.message.role == "assistant"
    assert choice.message.content
    assert choice.finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    again = ask("What is the capital of France?")
    cached = again.usage.prompt_tokens_details.cached_tokens
    assert (again.timings["cache_n"], again.timings["prompt_n"]) == (cached, again.usage.prompt_tokens - cached)
    assert again.timings["predicted_n"] == again.usage.completion_tokens
    assert answer.model == MODEL


def test_a_stream_says_the_same_in_pieces(ask):
    whole = ask("What is the capital of France?")
    chunks = list(ask("What is the capital of France?", stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == whole.choices[0].message.content
    assert len(chunks) > 3
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens


@pytest.fixture
def progress_of(post):
    """What a stream tells of its prompt, and the tokens of it that were cached."""

    def ask(path, **fields):
        body = {"model": MODEL, "max_tokens": 1, "stream": True, "stream_options": {"include_usage": True}, **fields}
        chunks = post(path, {**body, "return_progress": True})
        if "messages" in fields:
            pydantic.TypeAdapter(list[ChatCompletionChunk]).validate_python(chunks)
        found = [chunk["prompt_progress"] for chunk in chunks if "prompt_progress" in chunk]
        return found, chunks[-1]["usage"]["prompt_tokens_details"]["cached_tokens"]

    return ask


def test_a_stream_tells_how_far_its_prompt_is_if_asked(progress_of):
    chat = [{"role": "user", "content": "The progress of a chat. " * 100}]
    told, cached = progress_of("/v1/chat/completions", messages=chat)
    *parts, last = [progress["processed"] for progress in told]
    assert parts == sorted(parts)
    assert len(parts) > 1
    assert last == told[-1]["total"] > parts[-1]
    assert told[-1]["cache"] == cached
    times = [progress["time_ms"] for progress in told]
    assert times == sorted(times)


def test_what_is_found_in_the_cache_counts_as_processed(progress_of):
    chat = [{"role": "user", "content": "What is found in the cache. " * 100}]
    progress_of("/v1/chat/completions", messages=chat)
    told, cached = progress_of("/v1/chat/completions", messages=chat)
    assert cached > 0
    assert [(progress["processed"] > cached, progress["cache"]) for progress in told] == [(True, cached)] * len(told)


def test_a_text_tells_the_progress_of_all_its_prompts_together(progress_of):
    prompts = [f"The progress of text {number}. " * 50 for number in range(2)]
    told, _ = progress_of("/v1/completions", prompt=prompts)
    assert [progress["total"] for progress in told] == [told[-1]["processed"]] * len(told)


def test_nothing_is_told_of_the_prompt_unasked(post):
    body = {"model": MODEL, "messages": HELLO, "max_tokens": 1}
    chunks = post("/v1/chat/completions", {**body, "stream": True}) + post(
        "/v1/chat/completions", {**body, "return_progress": True}
    )
    assert not any("prompt_progress" in chunk for chunk in chunks)


def test_all_roles_are_written(ask):
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "your name?"}]
    turns = [
        {"role": "developer", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": parts},
    ]
    plain = [*turns[:3], {"role": "user", "content": "What is your name?"}]
    assert ask(turns).choices[0].message.content == ask([HELPER, *plain[1:]]).choices[0].message.content


def test_the_name_of_who_speaks_is_taken_and_not_shown_to_the_model(ask):
    roles = ["system", "developer", "user", "assistant", "user"]
    turns = [{"role": role, "content": "Hello"} for role in roles]
    plain, named = ask(turns), ask([{**turn, "name": "ada"} for turn in turns])
    assert named.usage.prompt_tokens == plain.usage.prompt_tokens
    assert named.choices[0].message.content == plain.choices[0].message.content


def test_a_tool_is_called_and_its_result_told(ask):
    called = ask(IN_PARIS, tools=[WEATHER]).choices[0]
    assert called.finish_reason == "tool_calls"
    (call,) = called.message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"city": "Paris"})
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"temp": 21}'}
    told = ask([*IN_PARIS, called.message, result], tools=[WEATHER]).choices[0]
    assert "21" in told.message.content


def test_a_streamed_call_comes_as_a_delta(ask):
    chunks = list(ask(IN_PARIS, tools=[WEATHER], stream=True))
    (delta,) = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert (delta.index, delta.function.name, delta.function.arguments) == (0, "weather", '{"city":"Paris"}')
    assert not any(chunk.choices[0].delta.content for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


@pytest.fixture
def cut_calls(ask):
    """Replies that call the tool, each cut off a token later than the one before it; `options` are of the request."""

    def create(**options):
        replies = [ask(IN_PARIS, tools=[WEATHER], max_tokens=limit, **options) for limit in range(4, 24, 2)]
        return [list(reply) for reply in replies] if options else [reply.choices[0] for reply in replies]

    return create


def test_a_call_that_is_cut_short_is_told_as_far_as_it_was_written(cut_calls):
    cut = [choice for choice in cut_calls() if choice.finish_reason == "length"]
    calls = [choice.message.tool_calls[0].function for choice in cut if choice.message.tool_calls]
    assert len(cut) > len(calls) > 2
    assert {call.name for call in calls} == {"weather"}
    assert all('{"city":"Paris"}'.startswith(call.arguments.replace(" ", "")) for call in calls)
    assert any(call.arguments.startswith('{"city": "P') for call in calls)


def test_nothing_of_a_call_that_is_cut_short_is_content(cut_calls):
    assert not any(choice.message.content for choice in cut_calls())


def test_a_stream_tells_the_same_of_a_call_that_is_cut_short(cut_calls):
    for whole, chunks in zip(cut_calls(), cut_calls(stream=True), strict=True):
        deltas = [chunk.choices[0].delta for chunk in chunks]
        told = [call.function.to_dict() for delta in deltas for call in delta.tool_calls or []]
        assert told == [call.function.to_dict() for call in whole.message.tool_calls or []]
        assert not any(delta.content for delta in deltas)
        assert chunks[-1].choices[0].finish_reason == whole.finish_reason


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
@pytest.mark.parametrize("seed", range(2))
def test_a_required_call_is_made_whatever_is_drawn(ask, choice, seed):
    other = {"type": "function", "function": {"name": "other"}}
    tools = [WEATHER, other] if choice != "required" else [WEATHER]
    options = {"temperature": 2, "seed": seed, "max_tokens": 200, "parallel_tool_calls": False}
    drawn = ask("Hello", tools=tools, tool_choice=choice, **options).choices[0]
    if drawn.finish_reason != "length":
        (call,) = drawn.message.tool_calls
        assert call.function.name == "weather"
        jsonschema.validate(json.loads(call.function.arguments), WEATHER["function"]["parameters"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("max_tokens", [8, 200])
def test_a_tool_that_is_named_is_called_once(ask, stream, max_tokens):
    choice = {"type": "function", "function": {"name": "weather"}}
    answer = ask(IN_TWO_CITIES, tools=[WEATHER], tool_choice=choice, max_tokens=max_tokens, stream=stream)
    parts = [chunk.choices[0] for chunk in answer] if stream else answer.choices
    text, [call] = said_by(parts)
    assert (text, parts[-1].finish_reason) == ("", "tool_calls" if max_tokens > 8 else "length")
    assert '{"city":"Paris"}'.startswith(call.arguments.replace(" ", ""))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_nothing_between_parallel_calls_is_content(ask, stream, choice):
    answer = ask(IN_TWO_CITIES, tools=[WEATHER], tool_choice=choice, stream=stream)
    text, calls = said_by([chunk.choices[0] for chunk in answer] if stream else answer.choices)
    assert (text, len(calls)) == ("", 2)


def test_fields_of_other_vendors_are_taken(ask):
    parts = [{"type": "text", "text": "Hello", "cache_control": {"type": "ephemeral"}, "annotations": None}]
    call = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Pa'}, "index": None}
    refused = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "reasoning": None}
    turns = [
        {"role": "user", "content": parts, "name": None, "cache_control": {"type": "ephemeral"}},
        {"role": "assistant", "content": None, "tool_calls": [call], "provider_specific_fields": None},
        {"role": "tool", "tool_call_id": "a", "content": "the arguments are not JSON", "name": None},
        refused,
        *HELLO,
    ]
    tool = {**WEATHER, "cache_control": {"type": "ephemeral"}}
    assert ask(turns, tools=[tool]).choices


def said_by(parts):
    """Text and calls of choices or of chunks."""
    said = [part.message if hasattr(part, "message") else part.delta for part in parts]
    calls = [call.function for one in said for call in one.tool_calls or []]
    return "".join(one.content or "" for one in said), calls


def test_without_tool_choice_none_no_call_is_made(ask):
    assert ask(IN_PARIS, tools=[WEATHER], tool_choice="none").choices[0].message.tool_calls is None


def test_a_strict_tool_is_held_to_its_schema_once_its_call_begins(ask):
    city = {"type": "string", "enum": ["Oslo", "Rome"]}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"], "additionalProperties": False}
    strict = {"type": "function", "function": {**WEATHER["function"], "strict": True, "parameters": parameters}}
    (call,) = ask(IN_PARIS, tools=[strict]).choices[0].message.tool_calls
    assert json.loads(call.function.arguments)["city"] in ("Oslo", "Rome")


@pytest.mark.parametrize("seed", range(3))
def test_a_json_schema_is_enforced_whatever_is_drawn(ask, seed):
    described = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    drawn = ask("Anything", response_format=described, temperature=2, seed=seed, max_tokens=100).choices[0]
    assert drawn.finish_reason == "stop"
    jsonschema.validate(json.loads(drawn.message.content), PERSON)


@pytest.mark.parametrize("stream", [False, True])
def test_with_tools_and_a_format_a_reply_is_a_call_or_in_the_format(ask, stream):
    described = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    options = {"tools": [WEATHER], "response_format": described, "stream": stream}
    called = said(ask(IN_PARIS, **options))
    assert called == ("", [("weather", {"city": "Paris"})])
    text, calls = said(ask("Anna is 31 years old. Give me the fields name and age as JSON.", **options))
    jsonschema.validate(json.loads(text), PERSON)
    assert not calls


@pytest.mark.parametrize("seed", range(8))
def test_a_call_or_an_answer_is_whole_whatever_is_drawn(ask, seed):
    described = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    options = {"temperature": 2, "seed": seed, "max_tokens": 300}
    text, calls = said(ask("Anything", tools=[WEATHER], response_format=described, **options))
    assert bool(text) != bool(calls)
    if text:
        jsonschema.validate(json.loads(text), PERSON)
    assert all(set(arguments) == {"city"} for _, arguments in calls)


def said(answer):
    """Text and calls of an answer, or of a stream of one."""
    text, calls = said_by(answer.choices if hasattr(answer, "choices") else [chunk.choices[0] for chunk in answer])
    return text, [(one.name, json.loads(one.arguments)) for one in calls]


def test_a_json_object_is_an_object(ask):
    drawn = ask("Anything", response_format={"type": "json_object"}, temperature=1, seed=5, max_tokens=300).choices[0]
    assert drawn.message.content.startswith("{")
    if drawn.finish_reason == "stop":
        assert isinstance(json.loads(drawn.message.content), dict)


def test_the_client_parses_answers_into_its_own_types(client):
    class Light(pydantic.BaseModel):
        color: bool
        level: int

    messages = [{"role": "user", "content": "Switch on"}]
    parsed = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Light, temperature=0)
    assert isinstance(parsed.choices[0].message.parsed, Light)


def test_logprobs_are_those_of_the_drawn_tokens(ask):
    answer = ask("Say hello", logprobs=True, top_logprobs=3)
    read = answer.choices[0].logprobs.content
    assert len(read) == answer.usage.completion_tokens
    assert b"".join(bytes(entry.bytes) for entry in read).decode() == answer.choices[0].message.content
    for entry in read:
        assert len(entry.top_logprobs) == 3
        assert entry.top_logprobs[0].token == entry.token
        assert entry.logprob == pytest.approx(max(top.logprob for top in entry.top_logprobs), abs=1e-5)
        assert entry.logprob <= 0


def test_an_unlikely_token_has_its_own_logprob(ask):
    read = ask("Tell me a story", temperature=2, seed=3, logprobs=True, top_logprobs=1).choices[0].logprobs.content
    unlikely = [entry for entry in read if entry.token != entry.top_logprobs[0].token]
    assert unlikely
    assert all(-60 < entry.logprob < entry.top_logprobs[0].logprob for entry in unlikely)


def test_a_stop_string_ends_the_answer_before_it(ask):
    whole = ask("What is the capital of France?").choices[0].message.content
    stop = whole[3:6]
    cut = ask("What is the capital of France?", stop=["never there", stop]).choices[0]
    assert cut.message.content == whole[: whole.index(stop)]
    assert cut.finish_reason == "stop"
    streamed = ask("What is the capital of France?", stop=stop, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in streamed) == cut.message.content


@pytest.mark.parametrize("length", [1, 4, 9])
@pytest.mark.parametrize("place", range(6))
def test_logprobs_are_those_of_the_text_before_a_stop_string(ask, place, length):
    question = "What is the capital of France?"
    whole = ask(question, logprobs=True).choices[0]
    stop = whole.message.content[place : place + length]
    cut = ask(question, logprobs=True, stop=stop).choices[0]
    listed = [entry.token for entry in cut.logprobs.content]
    assert listed == [entry.token for entry in whole.logprobs.content][: len(listed)]
    *before, last = listed or [""]
    text = cut.message.content
    assert text.startswith("".join(before))
    assert len(text) > len("".join(before)) or not text
    assert ("".join(before) + last).startswith(text)
    chunks = ask(question, logprobs=True, stop=stop, stream=True)
    told = [chunk.choices[0].logprobs for chunk in chunks]
    assert [entry.token for part in told if part for entry in part.content] == listed


def test_logprobs_of_what_could_have_begun_a_stop_string_are_not_lost(ask):
    whole = ask("Say hello", logprobs=True).choices[0]
    held = ask("Say hello", logprobs=True, stop=whole.message.content + "!").choices[0]
    assert held.message.content == whole.message.content
    assert [e.token for e in held.logprobs.content] == [e.token for e in whole.logprobs.content]


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_a_limit_of_tokens_is_kept(client, field):
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    answer = client.chat.completions.create(model=MODEL, messages=messages, temperature=0, **{field: 2})
    assert (answer.usage.completion_tokens, answer.choices[0].finish_reason) == (2, "length")


def test_a_seed_repeats_the_answer_and_another_one_does_not(ask):
    def texts(seed):
        answer = ask("Tell me a story", temperature=2, seed=seed, max_tokens=8, n=2)
        return [choice.message.content for choice in answer.choices]

    drawn = texts(7)
    assert texts(7) == drawn
    assert texts(8) != drawn
    assert drawn[0] != drawn[1]


def test_several_choices_compute_the_prompt_once(server, ask):
    question = "Which of these words is a colour: " + " ".join(f"word{number}" for number in range(60))
    server.seen()
    answer = ask(question, n=3, temperature=1, seed=1, max_tokens=4)
    computed = sum(event.computed_tokens for event in server.seen() if isinstance(event, PassCompleted))
    assert len(answer.choices) == 3
    assert computed < answer.usage.prompt_tokens + 3 * 20


def test_streams_of_several_choices_are_told_apart(ask):
    chunks = list(ask("Say hello", n=2, temperature=1, seed=3, max_tokens=5, stream=True))
    ended = [choice.index for chunk in chunks for choice in chunk.choices if choice.finish_reason]
    assert sorted(ended) == [0, 1]


def test_a_second_request_with_the_same_system_prompt_computes_its_suffix_only(server, ask):
    system = {"role": "system", "content": "Answer politely. " + " ".join(f"Rule {n}: be kind." for n in range(40))}
    first = ask([system, {"role": "user", "content": "Hello"}], max_tokens=1)
    server.seen()
    second = ask([system, {"role": "user", "content": "What is your name? And mine?"}], max_tokens=1)
    seen = server.seen()
    (passed,) = [event for event in seen if isinstance(event, PassCompleted)]
    assert first.usage.prompt_tokens > 200
    assert passed.attached_tokens + passed.computed_tokens == second.usage.prompt_tokens
    assert passed.computed_tokens < 40  # K5
    assert second.usage.prompt_tokens_details.cached_tokens == passed.attached_tokens
    cache = second.timings["cache"]
    assert (cache["from_memory"], cache["computed"]) == (passed.attached_tokens, passed.computed_tokens)
    assert (cache["miss"]["reason"], cache["miss"]["message"]) == ("new", passed.miss)
    assert [json.loads(event.value)["miss"] for event in seen if isinstance(event, ProcessReturned)] == [passed.miss]


@pytest.mark.parametrize("life", ["in_memory", "24h"])
def test_what_a_request_asks_to_keep_is_kept_for_what_its_credits_pay(ask, life):
    question = "Remember the milk, " * 20
    cache = ask(question, max_tokens=2, prompt_cache_retention=life).timings["cache"]
    assert 0 < cache["kept_seconds"] <= {"in_memory": 300, "24h": 3600}[life]


def test_pages_are_kept_for_a_client_that_says_when_it_is_back(ask):
    cache = ask("Remember the bread, " * 20, max_tokens=2, extra_body={"expect_return_seconds": 8}).timings["cache"]
    assert 8 < cache["kept_seconds"] <= 32


def test_the_tokens_that_were_cached_are_told_of_several_choices_too(ask):
    system = {"role": "system", "content": "Answer shortly. " + " ".join(f"Rule {n}: be brief." for n in range(40))}
    ask([system, {"role": "user", "content": "Hello"}], max_tokens=1)
    alone = ask([system, {"role": "user", "content": "Who are you?"}], max_tokens=1).usage
    answer = ask([system, {"role": "user", "content": "Where are you?"}], max_tokens=1, n=2)
    several = answer.usage
    assert answer.timings["cache"]["from_memory"] == several.prompt_tokens_details.cached_tokens
    assert several.prompt_tokens_details.cached_tokens == alone.prompt_tokens_details.cached_tokens > 100


def test_an_answer_that_outgrows_the_pages_ends_with_what_there_is(tmp_path):
    small = TinyServer(tmp_path, total_pages=8).start()
    try:
        with openai.OpenAI(base_url=f"{small.http}/v1", api_key="any", max_retries=0) as client:
            create = partial(client.chat.completions.create, model=MODEL, temperature=0, response_format=LONG)
            answer = create(messages=HELLO)
            pieces = list(create(messages=HELLO, stream=True))
            with pytest.raises(openai.BadRequestError) as refused:
                create(messages=[{"role": "user", "content": "Hello " * 200}])
    finally:
        small.stop()
    (choice,) = answer.choices
    assert (choice.finish_reason, len(choice.message.content) > 50) == ("length", True)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == choice.message.content
    assert pieces[-1].choices[0].finish_reason == "length"
    assert refused.value.code == "context_length_exceeded"


def test_text_goes_on(client):
    create = partial(client.completions.create, model=MODEL, temperature=0, max_tokens=6)
    begun = "<|im_start|>user\nTell me a story.<|im_end|>\n<|im_start|>assistant\nOnce"
    plain = create(prompt=begun)
    assert plain.usage.completion_tokens == 6
    assert plain.choices[0].finish_reason == "length"
    assert create(prompt=begun, echo=True).choices[0].text == begun + plain.choices[0].text
    streamed = create(prompt=begun, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == plain.choices[0].text


def test_prompts_are_texts_or_tokens_one_or_many(client):
    create = partial(client.completions.create, model=MODEL, temperature=0, max_tokens=3)
    two = create(prompt=["Once upon", "The sun"], n=2)
    assert [choice.index for choice in two.choices] == [0, 1, 2, 3]
    assert two.choices[0].text == two.choices[1].text == create(prompt="Once upon").choices[0].text
    assert create(prompt=[5, 6, 7]).choices[0].text == create(prompt=[[5, 6, 7]]).choices[0].text
    with pytest.raises(openai.BadRequestError):
        create(prompt=[5, "six"])
    with pytest.raises(openai.BadRequestError, match="empty"):
        create(prompt="")
    with pytest.raises(openai.BadRequestError, match="outside the vocabulary"):
        create(prompt=[10**6])


def test_logprobs_of_text_are_lists(client):
    answer = client.completions.create(model=MODEL, prompt="The", temperature=0, max_tokens=4, logprobs=2)
    read = answer.choices[0].logprobs
    assert "".join(read.tokens) == answer.choices[0].text
    for token, top in zip(read.tokens, read.top_logprobs, strict=True):
        assert len(top) == 2
        assert top[token] == max(top.values())
    assert read.text_offset[0] == 0
    stop = answer.choices[0].text[2:]
    stopped_at = answer.choices[0].text.find(stop)
    assert stopped_at > 0
    cut = client.completions.create(model=MODEL, prompt="The", temperature=0, max_tokens=4, logprobs=2, stop=stop)
    assert max(cut.choices[0].logprobs.text_offset) < len(cut.choices[0].text) == stopped_at

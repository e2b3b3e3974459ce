"""What /api answers to the official `ollama` client."""

import json
import urllib.request
from functools import partial

import jsonschema
import ollama
import pytest

from pie_mlx.server import ServerSettings
from tests.server.http.openai.conftest import HELLO, MODEL, WEATHER
from tests.server.running import RunningServer

pytestmark = pytest.mark.timeout(60)

HELPER = {"role": "system", "content": "You are a helpful assistant."}
QUESTION = "What is the capital of France?"
IN_PARIS = {"role": "user", "content": "What is the weather in Paris?"}
SUM = [{"role": "system", "content": "Think before you answer."}, {"role": "user", "content": "What is 31 + 47?"}]
GREEDY = {"temperature": 0, "num_predict": 60}


@pytest.fixture
def chat(llama):
    """A greedy chat."""
    return lambda messages, **more: llama.chat(**{"model": MODEL, "messages": messages, "options": GREEDY, **more})


def fetch(server, path, body=None):
    """Headers and JSON of an answer, of which the official client shows only fields that it knows."""
    with urllib.request.urlopen(f"{server.http}{path}", None if body is None else json.dumps(body).encode()) as answer:
        return answer.headers, json.load(answer)


def asked(text):
    return [{"role": "user", "content": text}]


def test_a_chat_says_what_one_of_openai_says(chat, ask):
    answer, other = chat(asked(QUESTION)), ask(QUESTION)
    assert answer.message.content == other.choices[0].message.content
    assert (answer.done, answer.done_reason, answer.model) == (True, "stop", MODEL)
    assert (answer.prompt_eval_count, answer.eval_count) == (other.usage.prompt_tokens, other.usage.completion_tokens)
    assert answer.total_duration == answer.prompt_eval_duration + answer.eval_duration > 0


def test_a_stream_says_the_same_in_pieces(chat):
    parts = list(chat(asked(QUESTION), stream=True))
    assert "".join(part.message.content for part in parts) == chat(asked(QUESTION)).message.content
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert len(parts) > 2


async def test_the_asynchronous_client_reads_the_same(server, chat):
    async with ollama.AsyncClient(server.http) as client:
        parts = await client.chat(model=MODEL, messages=asked(QUESTION), options=GREEDY, stream=True)
        assert "".join([part.message.content async for part in parts]) == chat(asked(QUESTION)).message.content


def test_a_stream_is_what_is_sent_unless_it_is_declined(post):
    *_, last = post("/api/chat", {"model": f"{MODEL}:latest", "messages": HELLO, "options": GREEDY})
    assert last["done"]


def test_a_tool_is_called_and_its_result_told(chat):
    called = chat([HELPER, IN_PARIS], tools=[WEATHER]).message
    ((call),) = called.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", {"city": "Paris"})
    result = {"role": "tool", "tool_name": "weather", "content": '{"temp": 21}'}
    assert "21" in chat([HELPER, IN_PARIS, called, result], tools=[WEATHER]).message.content


def test_results_are_those_of_the_calls_in_their_order(chat):
    call = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    turns = [IN_PARIS, {"role": "assistant", "content": "", "tool_calls": [call, call]}]
    results = [{"role": "tool", "content": text, "tool_name": "weather"} for text in ("cold", "warm")]
    assert chat([*turns, *results], tools=[WEATHER]).done
    with pytest.raises(ollama.ResponseError, match="no call of 'weather' without a result is before it"):
        chat([*turns, *results, results[0]], tools=[WEATHER])


def test_a_streamed_call_is_a_part(chat):
    parts = list(chat([HELPER, IN_PARIS], tools=[WEATHER], stream=True))
    (call,) = [call for part in parts for call in part.message.tool_calls or []]
    assert call.function.arguments == {"city": "Paris"}
    assert not any(part.message.content for part in parts)


@pytest.mark.parametrize(("think", "thinks"), [(True, True), (False, False), ("low", True)])
def test_a_model_thinks_as_it_is_told(chat, think, thinks):
    answer = chat(SUM, think=think).message
    assert bool(answer.thinking) == thinks
    assert "78" in answer.content
    parts = list(chat(SUM, think=think, stream=True))
    assert "".join(part.message.thinking or "" for part in parts) == (answer.thinking or "")


def test_penalties_are_those_of_openai(chat, ask):
    penalties = {"frequency_penalty": 2.0, "presence_penalty": 1.5}
    other = ask("Tell me a story.", extra_body={"repetition_penalty": 5.0}, **penalties)
    options = {**GREEDY, **penalties, "repeat_penalty": 5.0}
    answer = chat(asked("Tell me a story."), options=options).message
    assert answer.content == other.choices[0].message.content
    assert answer.content != chat(asked("Tell me a story.")).message.content


def test_a_format_is_enforced(chat):
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    jsonschema.validate(json.loads(chat(asked("Anything"), format=schema).message.content), schema)
    assert chat(asked("Anything"), format="json").message.content.startswith("{")


def test_logprobs_are_those_of_the_tokens(chat):
    answer = chat(asked(QUESTION), logprobs=True, top_logprobs=2)
    assert "".join(entry.token for entry in answer.logprobs) == answer.message.content
    assert all(len(entry.top_logprobs) == 2 for entry in answer.logprobs)


def test_a_prompt_is_what_a_user_says(llama, chat):
    generate = partial(llama.generate, model=MODEL, prompt=QUESTION, options=GREEDY)
    assert generate().response == chat(asked(QUESTION)).message.content
    assert generate(system=HELPER["content"]).response == chat([HELPER, *asked(QUESTION)]).message.content
    assert "".join(part.response for part in generate(stream=True)) == generate().response


def test_a_raw_prompt_is_continued(llama, client):
    begun = "<|im_start|>user\nTell me a story.<|im_end|>\n<|im_start|>assistant\nOnce"
    plain = client.completions.create(model=MODEL, prompt=begun, temperature=0, max_tokens=6)
    options = {**GREEDY, "num_predict": 6}
    answer = llama.generate(model=MODEL, prompt=begun, raw=True, options=options)
    assert (answer.response, answer.done_reason) == (plain.choices[0].text, "length")


@pytest.mark.parametrize("ask_for", ["chat", "generate"])
def test_a_request_that_says_nothing_loads_the_model(llama, ask_for):
    answer = getattr(llama, ask_for)(model=MODEL, keep_alive=-1)
    assert (answer.done, answer.done_reason) == (True, "load")


def test_models_are_listed_and_described(llama, server):
    assert [model.model for model in llama.list().models] == [MODEL]
    assert [model.context_length for model in llama.ps().models] == [4096]
    shown = llama.show(MODEL)
    assert shown.capabilities == ["completion", "tools", "thinking"]
    assert shown.modelinfo["mlx.context_length"] == 4096
    _, shown = fetch(server, "/api/version")
    assert shown["version"].count(".") == 2


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        ({"options": {"num_ctx": 8192, "num_thread": 4}}, "options.num_ctx, options.num_thread"),
        ({"options": {"repeat_penalty": 1.0, "mirostat": 0}}, None),
    ],
)
def test_a_hint_that_has_no_effect_is_left_out_and_reported(server, options, left_out):
    options = {**options, "options": {"num_predict": 1, **options.get("options", {})}}
    body = {"model": MODEL, "messages": HELLO, "stream": False, **options}
    headers, _ = fetch(server, "/api/chat", body)
    assert headers.get("x-pie-left-out") == left_out


@pytest.mark.parametrize(
    ("messages", "options", "words"),
    [
        ([{**HELLO[0], "images": ["aGk="]}], {}, r"messages\[0\]\.images.*only text is read"),
        (HELLO, {"options": {"typical_p": 0.5}}, "'options.typical_p' is not supported: leave it out"),
        (HELLO, {"options": {"temperature": 3}}, "options.temperature"),
        (asked("word " * 5000), {}, "maximum context length is 4096"),
    ],
)
def test_what_would_change_the_answer_is_refused(chat, messages, options, words):
    with pytest.raises(ollama.ResponseError, match=words) as refused:
        chat(messages, **options)
    assert refused.value.status_code == 400


def test_an_unknown_model_is_not_found(chat):
    with pytest.raises(ollama.ResponseError, match="there is pie-tiny") as refused:
        chat(HELLO, model="llama")
    assert refused.value.status_code == 404


@pytest.mark.parametrize("verb", ["pull", "push", "delete"])
def test_what_is_done_to_models_is_refused_with_what_to_do_instead(llama, verb):
    with pytest.raises(ollama.ResponseError, match=r"here: (run 'pie model (download|remove) |use 'hf)") as refused:
        getattr(llama, verb)("smollm")
    assert refused.value.status_code == 501


def test_with_authentication_on_a_request_without_the_token_is_refused(tmp_path):
    locked = RunningServer(tmp_path, ServerSettings(port=0, authentication=True), announces=False).start()
    try:
        refusing = pytest.raises(ollama.ResponseError, match="authentication is on")
        with ollama.Client(locked.http) as client, refusing as refused:
            client.list()
        assert refused.value.status_code == 401
        with ollama.Client(locked.http, headers={"Authorization": f"Bearer {locked.server.token}"}) as client:
            assert client.list().models
    finally:
        locked.stop()

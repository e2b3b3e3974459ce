"""Texts, schemas and bodies of any size and depth."""

import http.client
import json
import urllib.error
import urllib.request

import pytest

WORD = "word "
TWELVE_MB = WORD * 2_400_000
GROWTH_BYTES = 400 << 20


def post(target, path, body, timeout=60):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(target.http + path, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)["error"]


@pytest.fixture(scope="module")
def model(target):
    with urllib.request.urlopen(f"{target.http}/v1/models") as answer:
        return json.load(answer)["data"][0]["id"]


@pytest.mark.parametrize(
    ("way", "size", "code"),
    [
        ("encode", 40_000_000, "invalid_argument"),
        ("turn", 6_000_000, "context_length"),
        ("decode", 2_000_000, "invalid_argument"),
    ],
)
def test_what_is_too_long_is_refused_before_it_takes_memory(target, hostile, way, size, code):
    with target.stays_healthy(GROWTH_BYTES):
        status, result, err = hostile("long_texts", way=way, bytes=size)
    assert (status, result) == (0, {"refused": code}), err


def test_a_document_of_megabytes_is_encoded(target, hostile):
    with target.stays_healthy(GROWTH_BYTES):
        status, result, err = hostile("long_texts", way="encode", bytes=2_000_000)
    assert (status, result["size"] > 0) == (0, True), err


def test_texts_of_a_program_that_ended_are_given_up(target, hostile):
    with target.stays_healthy(GROWTH_BYTES):
        hostile("abandoned_texts")
        status, result, err = hostile("long_texts", way="encode", bytes=100_000)
    assert (status, result["size"] > 0) == (0, True), err


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": TWELVE_MB}]}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "word"}] * 200_000}),
        ("/v1/completions", {"prompt": TWELVE_MB}),
        ("/v1/completions", {"prompt": ["word"] * 200_000}),
        ("/v1/completions", {"prompt": "word", "stop": ["x"] * 9_000}),
        ("/v1/responses", {"input": TWELVE_MB}),
    ],
)
def test_a_prompt_that_cannot_fit_is_refused_at_once(target, model, path, fields):
    with target.stays_healthy(GROWTH_BYTES):
        status, error = post(target, path, {"model": model, **fields})
    assert (status, error["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("body", [b"[" * 5_000_000, b"[" + b"[]," * 5_000_000 + b"[]]", b'{"a":' * 2_000])
def test_a_body_of_many_or_deep_values_is_refused(target, body):
    with target.stays_healthy(GROWTH_BYTES):
        status, _ = post(target, "/v1/chat/completions", body)
    assert status == 400


def test_a_body_that_is_too_long_is_refused_before_it_is_sent(target):
    connection = http.client.HTTPConnection(target.http.removeprefix("http://"))
    connection.putrequest("POST", "/v1/chat/completions")
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders()
    with connection.getresponse() as answer:
        assert answer.status == 413
    connection.close()


def test_a_client_that_sends_a_long_body_all_the_same_reads_why_it_is_refused(target):
    with target.stays_healthy(GROWTH_BYTES):
        status, error = post(target, "/v1/chat/completions", b"x" * 40_000_000)
    assert (status, error["message"]) == (413, "the body is longer than 16 MiB")


def test_the_depth_of_a_tools_schema_is_told(target, model):
    schema = {}
    for _ in range(300):
        schema = {"a": schema}
    tool = {"type": "function", "function": {"name": "deep", "parameters": schema}}
    body = {"model": model, "messages": [{"role": "user", "content": "word"}], "tools": [tool]}
    status, error = post(target, "/v1/chat/completions", body)
    assert status == 400
    assert error["message"].startswith("tools: the schema of 'deep' is nested 300 levels deep, at most 200")

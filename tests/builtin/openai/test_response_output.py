"""The parts of a reply become the items and events of a response."""

from types import SimpleNamespace

import pytest

USAGE = {
    "prompt_tokens": 3,
    "completion_tokens": 5,
    "total_tokens": 8,
    "prompt_tokens_details": {"cached_tokens": 2},
    "completion_tokens_details": {"reasoning_tokens": 4},
}
COSTS = SimpleNamespace(figures=lambda: {"usage": USAGE, "timings": {}})


@pytest.fixture
def piece(openai_module):
    kind = openai_module("choices").Piece
    return lambda **fields: kind(0, **fields)


@pytest.fixture
def form(openai_module):
    request = openai_module("wire").read_fields(
        b'{"model": "m", "input": "Hello"}', openai_module("responses").ResponseRequest
    )
    form = openai_module("response_output").ResponseForm(request, [])
    form.costs = COSTS
    return form


@pytest.fixture
def events_of(form):
    """The events of all parts, without their `response.`, from the first item on."""

    def stream(*pieces):
        return [event for piece in pieces for event in form.chunks(piece)]

    return stream


def kinds(events):
    return [event["type"].removeprefix("response.") for event in events]


def text_events(name):
    return [f"{name}.delta", f"{name}.done"]


def test_reasoning_a_message_and_a_call_are_items_one_after_the_other(form, piece):
    pieces = [
        piece(reasoning="Well."),
        piece(reasoning=" So.", text="I "),
        piece(text="see.", calls=[("f", "{}")]),
        piece(finish="tool_calls"),
    ]
    response = form.whole(pieces)
    reasoning, message, call = response["output"]
    assert (reasoning["type"], reasoning["content"]) == ("reasoning", [{"type": "reasoning_text", "text": "Well. So."}])
    assert (message["type"], message["content"][0]["text"]) == ("message", "I see.")
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "f", "{}")
    assert {item["status"] for item in response["output"]} == {"completed"}
    assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 4}


def test_an_item_ends_before_the_next_one_begins(events_of, piece):
    events = events_of(piece(reasoning="So.", text="Yes."), piece(calls=[("f", "{}"), ("g", "{}")]), piece(finish="x"))
    begun = ["output_item.added", "content_part.added"]
    ended = ["content_part.done", "output_item.done"]
    call = ["output_item.added", *text_events("function_call_arguments"), "output_item.done"]
    assert kinds(events) == [
        *begun,
        *text_events("reasoning_text"),
        *ended,
        *begun,
        *text_events("output_text"),
        *ended,
        *call,
        *call,
    ]
    assert [event["output_index"] for event in events] == [0] * 6 + [1] * 6 + [2] * 4 + [3] * 4


def test_events_name_the_item_they_belong_to(events_of, piece):
    added, *inside, done = events_of(piece(text="Yes."), piece(finish="stop"))
    assert {event["item_id"] for event in inside} == {added["item"]["id"]} == {done["item"]["id"]}


def test_text_after_a_call_is_another_message(form, piece):
    response = form.whole([piece(text="a"), piece(calls=[("f", "{}")]), piece(text="b", finish="stop")])
    assert [item["type"] for item in response["output"]] == ["message", "function_call", "message"]


@pytest.mark.parametrize(("finish", "status"), [("stop", "completed"), ("length", "incomplete")])
def test_a_reply_that_says_nothing_is_a_message(form, piece, finish, status):
    (message,) = form.whole([piece(finish=finish)])["output"]
    assert (message["content"][0]["text"], message["status"]) == ("", status)


def test_a_reply_that_is_cut_while_it_thinks_has_no_message(form, piece):
    response = form.whole([piece(reasoning="We"), piece(reasoning="ll", finish="length")])
    (reasoning,) = response["output"]
    assert (reasoning["type"], reasoning["status"], response["status"]) == ("reasoning", "incomplete", "incomplete")


def test_calls_before_the_one_that_was_cut_are_complete(form, piece):
    response = form.whole([piece(calls=[("f", "{}"), ("g", "{")], finish="length")])
    assert [item["status"] for item in response["output"]] == ["completed", "incomplete"]


def test_a_call_that_was_whole_before_the_reply_was_cut_is_complete(form, piece):
    response = form.whole([piece(calls=[("f", "{}")]), piece(finish="length")])
    assert (response["output"][0]["status"], response["status"]) == ("completed", "incomplete")


def test_logprobs_wait_for_the_text_they_belong_to(events_of, piece):
    first, second, third = ({"token": token} for token in "abc")
    events = events_of(piece(entries=[first]), piece(text="ab", entries=[second]), piece(entries=[third]))
    deltas = [(event["delta"], event["logprobs"]) for event in events if event["type"].endswith("delta")]
    assert deltas == [("ab", [first, second]), ("", [third])]


def test_logprobs_of_a_call_are_no_text(form, piece):
    pieces = [piece(entries=[{"token": "a"}]), piece(calls=[("f", "{}")]), piece(text="b", finish="stop")]
    _, message = form.whole(pieces)["output"]
    assert message["content"][0]["logprobs"] == []


@pytest.mark.parametrize(("status", "code"), [(500, "server_error"), (429, "rate_limit_exceeded")])
def test_what_fails_ends_the_item_and_the_response(openai_module, form, piece, status, code):
    form.chunks(piece(text="Ye"))
    events = form.failed(openai_module("wire").Refusal(status, "no more"))
    assert kinds(events) == ["output_text.done", "content_part.done", "output_item.done", "failed"]
    response = events[-1]["response"]
    assert (response["status"], response["error"]) == ("failed", {"code": code, "message": "no more"})
    assert response["output"][0]["status"] == "incomplete"


def test_what_fails_before_the_beginning_begins_and_ends_the_response(openai_module, form):
    refusal = openai_module("wire").Refusal(400, "too long", code="context_length_exceeded")
    events = form.failed(refusal)
    assert kinds(events) == ["created", "in_progress", "failed"]
    assert events[-1]["response"]["error"] == {"code": "context_length_exceeded", "message": "too long"}


def test_events_are_numbered_in_their_order(form, piece):
    parts = [piece(reasoning="So.", text="Yes."), piece(finish="stop")]
    events = [*form.opening(), *(event for part in parts for event in form.chunks(part)), *form.closing()]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))

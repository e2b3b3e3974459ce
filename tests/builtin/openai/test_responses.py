"""A request for a response is written as one for a chat."""

import json

import msgspec
import pytest

CALL = {"type": "function_call", "call_id": "a", "name": "weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "a", "output": "cold"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "So."}]}


def said(role, text):
    return {"role": role, "content": text}


@pytest.fixture
def written(openai_module):
    """The chat of input and other fields, and its terms."""

    def write(input, **fields):
        body = json.dumps({"model": "m", "input": input, **fields}).encode()
        request = openai_module("wire").read_fields(body, openai_module("responses").ResponseRequest)
        responses = openai_module("responses")
        return responses.chat_of(request)

    return write


@pytest.fixture
def messages(written):
    """The messages as they would be sent for a chat, without what is null."""

    def write(input, **fields):
        found = msgspec.to_builtins(written(input, **fields)[0].messages)
        return [{name: value for name, value in message.items() if value is not None} for message in found]

    return write


def test_a_text_is_what_the_user_says_after_the_instructions(messages):
    assert messages("Hello", instructions="Be kind.") == [said("system", "Be kind."), said("user", "Hello")]


@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
def test_messages_keep_their_roles(messages, role):
    assert messages([said(role, "Hello")]) == [said(role, "Hello")]


def test_parts_are_one_text(messages):
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "output_text", "text": "b", "annotations": [], "logprobs": None},
        {"type": "refusal", "refusal": "c"},
    ]
    assert messages([said("assistant", parts)]) == [said("assistant", "abc")]


def test_calls_belong_to_the_turn_they_follow(messages):
    first, second = messages([said("assistant", "I see."), REASONING, CALL, {**CALL, "call_id": "b"}, RESULT])
    assert first["content"] == "I see."
    assert [call["id"] for call in first["tool_calls"]] == ["a", "b"]
    assert second == {"role": "tool", "tool_call_id": "a", "content": "cold"}


def test_a_call_after_no_turn_of_the_assistant_is_one(messages):
    _, turn, _ = messages([said("user", "Hello"), CALL, RESULT])
    assert turn["role"] == "assistant"
    assert turn["tool_calls"][0]["function"] == {"name": "weather", "arguments": "{}"}


def test_reasoning_of_earlier_turns_is_left_out(messages):
    assert messages([REASONING, said("assistant", "Hello")]) == [said("assistant", "Hello")]


def test_messages_are_told_by_the_places_of_their_items(written):
    _, terms, _ = written([said("user", "Hello"), REASONING, CALL, RESULT], instructions="Be kind.")
    assert [terms.message(place) for place in (1, 2, 3)] == ["input[0]", "input[2]", "input[3]"]


def test_how_tokens_are_drawn_goes_on(written):
    chat, *_ = written("Hello", seed=7, top_k=3, stop="x", stream=True, max_output_tokens=5, temperature=0.5)
    assert (chat.seed, chat.top_k, chat.stop_texts, chat.stream) == (7, 3, ["x"], True)
    assert (chat.max_completion_tokens, chat.temperature) == (5, 0.5)

"""Responses are kept, but not for ever and not all of them."""

import json

import pytest


def response(name, text="Hello"):
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "content": text}
    return {"id": name, "output": [message]}


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def limits(openai_module, monkeypatch):
    def set_limit(name, value):
        monkeypatch.setattr(openai_module("response_output"), name, value)

    return set_limit


@pytest.fixture
def store(openai_module, clock):
    return openai_module("response_output").ResponseStore(clock)


def test_a_response_is_kept_with_its_conversation(store):
    store.keep(response("a"), [{"type": "message", "role": "user", "content": "Hi"}])
    found = store.find("a")
    assert json.loads(found.response) == response("a")
    assert [item["content"] for item in json.loads(found.conversation)] == ["Hi", "Hello"]
    assert store.find_item("msg_a") == response("a")["output"][0]


def test_the_oldest_ones_make_room(store, limits):
    limits("MOST_RESPONSES", 2)
    for name in "abc":
        store.keep(response(name), [])
    assert [store.find(name) is not None for name in "abc"] == [False, True, True]
    assert (store.find_item("msg_a"), store.find_item("msg_b")["id"]) == (None, "msg_b")


def test_all_of_them_take_no_more_than_so_many_bytes(store, limits):
    limits("MOST_BYTES", 1000)
    for name in "abcdef":
        store.keep(response(name, "x" * 100), [])
        assert store.size_bytes <= 1000
    assert store.find("f") is not None
    assert store.find("a") is None


def test_one_that_alone_takes_more_is_not_kept(store, limits):
    limits("MOST_BYTES", 1000)
    store.keep(response("a", "x" * 2000), [])
    assert (store.find("a"), store.size_bytes) == (None, 0)


def test_old_ones_are_forgotten(store, clock, openai_module):
    store.keep(response("a"), [])
    clock.seconds = openai_module("response_output").KEPT_SECONDS + 1
    assert (store.find("a"), store.find_item("msg_a"), store.size_bytes) == (None, None, 0)


def test_a_deleted_one_leaves_nothing(store):
    store.keep(response("a"), [])
    assert [store.delete("a"), store.delete("a")] == [True, False]
    assert (store.find("a"), store.find_item("msg_a"), store.size_bytes) == (None, None, 0)

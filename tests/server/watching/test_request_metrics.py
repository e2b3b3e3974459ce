"""What requests cost, as Prometheus reads it."""

import json

import pytest
from prometheus_client import CollectorRegistry

from pie_mlx.events import PassCompleted
from pie_mlx.server.watching.request_metrics import CLIENT_LEFT, RequestMetrics, ServedRequest

CHAT = "/v1/chat/completions"
LABELS = {"endpoint": CHAT, "model": "m"}


class Counted:
    """Metrics of a model `m`, and their samples."""

    def __init__(self):
        self.registry = CollectorRegistry()
        self.metrics = RequestMetrics("m", self.registry)

    def __getitem__(self, name):
        return self.registry.get_sample_value(name, LABELS)

    def requests(self, **labels):
        found = {**LABELS, "status": "200", "finish_reason": "", **labels}
        return self.registry.get_sample_value("pie_http_requests_total", found)

    def passes(self, *moments, context=1, rows=1, following=0):
        """Passes of process `p`, each by when it began and ended."""
        for began, ended in moments:
            times = {"completed_seconds": ended, "started_seconds": began}
            self.metrics.observe(PassCompleted("p", context, 0, 1, rows, following=following, **times))

    def finish(self, status=200, path=CHAT, **returned):
        request = ServedRequest(path, CLIENT_LEFT, "p", 10.0, returned=json.dumps(returned))
        if status != CLIENT_LEFT:
            request.status, request.duration_seconds = status, 4.0
        self.metrics.finish(request)


@pytest.fixture
def counted():
    return Counted()


@pytest.fixture
def begun(counted):
    """A chat request was asked at 10 s, and its process was started."""
    counted.metrics.begin("p", CHAT, 10.0)
    return counted


def test_the_queue_ends_when_the_device_begins(begun):
    begun.passes((10.5, 11.0), (12.0, 13.0))
    assert (begun["pie_request_queue_seconds_sum"], begun["pie_request_queue_seconds_count"]) == (0.5, 1)


def test_the_first_token_comes_with_the_first_pass_that_is_read(begun):
    begun.passes((10.5, 11.0), rows=0)
    begun.passes((11.0, 12.0), (12.0, 13.0))
    assert begun["pie_time_to_first_token_seconds_sum"] == 2.0
    assert begun["pie_time_to_first_token_seconds_count"] == 1


def test_a_slow_client_that_leaves_counts_for_the_first_token(begun):
    begun.passes((10.5, 11.0))
    begun.finish(CLIENT_LEFT)
    assert begun["pie_time_to_first_token_seconds_count"] == 1
    assert begun["pie_request_duration_seconds_count"] is None
    assert begun.requests(status="499") == 1


def test_the_time_per_token_is_that_after_the_first(begun):
    begun.passes((10.0, 11.0), (11.0, 11.5))
    begun.passes((11.5, 12.5), following=2)
    begun.finish()
    assert begun["pie_time_per_output_token_seconds_sum"] == pytest.approx(1.5 / 4)


def test_choices_at_once_take_their_tokens_at_once(begun):
    begun.passes((10.0, 11.0), (11.0, 12.0), context=1)
    begun.passes((10.0, 11.0), (11.0, 12.0), context=2)
    begun.finish()
    assert begun["pie_time_per_output_token_seconds_sum"] == 1.0


def test_a_reply_of_one_token_has_no_time_per_token(begun):
    begun.passes((10.0, 11.0))
    begun.finish()
    assert begun["pie_time_per_output_token_seconds_count"] is None
    assert begun["pie_request_duration_seconds_sum"] == 4.0


def test_tokens_are_counted_apart(begun):
    begun.finish(prompt_tokens=9, cached_tokens=8, completion_tokens=3, finish_reasons=["length", "stop"])
    names = ("pie_prompt_tokens_total", "pie_prompt_cached_tokens_total", "pie_generated_tokens_total")
    assert [begun[name] for name in names] == [9, 8, 3]
    assert begun.requests(finish_reason="length") == 1


@pytest.mark.parametrize(
    "returned", ['{"prompt_tokens": "9"}', "no JSON", '{"finish_reasons": ["a", 1]}', "[" * 2000, '"text"', ""]
)
def test_a_program_may_return_anything(counted, returned):
    counted.metrics.finish(ServedRequest(CHAT, 200, returned=returned))
    assert counted.requests() == 1


def test_labels_have_few_values_whatever_clients_and_programs_send(counted):
    for path in ("/v1/models/a", "/v1/models/b", "/v1/responses/a", "/v1/x", "/v1/y", "/v1/chat/completions/"):
        counted.finish(path=path)
    counted.finish(finish_reasons=["whatever"])
    samples = [sample for family in counted.registry.collect() for sample in family.samples]
    assert {sample.labels["endpoint"] for sample in samples} == {CHAT, "/v1/models", "/v1/responses/{id}", "other"}
    assert counted.requests(finish_reason="other") == 1


def test_embeddings_have_no_tokens_to_wait_for(counted):
    counted.metrics.begin("p", "/v1/embeddings", 10.0)
    counted.passes((10.0, 11.0))
    found = {"endpoint": "/v1/embeddings", "model": "m"}
    assert counted.registry.get_sample_value("pie_time_to_first_token_seconds_count", found) is None


def test_nothing_is_kept_of_a_request_that_is_over(begun):
    begun.finish()
    begun.passes((10.0, 11.0))
    assert begun["pie_time_to_first_token_seconds_count"] is None

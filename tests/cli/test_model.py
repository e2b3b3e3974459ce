import pytest


def test_the_embedded_model_needs_no_download(pie):
    ended = pie("model", "download", "pie-tiny")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.rstrip().endswith("pie-tiny")


@pytest.mark.parametrize("verb", ["download", "pull"])
def test_without_a_network_the_reason_is_said(pie, verb):
    ended = pie("model", verb, "-q", "nobody/nothing")  # the tests run with HF_HUB_OFFLINE=1
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("pie: model: nobody/nothing could not be downloaded: ")

"""Which requests of web pages are refused, by what browsers say of them (protocol 8.2)."""

import pytest

from pie_mlx.server.access.request_checks import check_page

ALLOWED = "https://a.example"


def is_refused(method, **fields):
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    return check_page(method, headers.get, [ALLOWED]) is not None


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT"])
@pytest.mark.parametrize("mode", [None, "cors", "no-cors", "navigate", "same-origin", "websocket"])
@pytest.mark.parametrize("site", [None, "none", "same-origin", "same-site", "cross-site", "nonsense"])
@pytest.mark.parametrize("origin", [None, ALLOWED, "null", "https://evil.example", "http://localhost:3000"])
def test_every_combination(method, mode, site, origin):
    fields = {"origin": origin, "sec_fetch_site": site, "sec_fetch_mode": mode}
    refused = is_refused(method, **{name: value for name, value in fields.items() if value is not None})
    if origin is not None:
        assert refused == (origin != ALLOWED)
    elif site in (None, "none", "same-origin"):
        assert not refused
    else:
        assert refused == (method not in ("GET", "HEAD") or mode != "navigate")


def test_a_client_that_is_no_browser_says_nothing():
    assert not is_refused("POST")


def test_a_form_of_a_foreign_page_is_refused_although_it_navigates():
    assert is_refused("POST", sec_fetch_site="cross-site", sec_fetch_mode="navigate")


def test_a_picture_on_a_foreign_page_starts_no_process():
    assert is_refused("GET", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")


def test_a_refusal_says_what_to_do():
    refusal = check_page("POST", {"sec-fetch-site": "cross-site"}.get, [])
    assert (refusal.status, refusal.retry_seconds) == (403, 0)
    assert "add its origin to [server] allowed_origins" in refusal.text

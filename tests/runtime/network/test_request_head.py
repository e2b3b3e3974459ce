"""What a proxy understands of a request (RFC 9112)."""

import pytest

from pie_mlx.runtime.network.rejection import Rejection
from pie_mlx.runtime.network.request_head import RequestHead, parse_request


def parse(*lines):
    return parse_request("\r\n".join([*lines, "", ""]).encode("latin-1"))


@pytest.mark.parametrize(
    ("target", "host", "port"),
    [
        ("example.com:443", "example.com", 443),
        ("[::1]:8443", "::1", 8443),
        ("10.0.0.1:1", "10.0.0.1", 1),
    ],
)
def test_a_tunnel_names_host_and_port(target, host, port):
    assert parse(f"CONNECT {target} HTTP/1.1", "Host: other") == RequestHead(host, port, None)


@pytest.mark.parametrize(
    ("target", "host", "port", "line"),
    [
        ("http://example.com/a?b=c", "example.com", 80, "GET /a?b=c HTTP/1.1"),
        ("http://example.com", "example.com", 80, "GET / HTTP/1.1"),
        ("http://example.com?q", "example.com", 80, "GET /?q HTTP/1.1"),
        ("HTTP://example.com:81/", "example.com", 81, "GET / HTTP/1.1"),
        ("http://[::1]:81/x", "::1", 81, "GET /x HTTP/1.1"),
    ],
)
def test_an_absolute_request_becomes_one_for_its_host(target, host, port, line):
    found = parse(f"GET {target} HTTP/1.1")
    assert (found.host, found.port) == (host, port)
    assert found.forward.split(b"\r\n")[0] == line.encode()


def test_the_host_of_the_target_counts():
    found = parse("GET http://example.com:81/ HTTP/1.1", "Host: other.org", "A: b")
    assert found.forward == b"GET / HTTP/1.1\r\nHost: example.com:81\r\nA: b\r\nConnection: close\r\n\r\n"


def test_fields_for_the_proxy_stay_there():
    fields = ["Connection: keep-alive, X-Own", "X-Own: 1", "Proxy-Authorization: Basic x", "Keep-Alive: 5", "Te: x"]
    found = parse("GET http://a.b/ HTTP/1.1", *fields)
    assert found.authorization == "Basic x"
    assert found.forward == b"GET / HTTP/1.1\r\nHost: a.b\r\nTe: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "GET / HTTP/1.1",
        "GET https://a.b/ HTTP/1.1",
        "GET http://user@a.b/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://a.b:0/ HTTP/1.1",
        "GET http://a.b:99999/ HTTP/1.1",
        "GET http://a.b/ HTTP/2",
        "GET http://a.b/ x HTTP/1.1",
        "CONNECT a.b HTTP/1.1",
        "CONNECT a b:1 HTTP/1.1",
        "CONNECT http://a.b:1 HTTP/1.1",
        "CONNECT fe80::1%25eth0:1 HTTP/1.1",
        "CONNECT [fe80::1%eth0]:1 HTTP/1.1",
        "CONNECT user:word@a.b:443 HTTP/1.1",
        "CONNECT a.b:https HTTP/1.1",
        "GET http://a.b:http/ HTTP/1.1",
        "GET http://a.b:80:81/ HTTP/1.1",
        "GET http://a.b\\@127.0.0.1/ HTTP/1.1",
        "GET http://[::1]x/ HTTP/1.1",
        "GET http://127.0.0.\xb9/ HTTP/1.1",
        "GET http://a.b%2f/ HTTP/1.1",
    ],
)
def test_other_requests_are_refused(line):
    found = parse(line)
    assert isinstance(found, Rejection)
    assert found.status == 400


@pytest.mark.parametrize("field", ["no colon", " folded: x", "A : b", "A: b\nC: d", "A: \0", ": x"])
def test_malformed_fields_are_refused(field):
    assert parse("GET http://a.b/ HTTP/1.1", field) == Rejection(400, "the request is malformed")

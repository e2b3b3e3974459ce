"""Which host may be reached on which port (protocol 7.3)."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.config.rules import host_problems
from pie_mlx.errors import ConfigError
from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.public_addresses import effective, is_public

PUBLIC = "93.184.216.34"


def allows(entries, name, address, port=443):
    return not AllowedHosts(entries).refusal(name, ipaddress.ip_address(address), port)


@pytest.mark.parametrize(
    ("entry", "address", "port"),
    [
        ("10.1.2.3", "10.1.2.3", 1),
        ("10.0.0.0/8", "10.255.0.1", 443),
        ("10.1.2.3/8", "10.9.9.9", 443),
        ("10.1.2.3:80", "10.1.2.3", 80),
        ("10.0.0.0/8:80-90", "10.1.1.1", 90),
        ("::1", "::1", 443),
        ("[::1]:443", "::1", 443),
        ("[fd00::/8]:80-443", "fd12::1", 443),
        ("127.0.0.1", "::ffff:127.0.0.1", 443),
        ("10.0.0.1", "64:ff9b::a00:1", 443),
        ("0.0.0.0/0", "127.0.0.1", 443),
    ],
)
def test_an_address_that_is_named_is_allowed_whatever_it_is(entry, address, port):
    assert allows([entry], address, address, port)
    assert allows([entry], "any.name", address, port)


@pytest.mark.parametrize(
    ("entry", "address", "port"),
    [
        ("10.1.2.3", "10.1.2.4", 443),
        ("10.1.2.3:80", "10.1.2.3", 443),
        ("10.0.0.0/8:80-90", "10.1.1.1", 91),
        ("[::1]:443", "::1", 80),
        ("::1", "127.0.0.1", 443),
        ("0.0.0.0/0", "::1", 443),
    ],
)
def test_another_address_or_port_is_not(entry, address, port):
    assert not allows([entry], address, address, port)


@pytest.mark.parametrize(
    ("entry", "name", "port"),
    [
        ("example.com", "example.com", 443),
        ("Example.COM", "example.com", 443),
        ("example.com", "EXAMPLE.com.", 443),
        ("example.com:443", "example.com", 443),
        ("*.example.com", "a.example.com", 443),
        ("*.example.com:8000-9000", "a.b.example.com", 8080),
    ],
)
def test_a_name_allows_its_public_addresses(entry, name, port):
    assert allows([entry], name, PUBLIC, port)


@pytest.mark.parametrize(
    ("entry", "name", "port"),
    [
        ("example.com", "a.example.com", 443),
        ("example.com", "badexample.com", 443),
        ("*.example.com", "example.com", 443),
        ("*.example.com", "badexample.com", 443),
        ("*.example.com", "example.com.evil.org", 443),
        ("example.com:443", "example.com", 80),
        ("example.com", PUBLIC, 443),
    ],
)
def test_another_name_is_not_allowed(entry, name, port):
    assert not allows([entry], name, PUBLIC, port)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1", "::ffff:10.0.0.1"])
@pytest.mark.parametrize("entries", [["*"], ["example.com"], ["*.com"]])
def test_a_name_cannot_vouch_for_an_address_that_is_not_public(entries, address):
    refusal = AllowedHosts(entries).refusal("example.com", ipaddress.ip_address(address), 443)
    assert "is not public, and such an address needs its own entry" in refusal


def test_localhost_stands_for_loopback():
    assert allows(["localhost"], "localhost", "127.0.0.1")
    assert allows(["localhost"], "localhost", "::1")
    assert not allows(["localhost"], "localhost", "10.0.0.1")
    assert not allows(["*"], "localhost", "127.0.0.1")


def test_a_star_allows_every_public_address():
    assert allows(["*"], PUBLIC, PUBLIC)
    assert allows(["*"], "any.name", "2606:2800:220:1:248:1893:25c8:1946", 1)
    assert allows(["*"], "any.name", f"64:ff9b::{PUBLIC}")


def test_nothing_allows_nothing():
    assert not allows([], PUBLIC, PUBLIC)


@given(st.ip_addresses(), st.integers(1, 65535))
def test_a_star_allows_what_is_public_and_nothing_else(address, port):
    assert allows(["*"], str(address), address, port) == is_public(effective(address))


@given(st.ip_addresses(v=4), st.integers(0, 32), st.ip_addresses(v=4), st.integers(1, 65535), st.integers(1, 65535))
def test_a_block_allows_what_lies_in_it(base, length, address, low, port):
    block = ipaddress.ip_network(f"{base}/{length}", strict=False)
    assert allows([f"{base}/{length}:{low}-65535"], str(address), address, port) == (address in block and port >= low)


@given(st.text(alphabet="a1.:*-[]/%", max_size=12))
def test_whatever_the_configuration_takes_is_understood(entry):
    if list(host_problems([entry])):
        with pytest.raises(ConfigError, match="network_allowed_hosts"):
            AllowedHosts([entry])
    else:
        AllowedHosts([entry])

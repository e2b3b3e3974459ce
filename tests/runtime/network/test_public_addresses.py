"""Which addresses are public: the special-purpose registries of IANA, and every way to hide one of IPv4 in IPv6."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.runtime.network.public_addresses import effective, is_public

NOT_PUBLIC_4 = {
    "this network": ["0.0.0.0", "0.1.2.3"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    "shared": ["100.64.0.1", "100.100.100.200", "100.127.255.255"],
    "loopback": ["127.0.0.1", "127.255.255.254"],
    "link-local": ["169.254.0.23", "169.254.169.254", "169.254.170.2"],
    "metadata that looks public": ["168.63.129.16", "192.0.0.192"],
    "protocol assignments": ["192.0.0.0", "192.0.0.9", "192.0.0.170", "192.0.0.255"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1"],
    "relays": ["192.88.99.1"],
    "benchmarks": ["198.18.0.1", "198.19.255.255"],
    "multicast": ["224.0.0.1", "239.255.255.250"],
    "reserved": ["240.0.0.1", "255.255.255.255"],
}
NOT_PUBLIC_6 = {
    "unspecified and loopback": ["::", "::1"],
    "compatible": ["::7f00:1", "::5db8:d822"],
    "translated": ["::ffff:0:127.0.0.1"],
    "local translation": ["64:ff9b:1::7f00:1", "64:ff9b:1::5db8:d822"],
    "discard": ["100::1"],
    "protocol assignments": [
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
    ],
    "documentation": ["2001:db8::1", "3fff::1"],
    "6to4": ["2002:7f00:1::", "2002:5db8:d822::1"],
    "segments": ["5f00::1"],
    "unallocated": ["1::1", "4000::1", "e000::1"],
    "unique local": ["fc00::1", "fd00:ec2::254", "fdff::1"],
    "link-local": ["fe80::1", "fe80::a9fe:a9fe", "fe80::1%eth0", "febf::1"],
    "site-local": ["fec0::1", "feff::1"],
    "multicast": ["ff02::1", "ff0e::1"],
}
PUBLIC_4 = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "168.63.129.15", "172.32.0.1"]
PUBLIC_4 += ["191.255.255.255", "192.0.1.1", "192.31.196.1", "192.175.48.1", "198.17.255.255", "223.255.255.255"]
PUBLIC_6 = ["2001:200::1", "2001:4860:4860::8888", "2606:2800:220:1:248:1893:25c8:1946", "2a00::1", "2003::1"]


def public(text):
    return is_public(effective(ipaddress.ip_address(text)))


@pytest.mark.parametrize("address", [one for kind in NOT_PUBLIC_4.values() for one in kind])
@pytest.mark.parametrize("form", ["{}", "::ffff:{}", "64:ff9b::{}", "::{}", "::ffff:0:{}", "64:ff9b:1::{}"])
def test_an_address_that_is_not_public_is_not_in_any_form(form, address):
    assert not public(form.format(address))


@pytest.mark.parametrize("address", [one for kind in NOT_PUBLIC_6.values() for one in kind])
def test_addresses_of_ipv6_that_are_not_public(address):
    assert not public(address)


@pytest.mark.parametrize("address", PUBLIC_4 + PUBLIC_6)
def test_addresses_that_are_public(address):
    assert public(address)


@pytest.mark.parametrize("form", ["::ffff:{}", "64:ff9b::{}"])
@pytest.mark.parametrize("address", PUBLIC_4)
def test_a_public_address_is_public_where_the_network_translates_it(form, address):
    assert public(form.format(address))


@given(st.ip_addresses(v=4))
def test_tunnels_to_an_address_of_ipv4_are_not_public(address):
    assert not public(str(ipaddress.IPv6Address(0x2002 << 112 | int(address) << 80)))
    assert not public(str(ipaddress.IPv6Address(0x20010000 << 96 | int(address) ^ 0xFFFFFFFF)))


@given(st.ip_addresses())
def test_what_is_public_is_so_for_python_too(address):
    meant = effective(address)
    assert not is_public(meant) or (meant.is_global and not meant.is_multicast)

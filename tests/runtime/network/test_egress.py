"""A name is resolved once, and what was checked is what is connected to (protocol 7.3)."""

import asyncio
import ipaddress

import pytest

from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.egress import EgressConnector, is_here
from pie_mlx.runtime.network.rejection import Rejection
from pie_mlx.runtime.network.settings import system_resolve
from tests.runtime.network.conftest import Names, serving


async def connected(egress, host, port):
    """The address that was connected to, or the rejection."""
    found = await egress.connect(host, port)
    if isinstance(found, Rejection):
        return found
    _, writer = found
    peer = writer.get_extra_info("peername")[0]
    writer.close()
    await writer.wait_closed()
    return peer


def egress(allowed, resolve=None, closed_ports=()):
    return EgressConnector(AllowedHosts(allowed), closed_ports, resolve or Names())


async def test_a_name_whose_address_is_named_is_connected_to():
    async with serving(host="127.0.0.2") as (_, port):
        assert await connected(egress(["127.0.0.2"], Names(a_test=["127.0.0.2"])), "a.test", port) == "127.0.0.2"


async def test_a_second_answer_of_the_resolver_counts_for_nothing():
    names = Names(a_test=[["127.0.0.2"], ["127.0.0.1"]])
    async with serving(host="127.0.0.2") as (_, port):
        assert await connected(egress(["127.0.0.2"], names), "a.test", port) == "127.0.0.2"
    assert names.asked == ["a.test"]


async def test_a_name_that_stands_for_a_private_address_is_refused():
    found = await connected(egress(["*"], Names(a_test=["127.0.0.1"])), "a.test", 80)
    assert found.status == 403
    assert found.reason == "Forbidden by [runtime] network_allowed_hosts"
    assert "a.test port 80: 127.0.0.1 is not public" in found.text


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.8", "::1", "localhost"])
async def test_an_address_that_is_not_public_is_refused_with_the_option_that_allows_it(host):
    names = Names(localhost=["127.0.0.1"])
    found = await connected(egress(["*"], names), host, 80)
    assert found.reason == f"Forbidden by [runtime] network_allowed_hosts, --allow-network={host} allows it"
    assert found.text.endswith(f"config.toml, or run it with --allow-network={host}")


@pytest.mark.parametrize("text", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.1.", "LOCALHOST.", "a.b."])
async def test_odd_ways_to_write_an_address_are_names(text):
    names = Names()
    names.addresses[text] = ["127.0.0.1"]
    found = await connected(egress(["*"], names), text, 80)
    assert found.status == 403
    assert names.asked == [text]


@pytest.mark.parametrize("text", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0x7f000001", "017700000001"])
async def test_odd_ways_to_write_an_address_are_refused_as_the_system_reads_them(text):
    found = await connected(egress(["*"], system_resolve), text, 80)
    assert found.status in (403, 502)


async def test_only_the_allowed_ones_of_several_addresses_are_tried():
    async with serving(host="127.0.0.2") as (_, port), serving(host="127.0.0.1") as (other, _):
        names = Names(a_test=["127.0.0.1", "127.0.0.2"])
        assert await connected(egress([f"127.0.0.2:{port}"], names), "a.test", port) == "127.0.0.2"
        assert other.visits == 0


async def test_the_next_address_is_tried_when_one_does_not_answer():
    async with serving(host="127.0.0.2") as (_, port):
        names = Names(a_test=["127.0.0.3", "127.0.0.2"])
        assert await connected(egress(["127.0.0.0/8"], names), "a.test", port) == "127.0.0.2"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1"])
async def test_the_engines_own_port_is_never_reachable(host):
    async with serving() as (site, port):
        found = await connected(egress(["0.0.0.0/0", "::/0"], closed_ports=[port]), host, port)
        assert found.status == 403
        assert "belongs to the engine" in found.text
        assert site.visits == 0


async def test_the_same_port_of_another_machine_is_another(monkeypatch):
    async def unreachable(host, port, **options):
        raise OSError(f"tried {host}")

    monkeypatch.setattr(asyncio, "open_connection", unreachable)
    found = await connected(egress(["*"], Names(a_b=["93.184.216.34"]), closed_ports=[80]), "a.b", 80)
    assert (found.status, "tried 93.184.216.34" in found.text) == (502, True)


def test_addresses_of_this_machine_are_here():
    assert is_here(ipaddress.ip_address("127.9.9.9"))
    assert is_here(ipaddress.ip_address("::"))
    assert not is_here(ipaddress.ip_address("93.184.216.34"))


async def test_an_unknown_name_is_a_bad_gateway():
    found = await connected(egress(["*"]), "nowhere.test", 80)
    assert found.status == 502
    assert "no such name" in found.text


async def test_a_host_that_does_not_answer_is_a_bad_gateway():
    async with serving() as (_, port):
        pass
    assert (await connected(egress(["127.0.0.1"]), "127.0.0.1", port)).status == 502


async def test_an_address_of_ipv6_is_connected_to():
    try:
        context = serving(host="::1")
        async with context as (_, port):
            assert await connected(egress([f"[::1]:{port}"]), "::1", port) == "::1"
    except OSError as error:
        pytest.skip(f"this system has no IPv6: {error}")

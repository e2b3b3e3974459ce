"""Which addresses are public, according to the special-purpose registries of IANA.

With its own table: `ipaddress.is_global` differs between releases of Python, down to the patch.
"""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv4 addresses in IPv6-only networks (RFC 6052)."""
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 with public hosts (RFC 4291). Excludes embedded IPv4, private, link-local, site-local and
multicast addresses."""
_NOT_PUBLIC_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by a provider's customers; metadata of some clouds
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # the host of a virtual machine on Azure
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments; metadata of some clouds
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
_NOT_PUBLIC_6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, whose tunnels end at an address of IPv4, benchmarks, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, whose tunnels end at an address of IPv4
            "3fff::/20",  # documentation
        ),
    )
)


def effective(address: Address) -> Address:
    """The address actually reached: IPv6 addresses can embed IPv4 ones."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or ipaddress.IPv6Address(int(address))


def is_public(address: Address) -> bool:
    """Whether the address means the same host everywhere on the internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _UNICAST and not any(address in network for network in _NOT_PUBLIC_6)

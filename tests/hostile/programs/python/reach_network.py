"""No network can be reached, not even this machine's own."""

import asyncio
import ctypes
import http.client
import os
import socket
import urllib.request

libc = ctypes.CDLL(None, use_errno=True)
FAMILIES = "AF_INET AF_INET6 AF_NETLINK AF_PACKET AF_VSOCK AF_BLUETOOTH AF_CAN AF_ALG AF_TIPC AF_RDS AF_QIPCRTR".split()
KINDS = "SOCK_STREAM SOCK_DGRAM SOCK_RAW SOCK_SEQPACKET SOCK_RDM".split()


def sent(kind, address):
    """To an address without a connection."""
    return socket.socket(socket.AF_INET, kind).sendto(b"x", address)


def listening():
    socket.create_server(("127.0.0.1", 0))
    return True


def unix(path):
    socket.socket(socket.AF_UNIX).connect(path)
    return True


def from_pair(address):
    """A socket that is there already, sent elsewhere."""
    ours, _ = socket.socketpair()
    ours.connect(address)
    return True


def from_link(address):
    """The same with every descriptor this process has."""
    for fd in range(3, 64):
        for family in (socket.AF_INET, socket.AF_UNSPEC):
            try:
                socket.socket(family, socket.SOCK_STREAM, fileno=os.dup(fd)).connect(address)
                return fd
            except OSError:
                pass
    return None


def io_uring():
    return libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0 or None


async def main(input):
    address, url = ("127.0.0.1", input["port"]), f"http://127.0.0.1:{input['port']}/"
    ways = {
        "connection": lambda: socket.create_connection(address),
        "IPv6": lambda: socket.create_connection(("::1", input["port"])),
        "datagram": lambda: sent(socket.SOCK_DGRAM, address),
        "fast open": lambda: sent(socket.SOCK_STREAM, address),
        "listening": listening,
        "urllib": lambda: urllib.request.urlopen(url),
        "http.client": lambda: http.client.HTTPConnection(*address).request("GET", "/") or True,
        "proxy in the environment": lambda: urllib.request.build_opener(
            urllib.request.ProxyHandler({"http": url})
        ).open("http://example.com/"),
        "names": lambda: socket.getaddrinfo("localhost.localdomain.example", 80),
        "interfaces": socket.if_nameindex,
        "socket of the engine": lambda: unix(input["socket"]),
        "abstract socket": lambda: unix("\0pie-hostile"),
        "log of the system": lambda: unix("/dev/log"),
        "bus of the system": lambda: unix("/run/dbus/system_bus_socket"),
        "a pair": lambda: from_pair(address),
        "every descriptor": lambda: from_link(address),
        "io_uring": io_uring,
    }
    for family in FAMILIES:
        for kind in KINDS:
            made = getattr(socket, family, None), getattr(socket, kind, None)
            ways[f"{family} {kind}"] = lambda made=made: None not in made and socket.socket(*made)
    worked = []
    for name, way in ways.items():
        try:
            found = way()
        except Exception:
            continue
        if found:
            worked.append(name)
    try:
        await asyncio.open_connection(*address)
        worked.append("asyncio")
    except OSError:
        pass
    return {"tried": len(ways) + 1, "worked": worked}

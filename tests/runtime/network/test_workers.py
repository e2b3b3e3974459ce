"""What programs reach from real workers (protocol 7.3)."""

import asyncio
import datetime
import json
import ssl

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.network.gateway import Gateway
from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.sandbox.landlock import restricts_ports
from pie_mlx.runtime.sandbox.probe import NetworkReport, probe_network
from pie_mlx.runtime.worker.frames.messages import LaunchSpec, ProgramLocation
from pie_mlx.runtime.worker.proxy_route import set_up_route
from pie_mlx.runtime.worker.settings import WorkerSettings
from tests.runtime.network.conftest import Names, echo, serving, until
from tests.runtime.sandbox.conftest import on_linux
from tests.runtime.worker.conftest import bounded_engine, launch, program  # noqa: F401 - a fixture
from tests.server.running import RunningServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = Names(site_test=["127.0.0.1"], elsewhere_test=["127.0.0.2"], inner_allowed_test=["127.0.0.2"])
SETTINGS = NetworkSettings(("127.0.0.1", "[::1]", "*.allowed.test"), resolve=NAMES)

FETCH = """
import urllib.error, urllib.request
async def main(input):
    try:
        return urllib.request.urlopen(input["url"], timeout=20).read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.reason} {error.read().decode()}"
    except urllib.error.URLError as error:
        return str(error.reason)
"""


@pytest.fixture(scope="session")
def network_walls():
    """What the probe says about this system."""
    report = probe_network()
    if not report.holds:
        pytest.skip(f"programs get past their proxy here: {report.reason}")
    return report


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(network_walls):
    """An engine whose programs reach loopback; the tests of this module share it."""
    async with bounded_engine(sandbox="best-effort", network=SETTINGS) as running:
        yield running


@pytest.fixture
def fetch(engine, program):  # noqa: F811
    """What a program gets from a URL."""
    return lambda url: engine.run(program(FETCH), {"url": url})


@pytest.fixture
def attempt(engine, program):  # noqa: F811
    """The value of an expression in a program, or the name of the error it raises."""

    async def run(expression, **input):
        path = program(f"""
            import ctypes, os, socket
            async def main(input):
                try:
                    return repr({expression})
                except Exception as error:
                    return type(error).__name__
            """)
        return await engine.run(path, input)

    return run


async def test_an_allowed_host_is_reached(fetch):
    async with serving() as (site, port):
        assert await fetch(f"http://127.0.0.1:{port}/path") == "hi"
        assert site.head.startswith(b"GET /path HTTP/1.1\r\n")


async def test_a_name_is_resolved_by_the_proxy_alone(fetch):
    async with serving() as (_, port):
        NAMES.asked.clear()
        assert await fetch(f"http://site.test:{port}/") == "hi"
        assert NAMES.asked == ["site.test"]


@pytest.mark.parametrize("name", ["127.0.0.2", "elsewhere.test", "inner.allowed.test"])
async def test_a_refused_host_is_told_with_the_key(fetch, name):
    async with serving(host="127.0.0.2") as (site, port):
        answer = await fetch(f"http://{name}:{port}/")
        assert answer.startswith("403 Forbidden by [runtime] network_allowed_hosts")
        assert f"{name} port {port}" in answer
        assert site.visits == 0


async def test_a_refused_tunnel_names_the_key(fetch):
    assert "403 Forbidden by [runtime] network_allowed_hosts" in await fetch("https://127.0.0.2:1/")


async def test_an_ipv6_address_is_reached(fetch):
    try:
        async with serving(host="::1") as (_, port):
            assert await fetch(f"http://[::1]:{port}/") == "hi"
    except OSError as error:
        pytest.skip(f"this system has no IPv6: {error}")


async def test_the_engines_own_port_is_refused(engine, fetch):
    async with serving() as (site, port):
        engine.close_port(port)
        assert "belongs to the engine" in await fetch(f"http://127.0.0.1:{port}/")
        assert "belongs to the engine" in await fetch(f"http://site.test:{port}/")
        assert site.visits == 0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a key and a certificate for site.test."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "site.test")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("site.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "site.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return file


async def test_https_goes_through_a_tunnel(engine, program, certificate):  # noqa: F811
    path = program("""
        import ssl, urllib.request
        async def main(input):
            context = ssl.create_default_context(cadata=input["authority"])
            return urllib.request.urlopen(input["url"], context=context, timeout=20).read().decode()
        """)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    authority = "-----BEGIN CERT" + certificate.read_text().partition("-----BEGIN CERT")[2]
    async with serving(ssl=context) as (_, port):
        input = {"url": f"https://site.test:{port}/", "authority": authority}
        assert await engine.run(path, input) == "hi"


async def test_the_systems_authorities_can_be_read(attempt):
    assert await attempt("__import__('ssl').create_default_context() and 1") == "1"


async def test_many_requests_at_once_are_all_answered(engine, program):  # noqa: F811
    path = program("""
        import asyncio, urllib.request
        async def main(input):
            fetch = lambda: urllib.request.urlopen(input["url"], timeout=20).read()
            return len(await asyncio.gather(*(asyncio.to_thread(fetch) for _ in range(40))))
        """)
    async with serving(backlog=100) as (site, port):
        assert await engine.run(path, {"url": f"http://127.0.0.1:{port}/"}) == 40
        assert site.visits == 40


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
async def test_no_socket_gets_past_the_proxy(attempt, host):
    async with serving(host=host) as (site, port):
        connect = "socket.create_connection((input['host'], input['port']), 5)"
        assert await attempt(connect, host=host, port=port) in ("PermissionError", "ConnectionRefusedError")
        assert site.visits == 0


@pytest.mark.parametrize(
    "kind",
    ["AF_INET, socket.SOCK_DGRAM", "AF_INET, socket.SOCK_STREAM, 262", "AF_INET, 3, 1", "AF_INET6", "AF_UNIX"],
)
async def test_there_are_only_sockets_for_tcp(attempt, kind):
    assert await attempt(f"socket.socket(socket.{kind})") == "PermissionError"


@on_linux
@pytest.mark.parametrize("kind", ["0", "socket.SOCK_NONBLOCK", "socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK"])
async def test_sockets_for_tcp_can_be_made_in_every_way(attempt, kind):
    assert await attempt(f"socket.socket(2, socket.SOCK_STREAM | {kind}, 6).close()") == "None"


@on_linux
async def test_sending_cannot_connect(attempt):
    assert await attempt("socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', 9))") == "PermissionError"
    assert await attempt("socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', 9))") == "PermissionError"


@on_linux
async def test_a_network_of_its_own_gives_no_powers(attempt):
    assert await attempt("os.getuid()") == await attempt("os.stat(os.getcwd()).st_uid")
    assert await attempt("ctypes.CDLL(None, use_errno=True).unshare(0x10000000)") == "-1"


async def test_the_proxies_of_two_programs_are_apart(engine, program):  # noqa: F811
    path = program("""
        import os
        async def main(input):
            return {name: os.environ[name] for name in os.environ if "proxy" in name.lower()}
        """)
    one, other = await engine.run(path), await engine.run(path)
    assert set(one) == {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
    assert one["no_proxy"] == one["NO_PROXY"] == ""
    assert one["HTTP_PROXY"].startswith("http://127.0.0.1:")
    assert one != other


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)", "return 'done'"])
async def test_a_worker_that_ends_ends_its_tunnels(engine, program, end, monkeypatch):  # noqa: F811
    shut, shut_one = [], Gateway.shut

    def counted(self, proxy):
        shut_one(self, proxy)
        shut.append(proxy)

    monkeypatch.setattr(Gateway, "shut", counted)
    path = program(f"""
        import os, socket, urllib.parse
        async def main(input):
            proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
            tunnel = socket.create_connection((proxy.hostname, proxy.port), 5)
            tunnel.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n\\r\\nhello" % input["port"])
            while b"hello" not in tunnel.recv(4096):
                pass
            {end}
        """)
    async with serving(echo) as (site, port):
        await (await launch(engine, path, {"port": port})).process.outcome()
        await site.gone.wait()
        await until(lambda: shut)


@on_linux
async def test_a_second_socket_ends_the_worker(engine, program):  # noqa: F811
    path = program("""
        import os, socket, stat, time
        from pie_mlx.runtime.worker.frames.messages import Listening, pack
        async def main(input):
            own = socket.socket()
            for fd in range(3, 20):
                try:
                    socket.send_fds(socket.socket(fileno=os.dup(fd)), [pack(Listening())], [own.fileno()])
                except OSError:
                    pass
            time.sleep(60)
        """)
    error = await (await launch(engine, path)).failure()
    assert "the frame carries no socket" in str(error)


async def test_without_allow_network_nothing_changes(program):  # noqa: F811
    path = program("""
        import os, socket
        async def main(input):
            found = [name for name in os.environ if "proxy" in name.lower()]
            try:
                socket.socket()
            except PermissionError:
                found.append("closed")
            return found
        """)
    async with bounded_engine(sandbox="best-effort") as engine:
        assert await engine.run(path) == ["closed"]


async def test_without_a_sandbox_only_the_variables_are_set(program):  # noqa: F811
    async with serving() as (_, port), bounded_engine(network=SETTINGS) as engine:
        assert await engine.run(program(FETCH), {"url": f"http://127.0.0.1:{port}/"}) == "hi"
        answer = await engine.run(program(FETCH), {"url": f"http://127.0.0.2:{port}/"})
        assert answer.startswith("403")


async def test_an_engine_that_requires_a_sandbox_does_not_start_past_it(monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.worker.pool.probe_network", lambda: NetworkReport(False, "no namespaces"))
    with pytest.raises(LaunchError, match="programs get past their proxy: no namespaces"):
        async with bounded_engine(sandbox="required", network=SETTINGS):
            raise NotImplementedError


@on_linux
@pytest.mark.skipif(not restricts_ports(), reason="this kernel cannot close TCP ports")
async def test_without_namespaces_one_port_is_open_and_told(program, monkeypatch):  # noqa: F811
    monkeypatch.setattr("pie_mlx.runtime.worker.pool.probe_network", lambda: NetworkReport(False, "no namespaces"))
    path = program("""
        import json, os, socket, urllib.parse, urllib.request
        async def main(input):
            found = [urllib.request.urlopen(input["url"], timeout=20).read().decode()]
            try:
                socket.create_connection(("127.0.0.1", input["port"]), 5)
            except PermissionError:
                found.append("closed")
            return [*found, urllib.parse.urlsplit(os.environ["HTTP_PROXY"]).port]
        """)
    async with serving() as (_, port), bounded_engine(sandbox="best-effort", network=SETTINGS) as engine:
        launched = await launch(engine, path, {"url": f"http://127.0.0.1:{port}/", "port": port})
        outcome = await launched.process.outcome()
    text, closed, proxy_port = json.loads(outcome.value)
    assert (text, closed) == ("hi", "closed")
    assert launched.text("stderr") == (
        f"[pie] sandbox: network is open (TCP port {proxy_port} of every address, past the proxy: "
        "this system offers no network namespaces)\n"
    )


async def test_a_worker_without_its_network_does_not_run():
    spec = LaunchSpec(
        "a@0.0.0",
        ProgramLocation("/a.py"),
        "main",
        "input",
        {},
        {},
        "/w",
        False,
        1,
        None,
        None,
        None,
        "off",
        "namespace",
    )
    with pytest.raises(LaunchError, match="has no network namespace: not permitted"):
        set_up_route(spec, OSError("not permitted"), lambda listener: None)


async def test_a_server_keeps_programs_from_its_own_port(tmp_path, program):  # noqa: F811
    workers = WorkerSettings(sandbox="off", warm_workers=1, network=SETTINGS)
    server = RunningServer(tmp_path / "home", isolation="process", workers=workers)
    await asyncio.to_thread(server.start)
    try:
        fetching = server.server.service.engine.run(program(FETCH), {"url": f"{server.http}/"})
        assert "belongs to the engine" in await asyncio.to_thread(server.call, fetching)
    finally:
        await asyncio.to_thread(server.stop)

import pytest

from pie_mlx.config.loading import resolve
from pie_mlx.config.rules import host_problems, is_loopback
from pie_mlx.config.values import Setting
from pie_mlx.errors import ConfigError


def problem(**values):
    """What is wrong with settings, given as `server__host="..."`."""
    settings = {path.replace("__", "."): Setting(value, "file") for path, value in values.items()}
    try:
        resolve(settings, {})
    except ConfigError as error:
        return error.message.removeprefix("config: ")
    return ""


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "localhost", "::1", "[::1]"])
def test_hosts_only_this_machine_reaches(host):
    assert is_loopback(host)
    assert problem(server__host=host) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.5", "mac.local"])
def test_a_host_off_loopback_needs_authentication(host):
    assert f"refusing to listen on {host} without authentication" in problem(server__host=host)
    assert problem(server__host=host, auth__enabled=True) == ""


@pytest.mark.parametrize("origin", ["*", "https://*", "example.org", "https://a.b/path", "https://a.b:x"])
def test_an_origin_is_exact(origin):
    assert "is not scheme://host[:port]" in problem(server__allowed_origins=[origin])


@pytest.mark.parametrize("origin", ["https://example.org", "http://localhost:3000", "http://[::1]:80", "app://x"])
def test_origins_that_hold(origin):
    assert problem(server__allowed_origins=[origin]) == ""


@pytest.mark.parametrize("name", ["*", "*.local", "http://mac.local", "mac.local:80", "", "[::1]"])
def test_allowed_hosts_are_bare_names(name):
    assert "no name or address of a host" in problem(server__allowed_hosts=[name])


@pytest.mark.parametrize("name", ["host.docker.internal", "Mac-Studio.local", "192.168.0.5", "fd00::2"])
def test_allowed_hosts_that_hold(name):
    assert problem(server__allowed_hosts=[name]) == ""


@pytest.mark.parametrize(
    "entry",
    ["1.2.3.4", "10.0.0.0/8", "::1", "[::1]:443", "fe80::/10", "a.b", "*.a.b", "a.b:443", "a.b:1-65535", "1.2.3.4:80"],
)
def test_hosts_programs_may_reach(entry):
    assert list(host_problems([entry])) == []


@pytest.mark.parametrize("entry", ["", "a..*", "a b", "https://a.b", "a.b:0", "a.b:70000", "a.b:9-1", "*.*", "[a]:1"])
def test_hosts_that_mean_nothing(entry):
    assert [found for found, _ in host_problems([entry])] == [entry]


def test_every_public_address_stands_alone():
    assert list(host_problems(["*"])) == []
    assert "stands alone" in problem(runtime__network_allowed_hosts=["*", "a.b"])


def test_whom_all_trust_are_users():
    assert problem(auth__trusted_owners=["ops", "a@b.c"]) == ""
    assert "auth.trusted_owners: '*': Invalid user name" in problem(auth__trusted_owners=["ops", "*"])


def test_a_variable_has_a_name():
    assert "'A B'" in problem(runtime__environment=["PATH", "A B"])


def test_a_scratch_directory_is_absolute():
    assert "fs_scratch_dir" in problem(runtime__fs_scratch_dir="scratch")


def model(place, **values):
    return {f"model__{place}__{key}": value for key, value in {"name": f"m{place}", "hf_repo": "x", **values}.items()}


def test_pages_and_a_share_of_the_memory_exclude_each_other():
    both = {"engine__total_pages": 5, "engine__kv_memory_fraction": 0.5}
    assert "exclude each other" in problem(**model(0, **both))


def test_models_share_the_memory():
    assert problem(**model(0), **model(1)) == ""
    assert problem(**model(0, engine__kv_memory_fraction=0.9), **model(1)) == ""
    shares = {number: model(number, engine__kv_memory_fraction=0.8) for number in (0, 1)}
    assert "sum to 1.6" in problem(**shares[0], **shares[1])
    assert "sum to 1.8" in problem(**model(0, engine__kv_memory_fraction=1.0), **model(1))
    assert problem(**model(0, engine__total_pages=5), **model(1)) == ""
    assert problem(**model(0, engine__type="dummy"), **model(1)) == ""


def test_models_have_names_of_their_own():
    assert "'m' is given twice" in problem(**model(0, name="m", engine__type="dummy"), **model(1, name="m"))


def test_a_seed_has_64_bits():
    assert problem(**model(0, engine__random_seed=2**64 - 1)) == ""
    assert "expected at most" in problem(**model(0, engine__random_seed=2**64))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"transport": "stdio", "command": "x", "args": ["a"]}, ""),
        ({"transport": "http", "url": "http://x"}, ""),
        ({"transport": "stdio"}, "mcp.0: transport stdio needs command"),
        ({"transport": "http"}, "mcp.0: transport http needs url"),
        ({"transport": "stdio", "command": "x", "url": "http://x"}, "mcp.0: url does not go with transport stdio"),
        ({"transport": "http", "url": "http://x", "command": "x"}, "mcp.0: command does not go with transport http"),
    ],
)
def test_an_mcp_server_has_what_its_transport_needs(values, expected):
    assert problem(**{f"mcp__0__{key}": value for key, value in {"name": "a", **values}.items()}) == expected

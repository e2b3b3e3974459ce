"""Logins: what a false engine gets of its client, and what a false client learns of an engine."""

import asyncio
import base64
import contextlib
import json

import msgspec
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pie_client import PieClient
from pie_client.crypto import ParsedPrivateKey
from websockets.asyncio.client import connect as connect_socket
from websockets.asyncio.server import serve

from pie_mlx.client import connect
from pie_mlx.client.known_engines import KnownEngines
from pie_mlx.errors import AuthError, EngineKeyError
from pie_mlx.login import engine_message, login_message
from tests.hostile.logins import engine_with_users, new_key

pytestmark = pytest.mark.timeout(60)

ANYBODYS_KEY = b"\1" + bytes(31)
"""The point of order 1: itself and a zero are a signature under it of whatever is asked."""


class FalseEngine:
    """Answers as it likes, and keeps what it is sent as a proof."""

    def __init__(self, challenge, *, shows=None):
        self.challenge, self.shows = challenge, shows
        self.signatures = []

    @contextlib.asynccontextmanager
    async def listening(self, port=0):
        async with serve(self._serve, "127.0.0.1", port) as server:
            self.port = server.sockets[0].getsockname()[1]
            self.url = f"ws://127.0.0.1:{self.port}"
            yield self

    async def _serve(self, socket):
        async for data in socket:
            request = msgspec.msgpack.decode(data)
            ok, result = self._answer(request)
            answer = {"type": "response", "corr_id": request["corr_id"], "ok": ok, "result": result}
            await socket.send(msgspec.msgpack.encode(answer))

    def _answer(self, request):
        match request["type"]:
            case "auth_identify":
                return True, self.challenge
            case "auth_engine" if self.shows:
                return True, self.shows(base64.b64decode(request["nonce"]))
            case "auth_prove":
                self.signatures.append(base64.b64decode(request["signature"]))
                return True, "Authenticated"
        return False, "Unknown message type"


def shown(key):
    """What an engine with this key answers to a nonce."""

    def show(nonce):
        parts = {"key": key.public_key().public_bytes_raw(), "proof": key.sign(engine_message(nonce))}
        return json.dumps({name: base64.b64encode(value).decode() for name, value in parts.items()})

    return show


def new_public_key():
    return Ed25519PrivateKey.generate().public_key().public_bytes_raw()


def text(data):
    return base64.b64encode(data).decode()


@pytest.fixture
def ada(tmp_path):
    """Her key, and the file it is in."""
    file = tmp_path / "ada" / "key"
    return new_key(file)[0], file


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    target, files = engine_with_users(tmp_path_factory.mktemp("login"), "ada", "bob")
    yield target, files
    target.clean_up()


SSH_REQUEST = b"\0\0\0\x20" + bytes(32) + b"\x32\0\0\0\3ada\0\0\0\x0essh-connection\0\0\0\x09publickey"


@pytest.mark.parametrize(
    "challenge",
    [
        text(SSH_REQUEST),
        text(b"SSHSIG" + bytes(60)),
        text(bytes(47)),
        text(bytes(49)),
        "",
        text(bytes(48)) + "\n",
        "####",
    ],
)
@pytest.mark.parametrize("allow_unbound", [False, True])
async def test_a_client_signs_nothing_but_challenges(ada, challenge, allow_unbound):
    async with FalseEngine(challenge, shows=shown(Ed25519PrivateKey.generate())).listening() as false:
        with pytest.raises(AuthError, match="is not 48 bytes of base64"):
            await connect(false.url, username="ada", key_file=ada[1], allow_unbound=allow_unbound)
    assert false.signatures == []


async def test_a_client_signs_no_bare_challenge_unless_it_is_told_to(ada):
    key, file = ada
    async with FalseEngine(text(bytes(48))).listening() as false:
        with pytest.raises(EngineKeyError, match="does not prove which one it is"):
            await connect(false.url, username="ada", key_file=file)
        assert false.signatures == []
        await (await connect(false.url, username="ada", key_file=file, allow_unbound=True)).close()
    key.public_key().verify(false.signatures[0], bytes(48))


async def test_what_a_client_signs_names_its_purpose_the_engine_and_the_user(ada):
    key, file = ada
    theirs = Ed25519PrivateKey.generate()
    async with FalseEngine(text(bytes(48)), shows=shown(theirs)).listening() as false:
        await (await connect(false.url, username="ada", key_file=file)).close()
    (signature,) = false.signatures
    message = login_message(theirs.public_key().public_bytes_raw(), bytes(48), "ada")
    assert message.startswith(b"pie-mlx login v1\0")
    key.public_key().verify(signature, message)
    with pytest.raises(InvalidSignature):
        key.public_key().verify(signature, bytes(48))


@pytest.mark.parametrize(
    "shows",
    [
        lambda nonce: "",
        lambda nonce: "{}",
        lambda nonce: "[" * 100_000,
        lambda nonce: json.dumps({"key": 1, "proof": 2}),
        lambda nonce: json.dumps({"key": text(new_public_key()), "proof": text(bytes(64))}),
        lambda nonce: shown(Ed25519PrivateKey.generate())(bytes(32)),
        lambda nonce: json.dumps({"key": text(ANYBODYS_KEY), "proof": text(ANYBODYS_KEY + bytes(32))}),
    ],
    ids=["nothing", "empty", "deep", "numbers", "no proof", "an old proof", "anybody's key"],
)
async def test_an_engine_without_a_proof_of_its_key_gets_no_signature(ada, shows):
    async with FalseEngine(text(bytes(48)), shows=shows).listening() as false:
        with pytest.raises(AuthError):
            await connect(false.url, username="ada", key_file=ada[1])
    assert false.signatures == []


async def test_another_engine_at_a_known_address_gets_no_signature(ada):
    async with FalseEngine(text(bytes(48)), shows=shown(Ed25519PrivateKey.generate())).listening() as first:
        await (await connect(first.url, username="ada", key_file=ada[1])).close()
    for shows in (shown(Ed25519PrivateKey.generate()), None):
        async with FalseEngine(text(bytes(48)), shows=shows).listening(first.port) as second:
            with pytest.raises(EngineKeyError, match=r"is not the one that was there|does not prove"):
                await connect(second.url, username="ada", key_file=ada[1], allow_unbound=True)
        assert second.signatures == []


@contextlib.asynccontextmanager
async def relay(url):
    """Passes everything on to an engine, in both directions: a tunnel, or an attacker."""

    async def pass_on(client):
        async with connect_socket(url, compression=None) as engine:
            copies = [asyncio.create_task(copy(*ends)) for ends in ((client, engine), (engine, client))]
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
            for task in copies:
                task.cancel()

    async def copy(source, target):
        async for data in source:
            await target.send(data)

    async with serve(pass_on, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_login_is_not_passed_on_to_an_engine_that_is_known(engine):
    target, files = engine
    with target.stays_healthy():
        await (await connect(target.url, username="ada", key_file=files["ada"])).close()
        async with relay(target.url) as url:
            with pytest.raises(EngineKeyError, match=f"has the key of the engine at {target.url[5:]}"):
                await connect(url, username="ada", key_file=files["ada"])


async def test_a_tunnel_is_used_once_it_is_trusted(engine):
    target, files = engine
    async with relay(target.url) as url:
        await (await connect(target.url, username="bob", key_file=files["bob"])).close()
        async with await connect(url) as client:
            KnownEngines.beside(files["bob"]).trust(url, await client.engine_key())
        async with await connect(url, username="bob", key_file=files["bob"]) as client:
            await client.ping()


async def test_a_signature_for_a_false_engine_opens_no_other(engine):
    """The false engine hands on the challenge of the real one, under a key of its own."""
    target, files = engine
    async with connect_socket(target.url, compression=None) as real:

        async def ask(**request):
            await real.send(msgspec.msgpack.encode({"corr_id": 1, **request}))
            answer = msgspec.msgpack.decode(await real.recv())
            return answer["ok"], answer["result"]

        _, challenge = await ask(type="auth_identify", username="ada")
        async with FalseEngine(challenge, shows=shown(Ed25519PrivateKey.generate())).listening() as false:
            await (await connect(false.url, username="ada", key_file=files["ada"])).close()
        proof = text(false.signatures[0])
        assert await ask(type="auth_prove", signature=proof) == (False, "Signature verification failed")


async def test_failed_logins_of_one_lock_nobody_out(engine):
    target, files = engine
    with target.stays_healthy():
        for _ in range(5):
            attempts = [attempt(target.url, user) for user in ("eve", "ada") for _ in range(5)]
            await asyncio.gather(*attempts)
        async with PieClient(target.url) as published:
            await published.authenticate("ada", ParsedPrivateKey.from_file(files["ada"]))
            await published.ping()
        await (await connect(target.url, username="bob", key_file=files["bob"])).close()


async def attempt(url, user):
    async with connect_socket(url, compression=None) as socket:
        for number, request in enumerate(
            ({"type": "auth_identify", "username": user}, {"type": "auth_prove", "signature": "AAAA"})
        ):
            await socket.send(msgspec.msgpack.encode({"corr_id": number, **request}))
            answer = msgspec.msgpack.decode(await socket.recv())
    assert answer["result"] == "Signature verification failed"


async def log_in_as_published(url, user, file):
    async with PieClient(url) as client:
        await client.authenticate(user, ParsedPrivateKey.from_file(file))


async def log_in(url, user, file):
    await (await connect(url, username=user, key_file=file)).close()


@pytest.mark.parametrize("log_in", [log_in, log_in_as_published])
async def test_who_is_a_user_cannot_be_found_out(engine, tmp_path, log_in):
    target, _ = engine
    file = tmp_path / "key"
    new_key(file)
    told = set()
    for user in ("ada", "nobody-here"):
        with pytest.raises(Exception, match="Signature verification failed") as refused:
            await log_in(target.url, user, file)
        told.add((type(refused.value), str(refused.value).replace(user, "USER"), getattr(refused.value, "hint", "")))
    assert len(told) == 1

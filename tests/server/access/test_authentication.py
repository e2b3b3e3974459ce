import asyncio
import base64
import stat
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from pie_client import PieClient
from pie_client.crypto import ParsedPrivateKey
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pie_mlx.config.authorized_users import AuthorizedUsers
from pie_mlx.errors import AuthError, ConfigError
from pie_mlx.login import login_message
from pie_mlx.server import ServerSettings
from pie_mlx.server import server as endpoint
from pie_mlx.server.access.authentication import DISABLED, Authenticator, Identity, new_token
from pie_mlx.server.access.engine_key import EngineKey
from pie_mlx.server.access.login_failures import LoginFailures
from tests.server.programs import PLAYER
from tests.server.running import MANIFEST, RunningServer
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


def make_key(kind):
    match kind:
        case "ed25519":
            return ed25519.Ed25519PrivateKey.generate()
        case "rsa":
            return rsa.generate_private_key(65537, 2048)
        case "p256":
            return ec.generate_private_key(ec.SECP256R1())
        case _:
            return ec.generate_private_key(ec.SECP384R1())


def public_text(key):
    openssh = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    return key.public_key().public_bytes(*openssh).decode()


def private_text(key):
    options = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(*options).decode()


KEYS = {kind: make_key(kind) for kind in ("ed25519", "rsa", "p256", "p384")}


def sign(kind, message):
    key = KEYS[kind]
    match kind:
        case "ed25519":
            return key.sign(message)
        case "rsa":
            return key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        case "p256":
            return key.sign(message, ec.ECDSA(hashes.SHA256()))
        case _:
            return key.sign(message, ec.ECDSA(hashes.SHA384()))


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    users = AuthorizedUsers(tmp_path_factory.mktemp("users") / "authorized_users.toml")
    for kind, key in KEYS.items():
        users.add("ada", kind, public_text(key))
    users.add("bob", "one", public_text(make_key("ed25519")))
    return users


@pytest.fixture
def authenticator(users):
    return Authenticator(new_token(), users, clock=Clock())


@pytest.fixture(scope="module")
def engine_key(tmp_path_factory):
    return EngineKey.of_home(tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, users):
    settings = ServerSettings(port=0, authentication=True, unauthenticated=3)
    running = RunningServer(tmp_path_factory.mktemp("home"), settings, keys=users).start()
    running.server.service.programs.install(PLAYER.encode(), MANIFEST.format(name="player", version="0.1.0"))
    yield running
    running.stop()


@pytest.mark.parametrize("kind", KEYS)
def test_every_kind_of_key_proves_who_one_is(authenticator, kind):
    identity = Identity(authenticator)
    challenge = base64.b64decode(identity.identify("ada"))
    assert len(challenge) == 48
    assert identity.prove(base64.b64encode(sign(kind, challenge)).decode()) == "Authenticated"
    assert (identity.user.name, identity.user.admin) == ("ada", False)  # 1.4


def test_a_challenge_is_used_once(authenticator):
    identity = Identity(authenticator)
    signature = base64.b64encode(sign("rsa", base64.b64decode(identity.identify("ada")))).decode()
    identity.prove(signature)
    with pytest.raises(AuthError, match="No pending authentication"):
        identity.prove(signature)


def test_a_challenge_dies(authenticator):
    identity = Identity(authenticator)
    challenge = base64.b64decode(identity.identify("ada"))
    authenticator.clock.seconds = 61
    with pytest.raises(AuthError, match="No pending authentication"):
        identity.prove(base64.b64encode(sign("p256", challenge)).decode())


def test_the_key_of_another_user_proves_nothing(authenticator):
    identity = Identity(authenticator)
    challenge = base64.b64decode(identity.identify("bob"))
    with pytest.raises(AuthError, match="Signature verification failed"):
        identity.prove(base64.b64encode(sign("ed25519", challenge)).decode())
    assert identity.user is None
    assert identity.failures == 1


def test_what_is_no_base64_is_refused(authenticator):
    identity = Identity(authenticator)
    identity.identify("ada")
    with pytest.raises(AuthError, match="Invalid signature encoding"):
        identity.prove("###")


def test_an_unknown_user_is_answered_like_one_who_is_known(authenticator):
    answers = set()
    for name in ("ada", "eve"):
        identity = Identity(authenticator)
        assert len(base64.b64decode(identity.identify(name))) == 48
        with pytest.raises(AuthError) as refused:
            identity.prove(base64.b64encode(bytes(64)).decode())
        answers.add((refused.value.message, refused.value.hint, identity.failures))
    assert len(answers) == 1


def test_a_signature_bound_to_the_engine_proves_who_one_is(authenticator, engine_key):
    identity = Identity(replace(authenticator, engine_key=engine_key))
    challenge = base64.b64decode(identity.identify("ada"))
    message = login_message(engine_key.public, challenge, "ada")
    assert identity.prove(base64.b64encode(sign("rsa", message)).decode()) == "Authenticated"


@pytest.mark.parametrize("part", ["engine", "challenge", "user"])
def test_a_signature_bound_to_anything_else_proves_nothing(authenticator, engine_key, tmp_path, part):
    identity = Identity(replace(authenticator, engine_key=engine_key))
    bound = {
        "engine": engine_key.public,
        "challenge": base64.b64decode(identity.identify("ada")),
        "user": "ada",
    } | {part: {"engine": EngineKey.of_home(tmp_path).public, "challenge": bytes(48), "user": "bob"}[part]}
    with pytest.raises(AuthError, match="Signature verification failed"):
        identity.prove(base64.b64encode(sign("ed25519", login_message(*bound.values()))).decode())


@pytest.mark.parametrize(
    "nonce", ["", "####", base64.b64encode(bytes(31)).decode(), base64.b64encode(bytes(48)).decode()]
)
def test_an_engine_signs_nonces_alone(authenticator, engine_key, nonce):
    with pytest.raises(AuthError, match="Invalid nonce"):
        Identity(replace(authenticator, engine_key=engine_key)).show_engine(nonce)


def test_the_key_of_an_engine_lasts_and_is_its_own(tmp_path):
    first = EngineKey.of_home(tmp_path)
    assert EngineKey.of_home(tmp_path).public == first.public
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "short", "###"])
def test_a_damaged_key_of_an_engine_is_told_with_what_to_do(tmp_path, text):
    file = tmp_path / "engine_key"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ConfigError, match="engine_key") as error:
        EngineKey.of_home(tmp_path)
    assert "remove it" in error.value.hint


def test_a_key_of_an_engine_that_others_can_read_is_refused(tmp_path):
    EngineKey.of_home(tmp_path)
    (tmp_path / "engine_key").chmod(0o640)
    with pytest.raises(ConfigError, match="mode is 0640"):
        EngineKey.of_home(tmp_path)


@pytest.mark.parametrize("name", ["", "internal", "a b", "-a", "x" * 65, "a/b"])
def test_impossible_names_are_refused(authenticator, name):
    with pytest.raises(AuthError, match="Invalid user name"):
        Identity(authenticator).identify(name)
    with pytest.raises(AuthError, match="Invalid user name"):
        Identity(Authenticator("token")).identify(name)


def test_nobody_becomes_somebody_else(authenticator):
    identity = Identity(authenticator)
    identity.prove(base64.b64encode(sign("rsa", base64.b64decode(identity.identify("ada")))).decode())
    with pytest.raises(AuthError, match="Already authenticated as 'ada'"):
        identity.identify("bob")
    assert len(base64.b64decode(identity.identify("ada"))) == 48


def test_the_token_opens_everything(authenticator):
    identity = Identity(authenticator)
    assert len(authenticator.token) == 64
    assert identity.authenticate_by_token(authenticator.token, None) == "Authenticated"
    assert (identity.user.name, identity.user.admin) == ("internal", True)
    assert identity.authenticate_by_token("anything", None) == "Already authenticated"


def test_the_token_acts_for_a_user(authenticator):
    identity = Identity(authenticator)
    identity.authenticate_by_token(authenticator.token, "ada")
    assert (identity.user.name, identity.user.admin) == ("ada", True)


def test_without_authentication_everybody_is_who_they_say():
    identity = Identity(Authenticator("token"))
    assert identity.user.name == "local"
    assert identity.identify("ada") == DISABLED
    assert identity.identify("bob") == DISABLED
    assert (identity.user.name, identity.user.admin) == ("bob", False)


@pytest.mark.parametrize("kind", KEYS)
async def test_the_published_client_authenticates(server, kind):
    async with PieClient(server.url) as client:
        await client.authenticate("ada", ParsedPrivateKey.parse(private_text(KEYS[kind])))
        process = await client.launch_process("player", {"do": "who"})
        assert (await process.recv())[1] == "ada"


async def test_the_published_client_authenticates_by_token(server):
    async with PieClient(server.url) as client:
        await client.auth_by_token(server.server.token)
        await client.ping()


async def test_nothing_else_is_answered_before(server):
    async with await speak(server) as speaker:
        refused = (False, "Not authenticated: send auth_identify or auth_by_token first")
        assert await speaker.ask("ping") == refused
        assert await speaker.ask("nonsense") == refused


async def test_who_does_not_authenticate_in_time_is_cut_off(server, monkeypatch):
    service = server.server.service
    monkeypatch.setattr(service, "settings", replace(service.settings, authentication_seconds=0.05))
    async with await speak(server) as speaker:
        assert (await speaker.closed())[0] == 4401


async def test_who_fails_too_often_is_cut_off(server):
    async with await speak(server) as speaker:
        for _ in range(5):
            await speaker.begin("auth_prove", signature="AAAA")
        assert (await speaker.closed())[0] == 4401


async def test_a_long_frame_is_refused_before(server):
    async with await speak(server) as speaker:
        await speaker.socket.send(bytes((64 << 10) + 1))
        assert (await speaker.closed())[0] == 1009


async def test_few_may_wait_unauthenticated(server):
    held = [await speak(server) for _ in range(3)]
    with pytest.raises(InvalidStatus) as refused:
        await speak(server)
    assert refused.value.response.status_code == 503  # 8.3
    for speaker in held:
        await speaker.close()


async def test_who_waits_longest_to_authenticate_makes_room(server, monkeypatch):
    monkeypatch.setattr(endpoint, "AUTHENTICATION_SECONDS", 0.0)
    held = [await speak(server) for _ in range(3)]
    async with await speak(server):
        with pytest.raises(ConnectionClosed):
            await held[0].ask("ping")
        assert not (await held[1].ask("ping"))[0]
    for speaker in held:
        await speaker.close()


async def begin_login(speaker):
    """Sends the proof that this is ada, and answers the number of that request."""
    challenge = base64.b64decode((await speaker.ask("auth_identify", username="ada"))[1])
    return await speaker.begin("auth_prove", signature=base64.b64encode(sign("ed25519", challenge)).decode())


async def test_one_user_gets_half_of_the_connections(tmp_path, users):
    settings = ServerSettings(port=0, authentication=True, connections=2)
    running = RunningServer(tmp_path, settings, keys=users).start()
    try:
        async with PieClient(running.url) as first, PieClient(running.url) as second:
            await first.authenticate("ada", ParsedPrivateKey.parse(private_text(KEYS["ed25519"])))
            await second.auth_by_token(running.server.token)
            await first.ping()
            async with await speak(running, "ada", unix=True) as local:
                assert (await local.ask("ping"))[0]
        async with PieClient(running.url) as first, await speak(running) as second:
            await first.authenticate("ada", ParsedPrivateKey.parse(private_text(KEYS["ed25519"])))
            await begin_login(second)
            assert await second.closed() == (1013, "user 'ada' has 1 connections: close some")
            await first.ping()
    finally:
        running.stop()


@pytest.fixture
def counted(server, monkeypatch):
    """Failures are counted anew."""
    monkeypatch.setattr(server.server.service, "failures", LoginFailures())


async def fail(speaker, user):
    """Fails to log in, and answers why."""
    assert (await speaker.ask("auth_identify", username=user))[0]
    return await speaker.ask("auth_prove", signature=base64.b64encode(bytes(64)).decode())


@pytest.mark.parametrize("user", ["ada", "eve"])
async def test_who_failed_too_often_as_a_user_has_one_attempt_per_connection(server, counted, user):
    for _ in range(20):
        server.server.service.failures.count_failure(user, "127.0.0.1")
    async with await speak(server) as speaker:
        assert await fail(speaker, user) == (False, "Signature verification failed")
        assert await speaker.closed() == (4401, "too many failed authentications")


async def test_nobody_is_locked_out_by_the_failures_of_others_at_the_same_address(server, counted):
    for user in ("ada", "bob"):
        for _ in range(20):
            server.server.service.failures.count_failure(user, "127.0.0.1")
    async with PieClient(server.url) as client:
        await client.authenticate("ada", ParsedPrivateKey.parse(private_text(KEYS["rsa"])))
        await client.ping()


async def test_where_very_many_logins_fail_all_wait_for_their_challenge(server, counted, monkeypatch):
    for number in range(100):
        server.server.service.failures.count_failure(f"user{number}", "127.0.0.1")
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    monkeypatch.setattr("pie_mlx.server.handlers.authentication.asyncio", SimpleNamespace(sleep=pause))
    async with await speak(server) as speaker:
        assert (await speaker.ask("auth_identify", username="ada"))[0]
    assert pauses == [1.0]


async def test_a_failed_proof_is_answered_after_a_time_of_its_own(server, counted, monkeypatch):
    """However long the keys took: there are none of eve's."""
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    loop = SimpleNamespace(time=lambda: 5.0)
    fake = SimpleNamespace(sleep=pause, get_running_loop=lambda: loop)
    monkeypatch.setattr("pie_mlx.server.handlers.authentication.asyncio", fake)
    for user in ("ada", "eve"):
        async with await speak(server) as speaker:
            assert await fail(speaker, user) == (False, "Signature verification failed")
    assert pauses == pytest.approx([0.0, 0.1] * 2)


async def test_a_wrong_token_is_answered_late_and_delays_nothing_else(server):
    async with await speak(server, unix=True) as speaker:
        late = await speaker.begin("auth_by_token", token="wrong")
        assert (await speaker.ask("ping"))[0]
        assert late not in speaker.responses
        assert await asyncio.wait_for(speaker.answer(late), 5) == (False, "Invalid token")


async def test_only_its_owner_overwrites_a_program(server):
    manifest = MANIFEST.format(name="mine", version="1.0.0")
    async with await speak(server) as ada, await speak(server, unix=True) as root:
        assert (await ada.answer(await begin_login(ada)))[0]
        assert (await root.upload(b"async def main(input): pass\n", manifest))[0]
        assert await ada.ask("remove_program", name="mine", version="1.0.0") == (False, "Permission denied")

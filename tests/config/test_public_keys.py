import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from pie_mlx.config.public_keys import parse_public_key
from pie_mlx.errors import InvalidArgumentError

MESSAGE = b"challenge"


@pytest.fixture(scope="module")
def private_keys():
    return {
        "ssh-ed25519": ed25519.Ed25519PrivateKey.generate(),
        "ssh-rsa": rsa.generate_private_key(65537, 2048),
        "ecdsa-sha2-nistp256": ec.generate_private_key(ec.SECP256R1()),
        "ecdsa-sha2-nistp384": ec.generate_private_key(ec.SECP384R1()),
    }


def openssh(private):
    return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def pem(private, format=PublicFormat.SubjectPublicKeyInfo):
    return private.public_key().public_bytes(Encoding.PEM, format).decode()


def signed(private, message):
    match private:
        case rsa.RSAPrivateKey():
            return private.sign(message, padding.PKCS1v15(), SHA256())
        case ec.EllipticCurvePrivateKey():
            return private.sign(message, ec.ECDSA(SHA384() if private.curve.key_size == 384 else SHA256()))
        case _:
            return private.sign(message)


ANYBODYS = [
    *(bytes([low]) + bytes(31) for low in (0, 1)),
    *(bytes([low]) + b"\xff" * 30 + b"\x7f" for low in (0xEC, 0xED, 0xEE)),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
]
"""The points of order 1, 2, 4 and 8 in each way of writing them, without the sign."""


@pytest.mark.parametrize("point", ANYBODYS)
@pytest.mark.parametrize("sign", [0, 0x80])
def test_a_key_that_anybody_can_sign_for_is_refused(point, sign):
    line = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + point[:-1] + bytes([point[-1] | sign])
    with pytest.raises(InvalidArgumentError, match="anybody can sign"):
        parse_public_key(f"ssh-ed25519 {base64.b64encode(line).decode()}")


KINDS = ["ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384"]


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_of_writing_a_key_mean_the_same(private_keys, kind):
    lines = [openssh(private_keys[kind]), openssh(private_keys[kind]) + " ada@laptop\n", pem(private_keys[kind])]
    keys = [parse_public_key(line) for line in lines]
    assert {key.type for key in keys} == {kind}
    assert len({key.fingerprint for key in keys}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_knows_its_own_signatures(private_keys, kind):
    key, signature = parse_public_key(openssh(private_keys[kind])), signed(private_keys[kind], MESSAGE)
    assert key.verifies(MESSAGE, signature)
    assert not key.verifies(b"another", signature)
    assert not key.verifies(MESSAGE, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert not key.verifies(MESSAGE, b"")


def test_an_rsa_key_may_be_written_as_pkcs1(private_keys):
    assert parse_public_key(pem(private_keys["ssh-rsa"], PublicFormat.PKCS1)).type == "ssh-rsa"


def test_a_fingerprint_is_what_ssh_keygen_shows():
    line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILDE2p+hZMD5386PxW6jMML1X8qpST8l5giL4rizz++6 ada"
    assert parse_public_key(line).fingerprint == "SHA256:PpWkN5bV997pMYYJOmhu7/j3RGQzFc7eIfRbsnpK9GU"


def blob(kind):
    return base64.b64encode(len(kind).to_bytes(4, "big") + kind.encode()).decode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "nothing was given"),
        ("hello", "neither an OpenSSH line nor a PEM public key"),
        ("no-pty ssh-ed25519 AAAA", "neither an OpenSSH line"),
        ("ssh-ed25519 AAAA\nssh-ed25519 AAAA", "neither an OpenSSH line"),
        ("ssh-ed25519 AAAA", "damaged"),
        ("ssh-ed25519", "damaged"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "damaged"),
        ("sk-ssh-ed25519@openssh.com AAAA", "hardware-backed keys are not supported"),
        ("sk-ecdsa-sha2-nistp256@openssh.com AAAA", "hardware-backed keys are not supported"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA", "certificates are not supported"),
        ("-----BEGIN CERTIFICATE-----\nAAAA", "certificates are not supported"),
        (f"ssh-dss {blob('ssh-dss')}", "DSA keys are not supported"),
        (f"ecdsa-sha2-nistp521 {blob('ecdsa-sha2-nistp521')}", "P-521 keys are not supported"),
    ],
)
def test_what_is_no_key_for_us_is_refused_by_name(text, why):
    with pytest.raises(InvalidArgumentError, match=why):
        parse_public_key(text)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: ec.generate_private_key(ec.SECP521R1()), "P-521 keys are not supported"),
        (lambda: ec.generate_private_key(ec.SECP256K1()), "the curve secp256k1 is not supported"),
        (lambda: dsa.generate_private_key(1024), "DSA keys are not supported"),
        (ed448.Ed448PrivateKey.generate, "Ed448 keys are not supported"),
        (lambda: rsa.generate_private_key(65537, 1024), "RSA of 1024 bits: expected 2048 to 8192"),
    ],
)
def test_kinds_of_keys_in_pem_are_refused_by_name(make, why):
    with pytest.raises(InvalidArgumentError, match=why):
        parse_public_key(pem(make()))


@pytest.mark.parametrize("format", [PrivateFormat.OpenSSH, PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_a_private_key_is_refused_and_not_repeated(private_keys, format):
    text = private_keys["ssh-rsa"].private_bytes(Encoding.PEM, format, NoEncryption()).decode()
    with pytest.raises(InvalidArgumentError, match="that is a private key") as error:
        parse_public_key(text)
    assert text.splitlines()[1] not in f"{error.value}{error.value.hint}"

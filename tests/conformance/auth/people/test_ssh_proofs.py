"""SSH signatures of challenges, made by ssh-keygen itself. Rows P5, P6, and P2 and P9 for SSH."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from auth_server.ownership.errors import (
    KeyNotListed,
    PrivateKeyPasted,
    SignatureMalformed,
    SignatureRefused,
    SignatureWrong,
    WeakDigest,
    WeakKey,
    WrongNamespace,
)
from auth_server.ownership.schemas import ProofFinish, SignedBy, Window
from auth_server.ownership.service.verifying import Question, Verifier
from shared.protocol.registry import AuthLine
from tests.conformance.auth.people.signers import NAMESPACE, SecurityKey, SshKey, make_ssh_key, now

TEXT = "https://loom.example ownership: account ada holds FOO-MNT, nonce 00ff, until 2030-01-02T03:04:05Z"
Keys = Callable[[str, int], SshKey]
GOOD = [("ed25519", 0), ("rsa", 2048), ("rsa", 4096), ("ecdsa", 256), ("ecdsa", 384), ("ecdsa", 521)]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """One key of each kind, made when it is first wanted."""
    directory, made = tmp_path_factory.mktemp("ssh"), dict[tuple[str, int], SshKey]()

    def key(kind: str, bits: int) -> SshKey:
        if (kind, bits) not in made:
            made[kind, bits] = make_ssh_key(directory, kind, bits)
        return made[kind, bits]

    return key


async def verify(signature: str, *lines: AuthLine, text: str = TEXT) -> SignedBy:
    window = Window(now() - timedelta(minutes=1), now() + timedelta(minutes=14))
    question = Question(text, NAMESPACE, lines, window)
    return await Verifier(now).verify(ProofFinish(signature=signature), question)


@pytest.mark.parametrize(("kind", "bits"), GOOD)
async def test_p5_signatures_of_ssh_keygen_are_good(keys: Keys, kind: str, bits: int) -> None:
    key = keys(kind, bits)
    found = await verify(key.sign(TEXT), key.auth)
    assert (found.method, found.key) == (key.public[0], key.public[1])
    assert found.fingerprint.startswith("SHA256:")


@pytest.mark.parametrize("digest", ["sha256", "sha512"])
async def test_p5_both_digests_are_good(keys: Keys, digest: str) -> None:
    key = keys("ed25519", 0)
    assert (await verify(key.sign(TEXT, digest=digest), key.auth)).key


@pytest.mark.parametrize("kind", ["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"])
async def test_p5_keys_of_hardware_tokens_are_good_when_touched(kind: str) -> None:
    token = SecurityKey(kind)
    assert (await verify(token.sign(TEXT), token.auth)).method == kind
    token.touched = False
    with pytest.raises(SignatureWrong):
        await verify(token.sign(TEXT), token.auth)


async def test_p7_any_of_several_lines_is_enough(keys: Keys) -> None:
    one, other = keys("ed25519", 0), keys("ecdsa", 256)
    assert (await verify(other.sign(TEXT), one.auth, other.auth)).key == other.public[1]


async def test_p5_the_comment_of_a_line_does_not_count(keys: Keys) -> None:
    key = keys("ed25519", 0)
    commented = key.auth.model_copy(update={"value": f"{key.public[1]} somebody else entirely"})
    assert (await verify(key.sign(TEXT), commented)).key


@pytest.mark.parametrize("namespace", ["file", "git", "routeloom", f"{NAMESPACE}x", NAMESPACE.upper()])
async def test_p5_a_signature_for_another_purpose_is_refused(keys: Keys, namespace: str) -> None:
    key = keys("ed25519", 0)
    with pytest.raises(WrongNamespace):
        await verify(key.sign(TEXT, namespace), key.auth)


async def test_p5_a_key_that_is_not_listed_is_refused(keys: Keys) -> None:
    with pytest.raises(KeyNotListed):
        await verify(keys("ecdsa", 256).sign(TEXT), keys("ed25519", 0).auth)


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("FOO", "BAR"),
        TEXT.replace("ada", "bea"),
        f"{TEXT}x",
        f" {TEXT}",
        f"{TEXT}\n",
        TEXT.upper(),
    ],
)
async def test_p2_a_signature_of_another_text_is_refused(keys: Keys, other: str) -> None:
    key = keys("ed25519", 0)
    with pytest.raises(SignatureWrong):
        await verify(key.sign(other), key.auth)


async def test_p6_rsa_of_1024_bits_is_refused_with_a_reason(keys: Keys) -> None:
    key = keys("rsa", 1024)
    with pytest.raises(WeakKey):
        await verify(key.sign(TEXT), key.auth)


async def test_p6_dsa_is_refused_with_a_reason(keys: Keys) -> None:
    key = keys("dsa", 0)
    with pytest.raises(WeakKey):
        await verify(key.sign(TEXT), key.auth)


async def test_p5_p6_rsa_over_sha1_is_refused_with_a_reason(keys: Keys) -> None:
    key = keys("rsa", 2048)
    with pytest.raises(WeakDigest):
        await verify(key.sign_by_sha1(TEXT), key.auth)


@pytest.mark.parametrize("digest", ["md5", "sha1", "sha384"])
async def test_p5_p6_other_digests_are_refused_with_a_reason(keys: Keys, digest: str) -> None:
    key = keys("ed25519", 0)
    with pytest.raises(WeakDigest):
        await verify(key.sign_over(TEXT, digest), key.auth)


async def test_p5_a_certificate_is_not_its_key(keys: Keys, tmp_path: Path) -> None:
    """What an authority says of a key is not what the registry lists."""
    import subprocess

    authority, key = make_ssh_key(tmp_path, "ed25519"), make_ssh_key(tmp_path, "ed25519")
    public = key.path.with_suffix(".pub")
    subprocess.run(["ssh-keygen", "-q", "-s", authority.path, "-I", "x", "-n", "holder", public], check=True)
    certified = SshKey(key.path)
    shown = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", key.path.with_name(key.path.name + "-cert.pub")],
        input=f"{TEXT}\n".encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    with pytest.raises(SignatureRefused):
        await verify(shown, certified.auth, authority.auth)


async def test_p2_nothing_stands_around_the_block(keys: Keys) -> None:
    key = keys("ed25519", 0)
    good = key.sign(TEXT)
    for spoilt in (
        f"x\n{good}",
        f"{good}x",
        good + good,
        good.replace("-----END", "-----BEGIN"),
        good.replace("\n", " "),
        good[: len(good) // 2],
        "",
        "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----",
        good.replace("U1NIU0lH", "U1NIU0lI"),
        "\x00" + good,
    ):
        with pytest.raises(SignatureMalformed):
            await verify(spoilt, key.auth)


async def test_p2_line_ends_of_forms_and_terminals_are_forgiven(keys: Keys) -> None:
    key = keys("ed25519", 0)
    good = key.sign(TEXT)
    for kept in (good.replace("\n", "\r\n"), good.replace("\n", "  \n"), f"\n\n{good}\n\n", good.strip()):
        assert (await verify(kept, key.auth)).key


async def test_p9_a_private_key_is_refused_by_name(keys: Keys) -> None:
    key = keys("ed25519", 0)
    for pasted in (key.path.read_text(), key.sign(TEXT) + key.path.read_text()):
        with pytest.raises(PrivateKeyPasted):
            await verify(pasted, key.auth)


async def test_p5_a_frame_that_lies_is_refused(keys: Keys) -> None:
    """Cut, stretched and doctored in every byte of its head: refused, never an error."""
    import base64

    from tests.conformance.auth.people.signers import armoured

    key = keys("ed25519", 0)
    raw = base64.b64decode("".join(key.sign(TEXT).split("\n")[1:-2]))
    spoilt = [raw[:length] for length in range(0, len(raw), 7)]
    spoilt += [raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :] for at in range(0, len(raw), 3)]
    spoilt += [raw + b"x"]
    for each in spoilt:
        with pytest.raises(SignatureRefused):
            await verify(armoured(each), key.auth)

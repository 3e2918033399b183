"""OpenPGP signatures of challenges, made by gpg itself. Rows P2, P3, P4, P6 and P9."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest

from auth_server.ownership.errors import (
    CheckTimedOut,
    KeyEnded,
    KeyNotListed,
    PgpUnavailable,
    PrivateKeyPasted,
    PublicKeyMalformed,
    PublicKeyNeeded,
    SignatureMalformed,
    SignatureMistimed,
    SignatureRefused,
    SignatureWrong,
    WeakDigest,
    WeakKey,
)
from auth_server.ownership.schemas import ProofFinish, SignedBy, Window
from auth_server.ownership.service.verifying import Question, Verifier
from auth_server.ownership.store.gnupg import GnuPG
from shared.protocol.registry import AuthLine
from tests.conformance.auth.people.signers import (
    NAMESPACE,
    PgpHome,
    certificate_line,
    fingerprint_line,
    now,
    pgp_home,
)

TEXT = "https://loom.example ownership: account ada holds FOO-MNT, nonce 00ff, until 2030-01-02T03:04:05Z"
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def home() -> Iterator[PgpHome]:
    with pgp_home() as opened:
        yield opened


@pytest.fixture(scope="module")
def ada(home: PgpHome) -> str:
    """A living key."""
    return home.make("ada")


async def verify(
    signature: str, *lines: AuthLine, key: str = "", text: str = TEXT, gnupg: GnuPG | None = None
) -> SignedBy:
    window = Window(now() - timedelta(minutes=1), now() + timedelta(minutes=14))
    question = Question(text, NAMESPACE, lines, window)
    verifier = Verifier(now, gnupg or GnuPG())
    return await verifier.verify(ProofFinish(signature=signature, public_key=key), question)


@pytest.mark.parametrize("algorithm", ["ed25519", "rsa2048", "rsa4096", "nistp256"])
async def test_p4_clear_signed_and_detached_signatures_are_good(home: PgpHome, algorithm: str) -> None:
    fingerprint = home.make(f"good-{algorithm}", algorithm)
    for signature in (home.clear_sign(TEXT, fingerprint), home.detach_sign(TEXT, fingerprint)):
        found = await verify(signature, fingerprint_line(fingerprint), key=home.public(fingerprint))
        assert (found.method, found.key, found.fingerprint) == (
            "pgp-fingerprint",
            fingerprint,
            fingerprint,
        )


async def test_p4_a_signature_in_text_mode_is_good(home: PgpHome, ada: str) -> None:
    signature = home.detach_sign(TEXT, ada, "--textmode")
    assert (await verify(signature, fingerprint_line(ada), key=home.public(ada))).key


async def test_p4_a_subkey_signs_for_its_primary_key(home: PgpHome) -> None:
    primary = home.make("with-subkey")
    subkey = home.add_subkey(primary)
    signature = home.clear_sign(TEXT, f"{subkey}!")
    found = await verify(signature, fingerprint_line(primary), key=home.public(primary))
    assert found.fingerprint == primary
    # The registry lists the subkey alone: it stands for nobody.
    with pytest.raises(KeyNotListed):
        await verify(signature, fingerprint_line(subkey), key=home.public(primary))


async def test_p4_another_primary_key_is_refused(home: PgpHome, ada: str) -> None:
    other = home.make("other")
    with pytest.raises(KeyNotListed):
        await verify(home.clear_sign(TEXT, other), fingerprint_line(ada), key=home.public(other))


async def test_p4_the_signer_s_key_must_be_among_those_pasted(home: PgpHome, ada: str) -> None:
    other = home.make("unpasted")
    with pytest.raises(KeyNotListed):
        await verify(home.clear_sign(TEXT, other), fingerprint_line(other), key=home.public(ada))


@pytest.mark.parametrize("length", [8, 16, 39])
async def test_p4_a_short_id_lists_nothing(home: PgpHome, ada: str, length: int) -> None:
    short = AuthLine(method="pgp-fingerprint", value=ada[-length:], raw="")
    named = AuthLine(method="pgpkey", value=f"PGPKEY-{ada[-length:]}", raw="")
    with pytest.raises(KeyNotListed):
        await verify(home.clear_sign(TEXT, ada), short, named, key=home.public(ada))


async def test_p4_a_key_certificate_of_the_registry_needs_nothing_pasted(home: PgpHome, ada: str) -> None:
    line = certificate_line(ada, home.public(ada))
    found = await verify(home.clear_sign(TEXT, ada), line)
    assert (found.method, found.key, found.fingerprint) == ("pgpkey", line.value, ada)


async def test_p4_a_certificate_under_another_name_lists_nothing(home: PgpHome, ada: str) -> None:
    line = certificate_line("0" * 40, home.public(ada))
    with pytest.raises(KeyNotListed):
        await verify(home.clear_sign(TEXT, ada), line)


async def test_p4_a_pasted_key_does_not_stand_for_a_certificate(home: PgpHome, ada: str) -> None:
    other = home.make("pasted-beside")
    line = certificate_line(ada, home.public(ada))
    with pytest.raises(KeyNotListed):
        await verify(home.clear_sign(TEXT, other), line, key=home.public(other))


async def test_p3_a_key_that_has_expired_is_refused(home: PgpHome) -> None:
    fingerprint = home.make("expired", expires="1d", at=now() - 9 * DAY)
    signature = home.clear_sign(TEXT, fingerprint, at=now() - 8.5 * DAY)
    with pytest.raises(KeyEnded):
        await verify(signature, fingerprint_line(fingerprint), key=home.public(fingerprint))


async def test_p3_a_backdated_signature_is_refused(home: PgpHome) -> None:
    fingerprint = home.make("backdated", at=now() - 9 * DAY)
    for at in (now() - DAY, now() - timedelta(minutes=10)):
        signature = home.clear_sign(TEXT, fingerprint, at=at)
        with pytest.raises(SignatureMistimed):
            await verify(signature, fingerprint_line(fingerprint), key=home.public(fingerprint))


async def test_p3_a_signature_of_the_future_is_refused(home: PgpHome, ada: str) -> None:
    signature = home.clear_sign(TEXT, ada, at=now() + timedelta(hours=1))
    with pytest.raises(SignatureRefused):
        await verify(signature, fingerprint_line(ada), key=home.public(ada))


async def test_p3_a_signature_that_has_expired_is_refused(home: PgpHome) -> None:
    fingerprint = home.make("short", at=now() - 9 * DAY)
    signature = home.clear_sign(TEXT, fingerprint, "--default-sig-expire", "1d", at=now() - 8 * DAY)
    with pytest.raises(SignatureMistimed):
        await verify(signature, fingerprint_line(fingerprint), key=home.public(fingerprint))


async def test_p3_an_expired_subkey_is_refused(home: PgpHome) -> None:
    primary = home.make("expired-subkey", at=now() - 9 * DAY)
    subkey = home.add_subkey(primary, "1d", at=now() - 9 * DAY)
    signature = home.clear_sign(TEXT, f"{subkey}!", at=now() - 8.5 * DAY)
    with pytest.raises(KeyEnded):
        await verify(signature, fingerprint_line(primary), key=home.public(primary))


async def test_p3_a_revoked_key_is_refused(home: PgpHome) -> None:
    fingerprint = home.make("revoked")
    signature = home.clear_sign(TEXT, fingerprint)
    before = home.public(fingerprint)
    assert (await verify(signature, fingerprint_line(fingerprint), key=before)).key
    home.revoke(fingerprint)
    with pytest.raises(KeyEnded):
        await verify(signature, fingerprint_line(fingerprint), key=home.public(fingerprint))


@pytest.mark.parametrize("algorithm", ["rsa1024", "dsa2048"])
async def test_p6_weak_keys_are_refused_with_a_reason(home: PgpHome, algorithm: str) -> None:
    fingerprint = home.make(f"weak-{algorithm}", algorithm)
    with pytest.raises(WeakKey):
        await verify(
            home.clear_sign(TEXT, fingerprint), fingerprint_line(fingerprint), key=home.public(fingerprint)
        )


@pytest.mark.parametrize("digest", ["SHA1", "RIPEMD160"])
async def test_p6_weak_digests_are_refused_with_a_reason(home: PgpHome, digest: str) -> None:
    fingerprint = home.make(f"digest-{digest}", "rsa2048")
    signature = home.clear_sign(TEXT, fingerprint, "--digest-algo", digest)
    with pytest.raises(WeakDigest):
        await verify(signature, fingerprint_line(fingerprint), key=home.public(fingerprint))


@pytest.mark.parametrize("other", [TEXT.replace("FOO", "BAR"), f"{TEXT}x", f"x{TEXT}", f"{TEXT}\n{TEXT}"])
async def test_p2_a_signature_of_another_text_is_refused(home: PgpHome, ada: str, other: str) -> None:
    for signature in (home.clear_sign(other, ada), home.detach_sign(other, ada)):
        with pytest.raises(SignatureWrong):
            await verify(signature, fingerprint_line(ada), key=home.public(ada))


async def test_p2_altered_text_is_refused(home: PgpHome, ada: str) -> None:
    altered = home.clear_sign(TEXT.replace("FOO", "BAR"), ada).replace("BAR", "FOO")
    with pytest.raises(SignatureWrong):
        await verify(altered, fingerprint_line(ada), key=home.public(ada))


async def test_p2_text_outside_the_block_is_refused(home: PgpHome, ada: str) -> None:
    good = home.clear_sign(TEXT, ada)
    other = home.clear_sign("something else", ada)
    head, rest = good.split("\n\n", 1)
    for spoilt in (
        f"{TEXT}\n{good}",
        f"{good}{TEXT}\n",
        good + good,
        good + other,
        f"{head}\nComment: {TEXT}\n\n{rest}",
        f"{head}\n\n{TEXT}\n-----BEGIN PGP SIGNED MESSAGE-----\n{rest}",
        good.replace("-----BEGIN PGP SIGNATURE-----", f"{TEXT}\n-----BEGIN PGP SIGNATURE", 1),
        home.run("--armor", "--sign", "--local-user", ada, given=f"{TEXT}\n"),
    ):
        with pytest.raises(SignatureMalformed):
            await verify(spoilt, fingerprint_line(ada), key=home.public(ada))


async def test_p2_two_signatures_in_one_block_are_refused(home: PgpHome, ada: str) -> None:
    other = home.make("second-signer")
    both = home.clear_sign(TEXT, ada, "--local-user", other)
    with pytest.raises(SignatureRefused):
        await verify(both, fingerprint_line(ada), key=home.public(ada))


async def test_p2_line_ends_of_forms_are_forgiven(home: PgpHome, ada: str) -> None:
    for signature in (home.clear_sign(TEXT, ada), home.detach_sign(TEXT, ada)):
        pasted = "\n" + signature.replace("\n", "\r\n") + "  \r\n"
        key = home.public(ada).replace("\n", "\r\n")
        assert (await verify(pasted, fingerprint_line(ada), key=key)).key


async def test_p9_without_a_key_nothing_is_fetched(home: PgpHome, ada: str) -> None:
    with pytest.raises(PublicKeyNeeded):
        await verify(home.clear_sign(TEXT, ada), fingerprint_line(ada))


async def test_p9_gpg_calls_no_server_that_a_signature_names(home: PgpHome, ada: str) -> None:
    called = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)

        def wait() -> None:
            with suppress(OSError):
                listener.accept()[0].close()
                called.set()

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        other = home.make("elsewhere")
        server = f"http://127.0.0.1:{listener.getsockname()[1]}/key.asc"
        signature = home.clear_sign(TEXT, other, "--sig-keyserver-url", server)
        with pytest.raises(KeyNotListed):
            await verify(signature, fingerprint_line(other), key=home.public(ada))
        assert not called.is_set()
        # The listener does hear whoever calls.
        socket.create_connection(listener.getsockname()).close()
        waiting.join(20)
        assert called.is_set()


async def test_p9_private_keys_are_refused_by_name(home: PgpHome, ada: str) -> None:
    good, secret = home.clear_sign(TEXT, ada), home.secret(ada)
    disguised = secret.replace("PRIVATE", "PUBLIC")
    for signature, key in ((good, secret), (secret, home.public(ada)), (good, disguised)):
        with pytest.raises(PrivateKeyPasted):
            await verify(signature, fingerprint_line(ada), key=key)


async def test_p9_a_key_that_is_none_is_refused(home: PgpHome, ada: str) -> None:
    good, key = home.clear_sign(TEXT, ada), home.public(ada)
    lines = key.split("\n")
    damaged = "\n".join([*lines[:3], *reversed(lines[3:-3]), *lines[-3:]])
    for spoilt in (f"x{key}", key + key, good, "x", damaged, key + home.public(home.make("twice"))):
        with pytest.raises(PublicKeyMalformed):
            await verify(good, fingerprint_line(ada), key=spoilt)


async def test_p9_checking_is_given_up_in_time(home: PgpHome, ada: str, tmp_path: object) -> None:
    with pytest.raises(CheckTimedOut):
        await verify(
            home.clear_sign(TEXT, ada),
            fingerprint_line(ada),
            key=home.public(ada),
            gnupg=GnuPG(patience=timedelta(microseconds=1)),
        )


async def test_p9_a_server_without_gpg_says_so(home: PgpHome, ada: str) -> None:
    with pytest.raises(PgpUnavailable):
        await verify(
            home.clear_sign(TEXT, ada),
            fingerprint_line(ada),
            key=home.public(ada),
            gnupg=GnuPG(program="no-such-gpg"),
        )

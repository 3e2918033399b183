"""The checks of WebAuthn: those of the library, and those that it leaves to the relying party."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from webauthn import verify_authentication_response, verify_registration_response
from webauthn.helpers import (
    base64url_to_bytes,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    parse_attestation_object,
    parse_authenticator_data,
)
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import AttestationFormat

from auth_server.passkeys.errors import PasskeyRefused, RegistrationRefused
from auth_server.passkeys.schemas import (
    LONGEST_CREDENTIAL_ID,
    Assertion,
    AssertionCredential,
    Ceremony,
    KnownCredential,
    NewCredential,
    RegistrationCredential,
    RelyingParty,
)
from shared.kernel.errors import AppError

#: Offered at registration and accepted in an answer, in order of preference.
ALGORITHMS = (
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
)
#: We ask for no attestation, so a browser sends none, or that of the credential itself.
_ATTESTATIONS = frozenset({AttestationFormat.NONE, AttestationFormat.PACKED})
_SMALLEST_RSA_KEY = 2048
_TRANSPORTS = frozenset({"usb", "nfc", "ble", "smart-card", "hybrid", "internal"})
_CODE_GROUP = 4


def check_registration(
    given: RegistrationCredential, ceremony: Ceremony, party: RelyingParty
) -> NewCredential:
    """What the registration brings. Raises RegistrationRefused."""
    with _refusing(RegistrationRefused):
        _check_frame(given.response.clientDataJSON)
        made = verify_registration_response(
            credential=given.model_dump(),
            expected_challenge=ceremony.challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
            supported_pub_key_algs=list(ALGORITHMS),
        )
        parsed = parse_attestation_object(base64url_to_bytes(given.response.attestationObject))
        _demand(made.fmt in _ATTESTATIONS, "attestation")
        _demand(made.credential_id == base64url_to_bytes(given.rawId), "credential id")
        _demand(len(made.credential_id) <= LONGEST_CREDENTIAL_ID, "length of the credential id")
        _check_key(made.credential_public_key)
        flags = parsed.auth_data.flags
        _demand(flags.be or not flags.bs, "backup state without eligibility")
        return NewCredential(
            credential_id=made.credential_id,
            public_key=made.credential_public_key,
            sign_count=made.sign_count,
            backup_eligible=flags.be,
            backed_up=flags.bs,
            aaguid=made.aaguid,
        )


def check_assertion(
    given: AssertionCredential, known: KnownCredential, ceremony: Ceremony, party: RelyingParty
) -> Assertion:
    """What the assertion says; the counter is compared by whoever stores it. Raises PasskeyRefused."""
    with _refusing(PasskeyRefused):
        _check_frame(given.response.clientDataJSON)
        verify_authentication_response(
            credential=given.model_dump(),
            expected_challenge=ceremony.challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=known.public_key,
            # A counter that went back is told apart from a forgery, so it is compared after the signature.
            credential_current_sign_count=0,
            require_user_verification=True,
        )
        _check_owner(given.response.userHandle, known.owner_handle, needed=not ceremony.subject.get("owner"))
        parsed = parse_authenticator_data(base64url_to_bytes(given.response.authenticatorData))
        _demand(parsed.flags.be or not parsed.flags.bs, "backup state without eligibility")
        _demand(parsed.flags.be == known.backup_eligible, "backup eligibility changed")
        return Assertion(sign_count=parsed.sign_count, backed_up=parsed.flags.bs)


def failed_check(refusal: AppError) -> str:
    """What was wrong, in our own words: nothing of what the client sent."""
    cause = refusal.__cause__
    return str(cause) if isinstance(cause, _CheckFailed) else type(cause).__name__


def known_transports(given: list[str]) -> list[str]:
    """Those that the standard names; they help the browser at the next ceremony."""
    return sorted(_TRANSPORTS & set(given))


def normal_code(text: str) -> tuple[str, str] | None:
    """Selector and secret of a recovery code as somebody typed it; None for what is none."""
    plain = "".join(character for character in text.lower() if character.isalnum())
    if len(plain) != _CODE_GROUP * 4 or not plain.isascii():
        return None
    return plain[:_CODE_GROUP], plain[_CODE_GROUP:]


def shown_code(plain: str) -> str:
    """A recovery code in groups that can be read aloud."""
    return "-".join(plain[start : start + _CODE_GROUP] for start in range(0, len(plain), _CODE_GROUP))


def _check_frame(client_data: str) -> None:
    """Refuse to act inside a page of somebody else (WebAuthn, `crossOrigin` and `topOrigin`)."""
    told: dict[str, Any] = json.loads(base64url_to_bytes(client_data))
    _demand(told.get("crossOrigin", False) is False, "cross-origin frame")
    _demand("topOrigin" not in told, "cross-origin frame")


def _check_owner(handle: str | None, owner: bytes, *, needed: bool) -> None:
    """A discoverable credential names its owner; one from our own list may leave it out."""
    if handle:
        _demand(hmac.compare_digest(base64url_to_bytes(handle), owner), "user handle")
    else:
        _demand(not needed, "user handle")


def _check_key(public_key: bytes) -> None:
    """Refuse a key that could never verify anything, or that is too weak."""
    key = decoded_public_key_to_cryptography(decode_credential_public_key(public_key))
    if isinstance(key, RSAPublicKey):
        _demand(key.key_size >= _SMALLEST_RSA_KEY, "size of the key")


class _CheckFailed(Exception):
    """One of our own checks says no; its text names the check."""


def _demand(holds: bool, check: str) -> None:
    if not holds:
        raise _CheckFailed(check)


@contextmanager
def _refusing(refusal: type[AppError]) -> Iterator[None]:
    """Make one refusal of whatever the parsers raise on input that somebody forged."""
    try:
        yield
    except Exception as error:
        raise refusal from error

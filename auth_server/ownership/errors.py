"""Refusals about proofs of maintainership. Each code has one sentence on the page."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound, Unavailable


class ProofNotFound(NotFound):
    """You have no such proof."""

    code = "proof_not_found"


class SubjectMalformed(AppError):
    """That is neither a maintainer's name nor an AS number."""

    code: ClassVar[str] = "proof_subject_malformed"


class SubjectUnknown(AppError):
    """The registry knows no such maintainer or AS number."""

    code: ClassVar[str] = "proof_subject_unknown"


class MaintainerShared(AppError):
    """Many people hold this maintainer, so it proves nothing about one of them."""

    code: ClassVar[str] = "maintainer_shared"


class MaintainerWithoutKeys(AppError):
    """The registry lists no key of this maintainer that can be checked."""

    code: ClassVar[str] = "maintainer_without_keys"


class ChallengeGone(AppError):
    """The challenge is unknown, used, too old or not yours. Start again."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "proof_challenge_gone"


class ProofThrottled(AppError):
    """Too many proofs were begun. Wait, then try again."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "proof_throttled"


class RegistryAway(Unavailable):
    """The registry service does not answer. Nothing was lost: try again in a moment."""

    code = "proof_registry_away"


class ChecksBusy(Unavailable):
    """Too many signatures are being checked. Try again."""

    code = "proof_checks_busy"


class PgpUnavailable(Unavailable):
    """OpenPGP signatures cannot be checked here: this server has no gpg. Use an SSH key."""

    code = "proof_pgp_unavailable"


class SignatureRefused(AppError):
    """The signature proves nothing."""

    code: ClassVar[str] = "signature_refused"


class SignatureMalformed(SignatureRefused):
    """Paste exactly one signature, with its first and last line and nothing around it."""

    code: ClassVar[str] = "signature_malformed"


class PrivateKeyPasted(SignatureRefused):
    """That is a private key. It was not stored; replace it if anybody else may have seen it."""

    code: ClassVar[str] = "private_key_pasted"


class PublicKeyNeeded(SignatureRefused):
    """The registry holds only the fingerprint: paste the public key as well."""

    code: ClassVar[str] = "public_key_needed"


class PublicKeyMalformed(SignatureRefused):
    """Paste exactly one armoured public key with nothing around it."""

    code: ClassVar[str] = "public_key_malformed"


class WrongNamespace(SignatureRefused):
    """The signature is for another purpose: its namespace is not the one of the command."""

    code: ClassVar[str] = "signature_wrong_namespace"


class WeakKey(SignatureRefused):
    """The key is too weak to prove anything: DSA, RSA below 2048 bits, or a kind that is not trusted."""

    code: ClassVar[str] = "signature_weak_key"


class WeakDigest(SignatureRefused):
    """The signature was made over SHA-1 or another digest that proves nothing. Use SHA-256 or SHA-512."""

    code: ClassVar[str] = "signature_weak_digest"


class KeyNotListed(SignatureRefused):
    """The key that signed is none of those that the registry lists for this maintainer."""

    code: ClassVar[str] = "signature_key_not_listed"


class KeyEnded(SignatureRefused):
    """The key that signed has expired or was revoked."""

    code: ClassVar[str] = "signature_key_ended"


class SignatureMistimed(SignatureRefused):
    """The signature was made before the challenge, or says so. Check the clock and sign again."""

    code: ClassVar[str] = "signature_mistimed"


class SignatureWrong(SignatureRefused):
    """The signature is not one of this challenge's text. Sign exactly the text that is shown."""

    code: ClassVar[str] = "signature_wrong"


class CheckTimedOut(SignatureRefused):
    """Checking took too long and was given up."""

    code: ClassVar[str] = "signature_check_timed_out"

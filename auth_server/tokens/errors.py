"""Refusals of the token, userinfo and logout endpoints."""

from __future__ import annotations

from typing import ClassVar

from auth_server.clients.errors import OAuthError
from shared.kernel.errors import AppError, Kind


class TooManyLeft(OAuthError):
    """Too many requests that wait for a person came from this address. Wait, then try again."""

    kind = Kind.THROTTLED
    code = "too_many_requests_left"
    error = "slow_down"


class InvalidGrant(OAuthError):
    """The code or refresh token is unknown, used, expired, revoked, or was given to somebody else."""

    code = "invalid_grant"
    error = "invalid_grant"


class CodeReplayed(InvalidGrant):
    """The code was used before. Everything that came of it is revoked."""

    code = "authorization_code_replayed"
    #: The revocation must outlive the refusal.
    rolls_back: ClassVar[bool] = False


class WrongVerifier(InvalidGrant):
    """The code verifier does not belong to the code."""

    code = "code_verifier_wrong"
    #: Only so many tries: they are counted although each is refused.
    rolls_back: ClassVar[bool] = False


class RefreshReplayed(InvalidGrant):
    """The refresh token was used before. Everything that came of its grant is revoked."""

    code = "refresh_token_replayed"
    rolls_back: ClassVar[bool] = False


class UnsupportedGrantType(OAuthError):
    """Grants of this type are not offered."""

    code = "unsupported_grant_type"
    error = "unsupported_grant_type"


class InvalidDpopProof(OAuthError):
    """The request needs one DPoP proof, made for it a moment ago and never shown before."""

    code = "invalid_dpop_proof"
    error = "invalid_dpop_proof"


class UseDpopNonce(OAuthError):
    """The DPoP proof needs the nonce that this answer brings. Make a new proof with it."""

    code = "use_dpop_nonce"
    error = "use_dpop_nonce"


class NonceNeeded(Exception):
    """A proof is good but for its nonce, which is missing, too old or none of ours."""


class InvalidScope(OAuthError):
    """Nothing that was asked for may be granted."""

    code = "invalid_scope"
    error = "invalid_scope"


class BearerError(AppError):
    """The access token is refused."""

    code: ClassVar[str] = "bearer_refused"
    #: Word of RFC 6750; empty where no token was sent at all.
    error: ClassVar[str] = ""


class BearerMissing(BearerError):
    """Send an access token in the Authorization header."""

    kind = Kind.UNAUTHENTICATED
    code = "bearer_missing"


class BearerMalformed(BearerError):
    """Send one access token, in the Authorization header or in the form, never in the address."""

    code = "bearer_malformed"
    error = "invalid_request"


class InvalidToken(BearerError):
    """The access token is expired, revoked or not one of ours."""

    kind = Kind.UNAUTHENTICATED
    code = "invalid_token"
    error = "invalid_token"


class ProofRejected(BearerError):
    """The DPoP proof is missing, does not fit the request and its token, or was shown before."""

    kind = Kind.UNAUTHENTICATED
    code = "dpop_proof_rejected"
    error = "invalid_dpop_proof"


class ProofNeedsNonce(BearerError):
    """The DPoP proof needs the nonce that this answer brings. Make a new proof with it."""

    kind = Kind.UNAUTHENTICATED
    code = "dpop_proof_needs_nonce"
    error = "use_dpop_nonce"


class InsufficientScope(BearerError):
    """The access token does not carry the scope that this needs."""

    kind = Kind.FORBIDDEN
    code = "insufficient_scope"
    error = "insufficient_scope"


class LogoutRefused(AppError):
    """The request to sign out is not valid. You are still signed in."""

    code: ClassVar[str] = "logout_refused"

"""Access tokens of the sign-in service: verified here, and their grant asked for at most a second ago."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from control_server.operators.errors import AccessTokenRefused, TokenNotGood
from control_server.operators.rules.tokens import Expected, kid_of, scopes_of, verify_access_token
from control_server.operators.service.provider import Provider
from control_server.operators.service.verdicts import Verdicts
from control_server.operators.store import SeenProofs
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal, PrincipalKind, Role
from shared.kernel.proofs import ProofRefused, Proven, verify_proof
from shared.kernel.secrets import digest_of


@dataclass(frozen=True, slots=True)
class ShownProof:
    """The proof of a key as it came with a request, and that request."""

    text: str
    method: str
    url: str


@dataclass(slots=True)
class AccessTokens:
    """The bearers that the sign-in service let in."""

    provider: Provider
    now: Clock
    seen: SeenProofs
    verdicts: Verdicts[Principal] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing has been asked yet."""
        self.verdicts = Verdicts(self.provider.settings.sign_in, self.now)

    async def authenticate(self, text: str, shown: ShownProof | None = None) -> Principal:
        """The caller with the token's scopes and the role of now. Raises AccessTokenRefused or AuthAway.

        A token that is bound to a key needs a proof of it, and no other token may come with one.
        """
        try:
            keys = await self.provider.keys(kid_of(text))
            claims = verify_access_token(text, keys, self._expected())
        except TokenNotGood:
            raise AccessTokenRefused from None
        await self._check_key(text, claims, shown)

        async def ask() -> Principal | None:
            return _principal_of(await self.provider.introspect(text), claims)

        principal = await self.verdicts.of(digest_of(text), ask)
        if principal is None:
            raise AccessTokenRefused
        return principal

    async def _check_key(self, text: str, claims: dict[str, Any], shown: ShownProof | None) -> None:
        """Raises AccessTokenRefused unless key and token belong together (RFC 9449, section 7.1)."""
        confirmation = claims.get("cnf")
        bound_to = confirmation.get("jkt") if isinstance(confirmation, dict) else None
        if shown is None:
            if confirmation is not None:
                raise AccessTokenRefused
            return
        try:
            proof = verify_proof(shown.text, Proven(shown.method, shown.url, self.now(), text))
        except ProofRefused:
            raise AccessTokenRefused from None
        if proof.thumbprint != bound_to or not await self.seen.claim(proof, self.now()):
            raise AccessTokenRefused

    def _expected(self) -> Expected:
        settings = self.provider.settings
        return Expected(settings.issuer, settings.api_audience, self.now())


def _principal_of(said: dict[str, Any], claims: dict[str, Any]) -> Principal | None:
    """Who the grant lets in, with no more than token and role both allow; None for nobody."""
    if said.get("active") is not True or said.get("sub") != claims["sub"]:
        return None
    try:
        role = Role(said["role"])
    except (KeyError, ValueError):
        return None
    scopes = scopes_of(claims.get("scope")) & scopes_of(said.get("scope"))
    name = str(said.get("username") or claims["sub"])
    # A client that acts on its own is its own subject (RFC 9068, section 2.2).
    by_itself = claims["sub"] == claims["client_id"]
    kind = PrincipalKind.SERVICE if by_itself else PrincipalKind.PERSON
    return Principal(f"{'client' if by_itself else 'person'}:{claims['sub']}", kind, name, role, scopes)

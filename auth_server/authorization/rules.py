"""What a good authorization request is, and what discovery says of it."""

from __future__ import annotations

import base64
import hmac
import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from auth_server.authorization.errors import SentBack
from auth_server.authorization.schemas import Wanted
from auth_server.clients.rules.parameters import Parameters
from auth_server.clients.schemas import ALL_SCOPES, GrantType, OpenIdScope
from auth_server.signing_keys.schemas import Algorithm
from auth_server.tokens.rules import PHISHING_RESISTANT, is_challenge
from auth_server.tokens.schemas import WantedGrant
from shared.kernel.proofs import ALGORITHMS

_PROMPTS = frozenset({"none", "login", "consent", "select_account"})
_CONFIDENTIAL = ("client_secret_basic", "client_secret_post", "private_key_jwt")
_AUTHENTICATIONS = (*_CONFIDENTIAL, "none")
_CLAIMS = (
    *("sub", "iss", "aud", "azp", "exp", "iat", "auth_time", "acr", "amr", "nonce", "at_hash", "sid"),
    *("name", "preferred_username", "role"),
    *("asn", "mntner", "dn42"),
)


class AskingClient(Protocol):
    """What counts of a client here."""

    @property
    def id(self) -> str:
        """Its client_id."""

    @property
    def scopes(self) -> list[str]:
        """What it may ask for."""

    @property
    def grant_types(self) -> list[str]:
        """What it may exchange."""


#: Ours: when a request that wants a new sign-in first came, so that one sign-in is enough for it. It is made
#: for one request and by us alone: who has the browser of somebody signed in cannot say that they just were.
ASKED_AT = "sign_in_asked_at"
_STAMP = re.compile(r"([0-9]{1,12})\.([A-Za-z0-9_-]{43})", re.ASCII)
#: Time enough to find another device, or a recovery code.
_STAMP_LIFE = timedelta(minutes=30)
_INSTANT = re.compile(r"[0-9]{1,12}", re.ASCII)


#: Before the name of a request that was pushed here (RFC 9126, section 2.2).
PUSHED = "urn:ietf:params:oauth:request_uri:"
PUSHED_PREFIX = "rlq"
#: Long enough to sign in on the way; 5 to 600 seconds (RFC 9126, section 2.2).
PUSHED_LIFE = timedelta(minutes=5)


#: Bytes of the names and values of a pushed request; whatever a browser could bring in an address fits.
MOST_PUSHED_BYTES = 8192
#: What this server reads of a request; other parameters are ignored, so they need not be kept.
_READ = frozenset(
    {
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce"),
        *("prompt", "max_age", "id_token_hint", "code_challenge", "code_challenge_method", "dpop_jkt"),
        "request",
    }
)


def pushed_name(sent: Parameters) -> str | None:
    """The name of the pushed request that is meant; other addresses of requests are none of ours."""
    address = sent.get("request_uri") or ""
    name = address.removeprefix(PUSHED)
    return name if name != address and name.startswith(f"{PUSHED_PREFIX}_") else None


def stamped(key: bytes, sent: Parameters, at: datetime) -> str:
    """The value by which this very request is known to have asked for a new sign-in now."""
    instant = int(at.timestamp())
    return f"{instant}.{_mark(key, sent, instant)}"


def read_stamp(key: bytes, sent: Parameters, at: datetime) -> int | None:
    """When (Unix time) this very request first asked for a new sign-in; None without a stamp of ours."""
    found = _STAMP.fullmatch(sent.get(ASKED_AT) or "")
    if found is None or not hmac.compare_digest(found[2], _mark(key, sent, int(found[1]))):
        return None
    recent = at.timestamp() - int(found[1]) <= _STAMP_LIFE.total_seconds()
    return int(found[1]) if recent else None


def _mark(key: bytes, sent: Parameters, instant: int) -> str:
    others = sorted((name, value) for name, value in sent.values.items() if name != ASKED_AT)
    text = f"sign-in-asked-at\n{instant}\n{json.dumps(others)}"
    return base64.urlsafe_b64encode(hmac.digest(key, text.encode(), "sha256")).rstrip(b"=").decode()


def request_in(sent: Parameters) -> dict[str, str]:
    """The request that a client pushed, without what it authenticated by and what nobody reads."""
    return {name: value for name, value in sent.values.items() if name in _READ}


def weight_of(request: dict[str, str]) -> int:
    """The bytes of its names and values."""
    return sum(len(name.encode()) + len(value.encode()) for name, value in request.items())


@dataclass(frozen=True, slots=True)
class Asking:
    """A client with a good address to answer to, and what it sent."""

    client: AskingClient
    redirect_uri: str
    sent: Parameters
    issuer: str

    def refusal(self, error: str, description: str) -> SentBack:
        """The refusal as the client is told of it (RFC 6749, 4.1.2.1; RFC 9207)."""
        return SentBack(self.redirect_uri, answer(self.sent.get("state"), self.issuer, error, description))

    def read(self) -> Wanted:
        """What is wanted. Raises SentBack."""
        if self.sent.repeated:
            raise self.refusal("invalid_request", f"A parameter is repeated: {self.sent.named_twice()}.")
        self._check_response()
        prompts = self._read_prompts()
        return Wanted(
            grant=WantedGrant(
                client_id=self.client.id,
                scopes=self._read_scopes(),
                redirect_uri=self.redirect_uri,
                redirect_uri_named=self.sent.get("redirect_uri") is not None,
                code_challenge=self._read_challenge(),
                nonce=self.sent.get("nonce"),
                key_thumbprint=self._read_thumbprint(),
            ),
            state=self.sent.get("state"),
            silent="none" in prompts,
            ask_again="consent" in prompts,
        )

    def wanted_after(self, at: datetime, asked_at: int | None) -> int | None:
        """The Unix time before which no sign-in is new enough (Core, section 3.1.2.1). Raises SentBack.

        `asked_at`: when it was asked for first, where the person comes back from the sign-in.
        """
        max_age = self.sent.get("max_age")
        if max_age is not None and not _INSTANT.fullmatch(max_age):
            raise self.refusal("invalid_request", "The parameter max_age is not a number of seconds.")
        began = int(at.timestamp()) if asked_at is None else asked_at
        # A person who is to choose an account does so by signing in.
        anew = not self._read_prompts().isdisjoint({"login", "select_account"})
        if anew and asked_at is None:
            return began + 1  # no sign-in so far is new enough
        bounds = [began] if anew else []
        bounds += [began - int(max_age)] if max_age is not None else []
        return max(bounds, default=None)

    def _check_response(self) -> None:
        if self.sent.get("request") is not None:
            raise self.refusal("request_not_supported", "Request objects are not supported.")
        if self.sent.get("request_uri") is not None:
            raise self.refusal("request_uri_not_supported", "Request addresses are not supported.")
        wanted = self.sent.get("response_type")
        if wanted is None:
            raise self.refusal("invalid_request", "The parameter response_type is missing.")
        if wanted != "code":
            raise self.refusal("unsupported_response_type", "Only the response type code is offered.")
        if self.sent.get("response_mode") not in {None, "query"}:
            raise self.refusal("invalid_request", "Only the response mode query is offered.")
        if GrantType.AUTHORIZATION_CODE not in self.client.grant_types:
            raise self.refusal("unauthorized_client", "The client may not use authorization codes.")

    def _read_challenge(self) -> str:
        """PKCE for every client; an omitted method would mean `plain` (RFC 7636, section 4.3)."""
        challenge = self.sent.get("code_challenge")
        if challenge is None:
            raise self.refusal("invalid_request", "The parameter code_challenge is missing.")
        if self.sent.get("code_challenge_method") != "S256":
            raise self.refusal("invalid_request", "The code challenge method must be S256.")
        if not is_challenge(challenge):
            raise self.refusal("invalid_request", "The code challenge is not one of S256.")
        return challenge

    def _read_thumbprint(self) -> str | None:
        """The key that the code is to be bound to (RFC 9449, section 10)."""
        thumbprint = self.sent.get("dpop_jkt")
        if thumbprint is not None and not is_challenge(thumbprint):
            raise self.refusal("invalid_request", "The parameter dpop_jkt is not a thumbprint.")
        return thumbprint

    def _read_scopes(self) -> tuple[str, ...]:
        """The known scopes that the client may ask for; unknown ones are ignored."""
        asked = set((self.sent.get("scope") or "").split()) & set(self.client.scopes)
        if GrantType.REFRESH_TOKEN not in self.client.grant_types:
            asked.discard(OpenIdScope.OFFLINE_ACCESS)
        if not asked:
            raise self.refusal("invalid_scope", "None of the scopes can be granted to this client.")
        return tuple(scope for scope in ALL_SCOPES if scope in asked)

    def _read_prompts(self) -> frozenset[str]:
        prompts = frozenset((self.sent.get("prompt") or "").split()) & _PROMPTS
        if "none" in prompts and len(prompts) > 1:
            raise self.refusal("invalid_request", "The prompt none stands alone.")
        return prompts


def answer(state: str | None, issuer: str, error: str, description: str) -> dict[str, str]:
    """The parameters of an error response."""
    echoed = {} if state is None else {"state": state}
    return {"error": error, "error_description": description, **echoed, "iss": issuer}


def metadata(issuer: str) -> dict[str, Any]:
    """What discovery says (RFC 8414; OpenID Connect Discovery, section 3)."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "userinfo_endpoint": f"{issuer}/userinfo",
        "jwks_uri": f"{issuer}/jwks.json",
        "end_session_endpoint": f"{issuer}/logout",
        "revocation_endpoint": f"{issuer}/revoke",
        "introspection_endpoint": f"{issuer}/introspect",
        "device_authorization_endpoint": f"{issuer}/device",
        "pushed_authorization_request_endpoint": f"{issuer}/par",
        "require_pushed_authorization_requests": False,
        "scopes_supported": list(ALL_SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [grant.value for grant in GrantType],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [algorithm.value for algorithm in Algorithm],
        "token_endpoint_auth_methods_supported": list(_AUTHENTICATIONS),
        "revocation_endpoint_auth_methods_supported": list(_AUTHENTICATIONS),
        "introspection_endpoint_auth_methods_supported": list(_CONFIDENTIAL),
        **{
            f"{endpoint}_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS)
            for endpoint in ("token", "revocation", "introspection")
        },
        "dpop_signing_alg_values_supported": list(ALGORITHMS),
        "acr_values_supported": [PHISHING_RESISTANT],
        "code_challenge_methods_supported": ["S256"],
        "claim_types_supported": ["normal"],
        "claims_supported": list(_CLAIMS),
        "authorization_response_iss_parameter_supported": True,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }

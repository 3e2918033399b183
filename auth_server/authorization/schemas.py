"""Authorization requests that were found good, and what is answered to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from auth_server.tokens.schemas import WantedGrant


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request whose client, address and parameters are good."""

    grant: WantedGrant
    state: str | None
    #: Nobody may be asked anything.
    silent: bool
    #: The person is asked, whatever is remembered.
    ask_again: bool

    def to_json(self) -> dict[str, Any]:
        """For the stored question."""
        grant = self.grant
        return {
            "scopes": list(grant.scopes),
            "redirect_uri": grant.redirect_uri,
            "redirect_uri_named": grant.redirect_uri_named,
            "code_challenge": grant.code_challenge,
            "nonce": grant.nonce,
            "key_thumbprint": grant.key_thumbprint,
            "state": self.state,
        }

    @classmethod
    def from_json(cls, client_id: str, kept: dict[str, Any]) -> Wanted:
        """From the stored question."""
        grant = WantedGrant(
            client_id=client_id,
            scopes=tuple(kept["scopes"]),
            redirect_uri=kept["redirect_uri"],
            redirect_uri_named=kept["redirect_uri_named"],
            code_challenge=kept["code_challenge"],
            nonce=kept["nonce"],
            key_thumbprint=kept.get("key_thumbprint"),
        )
        return cls(grant, kept["state"], silent=False, ask_again=False)


@dataclass(frozen=True, slots=True)
class SignInFirst:
    """Nobody is signed in, or a new sign-in is wanted."""

    #: By which the request is known, when the person is back, to have asked for the new sign-in.
    stamp: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What the person is to be asked."""

    id: UUID
    client_id: str
    client_name: str
    scopes: tuple[str, ...]
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class GoOn:
    """Where the browser takes the code."""

    location: str


Outcome = SignInFirst | Question | GoOn

"""Authorization: a good request of a signed-in person who agrees becomes a code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from auth_server.audit.service import Audit
from auth_server.authorization.errors import (
    AuthorizationRefused,
    ConsentExpired,
    PushRefused,
    PushTooLarge,
    SentBack,
    SentBackAndKept,
)
from auth_server.authorization.models import AuthorizationRequest, Consent, PushedRequest
from auth_server.authorization.repository import AuthorizationRepository
from auth_server.authorization.rules import (
    MOST_PUSHED_BYTES,
    PUSHED,
    PUSHED_LIFE,
    PUSHED_PREFIX,
    Asking,
    answer,
    pushed_name,
    read_stamp,
    request_in,
    stamped,
    weight_of,
)
from auth_server.authorization.schemas import GoOn, Outcome, Question, SignInFirst, Wanted
from auth_server.clients.models import Client
from auth_server.clients.rules.addresses import with_parameters
from auth_server.clients.rules.parameters import Parameters
from auth_server.clients.service import ClientService, find_redirect_uri
from auth_server.sessions.schemas import SignedIn
from auth_server.settings import AuthSettings
from auth_server.signing_keys.service import KeyRing
from auth_server.tokens.rules import scopes_for
from auth_server.tokens.service import GrantService
from auth_server.tokens.service.minting import ID_TOKEN
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid
from shared.kernel.secrets import digest_of, mint

#: A question that is on a screen so long is put again.
_QUESTION_LIFE = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class AuthorizationService:
    """Authorization as one database session sees it."""

    requests: AuthorizationRepository
    clients: ClientService
    grants: GrantService
    audit: Audit
    keys: KeyRing
    settings: AuthSettings
    now: Clock

    async def authorize(self, sent: Parameters, person: SignedIn | None) -> Outcome:
        """What a request comes to. Raises AuthorizationRefused, or SentBack once the address is good."""
        client = await self._who(sent)
        pushed = pushed_name(sent)
        asking = self._asking(client, await self._take_up(pushed, client, sent) if pushed else sent)
        if client.requires_pushed and not pushed:
            raise asking.refusal("invalid_request", "This client pushes its requests.")
        outcome = await self._come_to(client, asking, sent, person)
        if pushed and not isinstance(outcome, SignInFirst):
            await self._use_up(pushed)
        return outcome

    async def _come_to(
        self, client: Client, asking: Asking, sent: Parameters, person: SignedIn | None
    ) -> Outcome:
        silent = asking.read().silent
        if person is None:
            if silent:
                raise asking.refusal("login_required", "Nobody is signed in.")
            return SignInFirst()
        stamp = await self._new_sign_in(asking, sent, person)
        if stamp is None:
            return await self._judge(client, asking, person)
        if silent:
            raise asking.refusal("login_required", "A new sign-in is needed.")
        return SignInFirst(stamp)

    async def _new_sign_in(self, asking: Asking, sent: Parameters, person: SignedIn) -> str | None:
        """The stamp to sign in anew with, where that is wanted. Raises SentBack where it did not help."""
        key, at = self.keys.seal.key, self.now()
        asked_at = read_stamp(key, sent, at)
        after = asking.wanted_after(at, asked_at)
        recent = after is None or int(person.auth_time.timestamp()) >= after
        meant = await self._is_meant(asking, person)
        if recent and meant:
            return None
        if asked_at is not None and not meant:
            raise asking.refusal("login_required", "Somebody else signed in than the one of the hint.")
        return stamped(key, sent, at)

    async def _is_meant(self, asking: Asking, person: SignedIn) -> bool:
        """Whether a hint, if any, is of this person: nobody else is told of (Core, section 3.1.2.2)."""
        hint = asking.sent.get("id_token_hint")
        if hint is None:
            return True
        claims = await self.keys.verify(hint, ID_TOKEN)
        if claims is None or claims.get("iss") != self.settings.issuer:
            raise asking.refusal("invalid_request", "The hint is not an ID token of this server.")
        return bool(claims.get("sub") == str(person.account_id))

    async def _judge(self, client: Client, asking: Asking, person: SignedIn) -> Outcome:
        wanted = asking.read()
        scopes = scopes_for(person.role, wanted.grant.scopes)
        if not scopes:
            raise asking.refusal("invalid_scope", "None of the scopes can be granted by this person.")
        wanted = replace(wanted, grant=replace(wanted.grant, scopes=scopes))
        if not await self._must_ask(client, wanted, person):
            return await self._go_on(wanted, person)
        if wanted.silent:
            raise asking.refusal("consent_required", "The person has not agreed yet.")
        return self._put_question(client, wanted, person)

    async def push(self, client: Client, sent: Parameters, key: str | None) -> dict[str, Any]:
        """Keep a request until its person comes (RFC 9126, section 2). Raises PushRefused.

        It is as good as it is at the authorization endpoint, and a proof that comes along binds its code.
        """
        if sent.get("request_uri") is not None:
            raise PushRefused("invalid_request", "A request address cannot be pushed.")
        if key is not None and sent.get("dpop_jkt") not in {None, key}:
            raise PushRefused("invalid_dpop_proof", "The proof is of another key than the one that is named.")
        values = {**request_in(sent), **({"dpop_jkt": key} if key else {})}
        if weight_of(values) > MOST_PUSHED_BYTES:
            raise PushTooLarge(f"A pushed request has at most {MOST_PUSHED_BYTES} bytes.")
        try:
            self._asking(client, Parameters(values)).read()
        except AuthorizationRefused as refusal:
            raise PushRefused("invalid_request", refusal.detail) from None
        except SentBack as refusal:
            raise PushRefused(refusal.told["error"], refusal.told["error_description"]) from None
        secret, expires_at = mint(PUSHED_PREFIX), self.now() + PUSHED_LIFE
        self.requests.add_pushed(
            PushedRequest(digest=secret.digest, client_id=client.id, parameters=values, expires_at=expires_at)
        )
        return {"request_uri": f"{PUSHED}{secret.text}", "expires_in": int(PUSHED_LIFE.total_seconds())}

    async def _take_up(self, name: str, client: Client, sent: Parameters) -> Parameters:
        """What the client pushed, and nothing that came beside it. Raises AuthorizationRefused."""
        row = await self.requests.find_pushed(digest_of(name), client.id, self.now())
        if row is None or sent.repeated:
            raise AuthorizationRefused("The request was used, is too old, or is another application's.")
        return Parameters(row.parameters)

    async def _use_up(self, name: str) -> None:
        if not await self.requests.claim_pushed(digest_of(name), self.now()):
            raise AuthorizationRefused("The request was used.")

    async def _who(self, sent: Parameters) -> Client:
        ident = sent.get("client_id")
        client = await self.clients.find(ident) if ident else None
        if client is None:
            raise AuthorizationRefused("The application that sent you here is not known.")
        return client

    def _asking(self, client: Client, sent: Parameters) -> Asking:
        """Where to answer; before that is good, nothing is ever sent anywhere."""
        address = find_redirect_uri(client, sent.get("redirect_uri"))
        if address is None or "redirect_uri" in sent.repeated:
            raise AuthorizationRefused("The application did not register the address that it named.")
        return Asking(client, address, sent, self.settings.issuer)

    async def _must_ask(self, client: Client, wanted: Wanted, person: SignedIn) -> bool:
        if not client.asks_consent:
            return False
        if wanted.ask_again:
            return True
        consent = await self.requests.find_consent(person.account_id, client.id, self.now())
        return consent is None or not set(wanted.grant.scopes) <= set(consent.scopes)

    def _put_question(self, client: Client, wanted: Wanted, person: SignedIn) -> Question:
        at = self.now()
        row = AuthorizationRequest(
            id=new_uuid(),
            session_id=person.session_id,
            client_id=client.id,
            wanted=wanted.to_json(),
            created_at=at,
            expires_at=at + _QUESTION_LIFE,
            consumed_at=None,
        )
        self.requests.add_request(row)
        return Question(row.id, client.id, client.name, wanted.grant.scopes, wanted.grant.redirect_uri)

    async def decide(self, ident: UUID, person: SignedIn, *, agreed: bool) -> GoOn:
        """The answer to a question that was put to this session. Raises ConsentExpired or SentBack."""
        row = await self.requests.claim_request(ident, person.session_id, self.now())
        client = await self.clients.find(row.client_id) if row else None
        wanted = Wanted.from_json(row.client_id, row.wanted) if row else None
        if wanted is None or client is None or not _still_good(client, wanted):
            raise ConsentExpired
        if not agreed:
            self.audit.note(person.principal, "consent.denied", ("client", client.id))
            raise self._denied(wanted)
        await self._remember(client, wanted, person)
        return await self._go_on(wanted, person)

    def _denied(self, wanted: Wanted) -> SentBack:
        told = answer(wanted.state, self.settings.issuer, "access_denied", "The person did not agree.")
        return SentBackAndKept(wanted.grant.redirect_uri, told)

    async def _remember(self, client: Client, wanted: Wanted, person: SignedIn) -> None:
        at = self.now()
        before = await self.requests.find_consent(person.account_id, client.id, at)
        scopes = sorted({*wanted.grant.scopes, *(before.scopes if before else ())})
        consent = Consent(
            account_id=person.account_id,
            client_id=client.id,
            scopes=scopes,
            granted_at=at,
            expires_at=at + self.settings.tokens.consent_life,
        )
        await self.requests.keep_consent(consent)
        self.audit.note(person.principal, "consent.given", ("client", client.id), after={"scopes": scopes})

    async def _go_on(self, wanted: Wanted, person: SignedIn) -> GoOn:
        code = await self.grants.open(person, wanted.grant)
        told = {"code": code}
        if wanted.state is not None:
            told["state"] = wanted.state
        told["iss"] = self.settings.issuer
        return GoOn(with_parameters(wanted.grant.redirect_uri, told))

    async def list_consents(self, person: SignedIn) -> Sequence[Consent]:
        """Everything that the person agreed to and that is still remembered."""
        return await self.requests.list_consents(person.account_id, self.now())

    async def withdraw_consent(self, person: SignedIn, client_id: str) -> None:
        """Forget what was agreed and end everything that came of it."""
        if await self.requests.forget_consent(person.account_id, client_id):
            self.audit.note(person.principal, "consent.withdrawn", ("client", client_id))
        await self.grants.revoke_of_client(person.account_id, client_id)


def _still_good(client: Client, wanted: Wanted) -> bool:
    """Whether the client may still have what was put to the person, at the address that was shown."""
    grant = wanted.grant
    known = find_redirect_uri(client, grant.redirect_uri) is not None
    return known and set(grant.scopes) <= set(client.scopes)

"""Device authorization: begun by a device, confirmed by a person elsewhere, redeemed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from auth_server.audit.service import Audit
from auth_server.clients.errors import UnauthorizedClient
from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import Parameters
from auth_server.clients.schemas import ALL_SCOPES, GrantType, OpenIdScope
from auth_server.clients.service import ClientService
from auth_server.device import rules
from auth_server.device.errors import (
    AskedTooSoon,
    AuthorizationPending,
    DeviceCodeExpired,
    DeviceRefused,
    NothingToGive,
    UserCodeUnknown,
)
from auth_server.device.models import DeviceAuthorization
from auth_server.device.repository import DeviceRepository
from auth_server.device.schemas import Agreed, Begun, DeviceQuestion
from auth_server.sessions.rules import place_of
from auth_server.sessions.schemas import SignedIn
from auth_server.tokens.errors import InvalidGrant, InvalidScope
from auth_server.tokens.rules import scopes_for
from auth_server.tokens.schemas import Answer, TokenRequest
from auth_server.tokens.service import GrantService, RedemptionService
from shared.cache.throttling import SignInThrottle
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid
from shared.kernel.secrets import digest_of, mint

#: Long enough to fetch a telephone, short enough that a code is not guessed.
LIFE = timedelta(minutes=10)
_PAUSE_SECONDS = 5
_WRONG_PER_ACCOUNT = 10
_WRONG_PER_ADDRESS = 30


@dataclass(frozen=True, slots=True)
class DeviceService:
    """Device authorizations as one database session sees them."""

    devices: DeviceRepository
    clients: ClientService
    grants: GrantService
    redemption: RedemptionService
    audit: Audit
    throttle: SignInThrottle
    page: str
    now: Clock

    async def begin(self, client: Client, asked: Parameters) -> Begun:
        """Codes for a device and for its person (RFC 8628, section 3.2). Raises OAuthError."""
        if GrantType.DEVICE_CODE not in client.grant_types:
            raise UnauthorizedClient
        scopes = _read_scopes(client, asked.get("scope"))
        secret, at = mint(rules.DEVICE_PREFIX), self.now()
        user_code = await self._free_user_code()
        row = DeviceAuthorization(
            id=new_uuid(),
            client_id=client.id,
            digest=secret.digest,
            user_code_digest=_digest(user_code),
            scopes=list(scopes),
            created_at=at,
            expires_at=at + LIFE,
            pause_seconds=_PAUSE_SECONDS,
        )
        self.devices.add(row)
        return {
            "device_code": secret.text,
            "user_code": user_code,
            "verification_uri": self.page,
            "verification_uri_complete": f"{self.page}?user_code={user_code}",
            "expires_in": int(LIFE.total_seconds()),
            "interval": _PAUSE_SECONDS,
        }

    async def _free_user_code(self) -> str:
        code = rules.mint_user_code()
        while await self.devices.has_user_code(_digest(code)):
            code = rules.mint_user_code()
        return code

    async def ask(self, person: SignedIn, typed: str, address: str) -> DeviceQuestion:
        """What stands behind a code. Raises UserCodeUnknown, NothingToGive or SignInThrottled."""
        row, client = await self._find_waiting(person, typed, address)
        scopes = scopes_for(person.role, row.scopes)
        if not scopes:
            raise NothingToGive
        shown = rules.shown_user_code(rules.normal_user_code(typed) or "")
        return DeviceQuestion(client.id, client.name, shown, scopes)

    async def decide(self, person: SignedIn, typed: str, address: str, *, agreed: bool) -> None:
        """The person's answer, which counts once. Raises as `ask` does."""
        row, client = await self._find_waiting(person, typed, address)
        scopes = scopes_for(person.role, row.scopes)
        if agreed and not scopes:
            raise NothingToGive
        ident = new_uuid() if agreed else None
        if not await self.devices.claim_decision(row.id, ident, self.now()):
            raise UserCodeUnknown
        if ident is None:
            self.audit.note(person.principal, "device.refused", ("client", client.id))
            return
        await self.grants.add(ident, person, Agreed(client.id, scopes), row.digest)
        self.audit.note(person.principal, "device.confirmed", ("client", client.id))

    async def _find_waiting(
        self, person: SignedIn, typed: str, address: str
    ) -> tuple[DeviceAuthorization, Client]:
        """The device that waits for this code; whoever guesses is stopped (RFC 8628, section 5.1)."""
        async with self.throttle.attempt(_limits(person, address)):
            letters = rules.normal_user_code(typed)
            row = await self.devices.find_waiting(_digest(letters), self.now()) if letters else None
            client = await self.clients.find(row.client_id) if row else None
            if row is None or client is None:
                raise UserCodeUnknown
            return row, client

    async def redeem(self, client: Client, asked: TokenRequest) -> Answer:
        """Tokens for a device whose code was confirmed (RFC 8628, section 3.4). Raises OAuthError."""
        row = await self.devices.find_locked(digest_of(asked.form.require("device_code")))
        if row is None or row.client_id != client.id or row.consumed_at is not None:
            raise InvalidGrant
        if row.decided_at is None:
            await self._keep_waiting(row)
        if row.grant_id is None:
            raise DeviceRefused
        if row.expires_at <= self.now() or not await self.devices.claim_redemption(row.id, self.now()):
            raise DeviceCodeExpired
        family = await self.redemption.take_family(row.grant_id)
        return await self.redemption.give(family, client, asked.key_thumbprint)

    async def _keep_waiting(self, row: DeviceAuthorization) -> None:
        at = self.now()
        if row.expires_at <= at:
            raise DeviceCodeExpired
        pause = timedelta(seconds=row.pause_seconds)
        if row.polled_at is not None and at - row.polled_at < pause:
            await self.devices.note_question(row.id, at, row.pause_seconds + _PAUSE_SECONDS)
            raise AskedTooSoon
        await self.devices.note_question(row.id, at, row.pause_seconds)
        raise AuthorizationPending

    async def forget(self) -> None:
        """Delete what is long over; until then a late device is told that its code has expired."""
        await self.devices.forget_before(self.now() - timedelta(days=1))


def _read_scopes(client: Client, wanted: str | None) -> tuple[str, ...]:
    """What the client may ask for; who it is about, where it does not say. Raises InvalidScope."""
    asked = set((wanted or OpenIdScope.OPENID).split()) & set(client.scopes)
    if GrantType.REFRESH_TOKEN not in client.grant_types:
        asked.discard(OpenIdScope.OFFLINE_ACCESS)
    if not asked:
        raise InvalidScope
    return tuple(scope for scope in ALL_SCOPES if scope in asked)


def _limits(person: SignedIn, address: str) -> Mapping[str, int]:
    return {
        f"device:{person.account_id}": _WRONG_PER_ACCOUNT,
        f"device-address:{place_of(address)}": _WRONG_PER_ADDRESS,
    }


def _digest(user_code: str) -> str:
    return digest_of(f"user-code:{rules.normal_user_code(user_code)}")

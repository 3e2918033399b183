"""Signing out at a client's wish (RP-initiated), and telling clients of it (back-channel)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from auth_server.clients.models import Client
from auth_server.clients.rules.parameters import Parameters
from auth_server.clients.service import ClientService
from auth_server.sessions.schemas import SessionEnded, SignedIn
from auth_server.signing_keys.service import KeyRing
from auth_server.tokens.errors import LogoutRefused
from auth_server.tokens.models import BackchannelLogout
from auth_server.tokens.repository import LogoutRepository
from auth_server.tokens.schemas import EndOfSession
from auth_server.tokens.service.grants import GrantService
from auth_server.tokens.service.minting import ID_TOKEN, Minter
from shared.kernel.clock import Clock
from shared.kernel.ids import new_uuid

#: Doubled after every attempt, up to the longest; the last one comes after about four hours.
_PAUSE = timedelta(seconds=30)
_LONGEST_PAUSE = timedelta(hours=1)
_MOST_ATTEMPTS = 10
_AT_ONCE = 20


class Notice(NamedTuple):
    """One message to one client."""

    row: BackchannelLogout
    #: The registered address, and nothing else is ever called; None where the client is gone.
    address: str | None
    token: str


@dataclass(frozen=True, slots=True)
class LogoutService:
    """Logouts as one database session sees them."""

    families: GrantService
    logouts: LogoutRepository
    clients: ClientService
    minter: Minter
    keys: KeyRing
    now: Clock

    async def judge(self, signed_in: SignedIn | None, asked: Parameters) -> EndOfSession:
        """What a request to the logout endpoint comes to. Raises LogoutRefused.

        The cookie says whose session it is about; a hint only says whether the client may end it unasked.
        """
        asked.refuse_repetition()
        hint = await self._read_hint(asked.get("id_token_hint"))
        client = await self._find_client(asked.get("client_id"), hint)
        address = asked.get("post_logout_redirect_uri")
        if address is not None and (client is None or address not in client.post_logout_redirect_uris):
            raise LogoutRefused("The address to go to afterwards is not registered.")
        vouched = hint is not None and (signed_in is None or _is_about(hint, signed_in))
        return EndOfSession(
            confirm=signed_in is not None and not vouched,
            ends=signed_in is not None and vouched,
            client_id=client.id if client else None,
            redirect_uri=address if vouched or signed_in is not None else None,
            state=asked.get("state"),
        )

    async def _read_hint(self, hint: str | None) -> dict[str, Any] | None:
        """The claims of an ID token of ours, expired or not. Raises LogoutRefused."""
        if hint is None:
            return None
        claims = await self.keys.verify(hint, ID_TOKEN)
        if claims is None or claims.get("iss") != self.minter.issuer or not claims.get("aud"):
            raise LogoutRefused("The hint is not an ID token of this server.")
        return claims

    async def _find_client(self, named: str | None, hint: dict[str, Any] | None) -> Client | None:
        if hint is not None and named not in {None, hint["aud"]}:
            raise LogoutRefused("The hint was given to another client.")
        ident = named or (str(hint["aud"]) if hint else None)
        if ident is None:
            return None
        client = await self.clients.find(ident)
        if client is None:
            raise LogoutRefused("The client is not known.")
        return client

    async def note_end(self, ended: SessionEnded) -> bool:
        """Queue a message for every client of the session that wants one; whether there is any."""
        queued = False
        for client_id in await self.families.grants.list_clients_of_session(ended.session_id):
            client = await self.clients.find(client_id)
            if client is not None and client.backchannel_logout_uri is not None:
                self.logouts.add(self._row(client_id, ended))
                queued = True
        return queued

    def _row(self, client_id: str, ended: SessionEnded) -> BackchannelLogout:
        return BackchannelLogout(
            id=new_uuid(),
            client_id=client_id,
            account_id=ended.account_id,
            session_id=ended.session_id,
            created_at=self.now(),
            due_at=self.now(),
            attempts=0,
        )

    async def take_due(self) -> Sequence[Notice]:
        """What is to be sent now; each is sent by one process at a time."""
        rows = await self.logouts.claim_due(self.now(), _PAUSE, _AT_ONCE)
        return [await self._notice(row) for row in rows]

    async def _notice(self, row: BackchannelLogout) -> Notice:
        client = await self.clients.find(row.client_id)
        token = await self.minter.logout_token(row.client_id, str(row.account_id), str(row.session_id))
        return Notice(row, client.backchannel_logout_uri if client else None, token)

    async def forget_told(self, told: Sequence[Notice], refused: Sequence[Notice]) -> None:
        """Forget those that know, and those that did not listen often enough; ask the rest less and less."""
        given_up = [notice for notice in refused if notice.row.attempts >= _MOST_ATTEMPTS]
        for notice in refused:
            pause = min(_PAUSE * 2 ** (notice.row.attempts - 1), _LONGEST_PAUSE)
            # The attempt itself has put it off by the first pause already.
            await self.logouts.postpone(notice.row.id, notice.row.due_at + pause - _PAUSE)
        await self.logouts.forget([notice.row.id for notice in (*told, *given_up)])


def _is_about(hint: dict[str, Any], signed_in: SignedIn) -> bool:
    same_person = hint.get("sub") == str(signed_in.account_id)
    return same_person and hint.get("sid") == str(signed_in.session_id)

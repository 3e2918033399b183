"""The longest and strangest that people, programs and the registry may call things."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from auth_server.accounts.models import Account, Invitation
from auth_server.audit.dependencies import audit_service
from auth_server.authorization.models import Consent
from auth_server.clients.dependencies import client_administration
from auth_server.clients.schemas import ALL_SCOPES, ClientCreate, GrantType
from auth_server.ownership.models import OwnershipChallenge, OwnershipProof
from auth_server.passkeys.models import Passkey
from auth_server.resources import AuthResources, open_resources
from auth_server.sessions.models import BrowserSession
from routeloom.lite.configuration import Addresses, lite_settings
from routeloom.lite.home import Home
from shared.kernel.ids import new_uuid
from shared.kernel.principal import SYSTEM
from shared.kernel.secrets import digest_of
from tests.journeys.lite import Lite

#: A login name, a person, a maintainer and a client of the greatest length, without a place to break.
LOGIN = "wide.w-" + "w" * 25
PERSON = "W" * 64
MAINTAINERS = ("MAINTAINER-OF-A-VERY-LARGE-NETWORK-MNT", "W" * 76 + "-MNT")
CLIENT_ID = "w" * 128
CLIENT = "W" * 80
REDIRECT = f"http://127.0.0.1/{'w' * 200}"
NAMES = (
    "W" * 64,
    "مفتاح المرور الخاص بالحاسوب المحمول في غرفة الخوادم الكبيرة جدا",
    "👩‍👩‍👧‍👦" * 9,
    "路由器管理员的笔记本电脑上的通行密钥" * 3,
    "<b>bold</b>\u202e desrever",
    "a b c " * 10,
)
BROWSERS = ("Microsoft Edge on Windows", "W" * 60, "")
FROM = ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "203.0.113.255")
_FINGERPRINT = "SHA256:" + "W" * 43
_LINE = f"routeloom-ownership {'w' * 200}"
DAY = timedelta(days=1)


def fill(server: Lite, login: str) -> dict[str, str]:
    """Give the account of this name all of it; what stands in the places of paths."""
    settings = lite_settings(Home(server.home), Addresses(server.url, server.url), "ERROR").auth()

    async def do() -> dict[str, str]:
        async with open_resources(settings) as resources:
            return await _fill(resources, login)

    # In a thread, because the browser's driver has the loop of this one.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(do())).result()


async def _fill(resources: AuthResources, login: str) -> dict[str, str]:
    at = resources.now()
    async with resources.database.transaction() as session:
        account = await session.scalar(select(Account.id).where(Account.name == login))
        seat = await session.scalar(select(BrowserSession.id).where(BrowserSession.account_id == account))
        assert account is not None
        assert seat is not None
        await session.execute(
            update(Account).where(Account.id == account).values(name=LOGIN, display_name=PERSON)
        )
        audit = audit_service(session, resources.now)
        await client_administration(resources, session, audit).create(SYSTEM, _client())
        await session.flush()
        session.add_all([*_keys(account, at), *_sessions(account, at), *_proofs(account, at)])
        session.add(_consent(account, at))
        session.add(challenge := _challenge(account, seat, at))
        session.add(_invitation(at))
    return {"account_id": str(account), "challenge_id": str(challenge.id), "client_id": CLIENT_ID}


def _client() -> ClientCreate:
    return ClientCreate(
        client_id=CLIENT_ID,
        name=CLIENT,
        native=True,
        confidential=False,
        redirect_uris=(REDIRECT,),
        grant_types=(GrantType.AUTHORIZATION_CODE, GrantType.REFRESH_TOKEN, GrantType.DEVICE_CODE),
        scopes=ALL_SCOPES,
    )


def _keys(account: UUID, at: datetime) -> list[Passkey]:
    return [
        Passkey(
            id=new_uuid(),
            account_id=account,
            credential_id=new_uuid().bytes,
            public_key=b"",
            sign_count=0,
            backup_eligible=True,
            backed_up=number % 2 == 0,
            transports=["hybrid"],
            aaguid=str(new_uuid()),
            name=NAMES[number % len(NAMES)],
            created_at=at - 300 * DAY,
            last_used_at=None if number % 2 else at - 299 * DAY,
        )
        for number in range(18)
    ]


def _sessions(account: UUID, at: datetime) -> list[BrowserSession]:
    return [
        BrowserSession(
            id=(ident := new_uuid()),
            digest=digest_of(str(ident)),
            account_id=account,
            auth_time=at - DAY,
            amr=["pop"],
            stepped_up_at=None,
            device=BROWSERS[number % len(BROWSERS)],
            user_agent="",
            from_address=FROM[number % len(FROM)],
            created_at=at - DAY,
            last_used_at=at - DAY,
            expires_at=at + DAY,
            ended_at=None,
            end_reason=None,
        )
        for number in range(6)
    ]


def _proofs(account: UUID, at: datetime) -> list[OwnershipProof]:
    return [
        OwnershipProof(
            id=new_uuid(),
            account_id=account,
            mntner=mntner,
            method="ssh-ed25519",
            key="",
            fingerprint=_FINGERPRINT,
            asn=4294967294,
            asns=[4294967294 - each for each in range(12)],
            claims={"mntner": mntner},
            active=number == 0,
            proved_at=at - timedelta(minutes=number),
            checked_at=at,
            ended_at=None,
            end_reason=None,
        )
        for number, mntner in enumerate(MAINTAINERS)
    ]


def _consent(account: UUID, at: datetime) -> Consent:
    return Consent(
        account_id=account,
        client_id=CLIENT_ID,
        scopes=list(ALL_SCOPES),
        granted_at=at - 170 * DAY,
        expires_at=at + DAY,
    )


def _challenge(account: UUID, seat: UUID, at: datetime) -> OwnershipChallenge:
    key: dict[str, Any] = {
        "method": "ssh-ed25519",
        "fingerprint": _FINGERPRINT,
        "command": f"printf %s '{_LINE}' | ssh-keygen -Y sign -n routeloom-ownership -f ~/.ssh/id_ed25519",
        "export_command": "",
        "weak": False,
    }
    return OwnershipChallenge(
        id=new_uuid(),
        account_id=account,
        session_id=seat,
        mntner=MAINTAINERS[1],
        asn=None,
        text=_LINE,
        keys=[key, {**key, "method": "pgp-fingerprint", "fingerprint": "W" * 40}],
        attempts=0,
        created_at=at,
        expires_at=at + timedelta(hours=1),
        consumed_at=None,
    )


def _invitation(at: datetime) -> Invitation:
    return Invitation(
        id="w" * 12,
        digest=digest_of("w" * 12),
        role="viewer",
        note="W" * 80,
        created_by=LOGIN,
        created_at=at,
        expires_at=at + DAY,
        consumed_at=None,
        revoked_at=None,
        account_id=None,
    )

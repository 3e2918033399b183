"""Where authorization codes are. A code carries its store's tag and is looked up there only.

So a tier that comes and goes can never let one code be spent once in each store.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.keys import CODE, CODE_USED
from auth_server.tokens.errors import InvalidGrant
from auth_server.tokens.models import OauthCode
from auth_server.tokens.rules import mint_code, tag_of
from auth_server.tokens.schemas import CodePayload, StoredCode
from shared.cache import Cache, TakeOutcome, TierUnavailable

_PAYLOAD = TypeAdapter(CodePayload)
_USED_SECONDS = 600
#: What a process remembers at most of one kind: some megabytes.
_MOST_REMEMBERED = 2_048

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Remembered(Generic[V]):
    """What stands under a hash in a store and never changes there, for the process that stored it itself.

    It saves the question before the use, not the use: what may be used once is claimed where it is kept.
    Only the newest are remembered, and each until somebody asks.
    """

    _kept: OrderedDict[str, V] = field(default_factory=OrderedDict, repr=False)

    def keep(self, digest: str, value: V) -> None:
        """Remember what was stored."""
        self._kept[digest] = value
        if len(self._kept) > _MOST_REMEMBERED:
            self._kept.popitem(last=False)

    def take(self, digest: str) -> V | None:
        """What was stored, once."""
        return self._kept.pop(digest, None)


class CodeStore(Protocol):
    """Keeps codes by their hash. Taking one leaves a tombstone in the same step."""

    @property
    def tag(self) -> str:
        """The character by which codes name this store."""

    async def put(self, digest: str, payload: CodePayload) -> None:
        """Keep a fresh code."""

    async def find(self, digest: str) -> StoredCode | None:
        """The code or its tombstone; expiry is the caller's to judge."""

    async def take(self, digest: str, at: datetime) -> bool:
        """Spend the code; False for every caller but one."""

    async def note_failure(self, digest: str) -> int:
        """Count a wrong verifier; answers how many there were."""

    async def forget_before(self, at: datetime) -> None:
        """Drop codes and tombstones that expired before this instant; grants remember the hashes."""


@dataclass(frozen=True, slots=True)
class SqlCodeStore:
    """Codes in `oauth_codes`, inside the caller's transaction."""

    session: AsyncSession
    tag: str = "s"

    async def put(self, digest: str, payload: CodePayload) -> None:
        """Keep a fresh code."""
        self.session.add(
            OauthCode(
                digest=digest,
                grant_id=payload.grant_id,
                client_id=payload.client_id,
                redirect_uri=payload.redirect_uri,
                redirect_uri_named=payload.redirect_uri_named,
                code_challenge=payload.code_challenge,
                nonce=payload.nonce,
                key_thumbprint=payload.key_thumbprint,
                created_at=payload.created_at,
                expires_at=payload.expires_at,
                consumed_at=None,
                failures=0,
            )
        )

    async def find(self, digest: str) -> StoredCode | None:
        """The code or its tombstone."""
        row = await self.session.scalar(select(OauthCode).where(OauthCode.digest == digest))
        if row is None:
            return None
        payload = CodePayload(
            grant_id=row.grant_id,
            client_id=row.client_id,
            redirect_uri=row.redirect_uri,
            redirect_uri_named=row.redirect_uri_named,
            code_challenge=row.code_challenge,
            nonce=row.nonce,
            created_at=row.created_at,
            expires_at=row.expires_at,
            key_thumbprint=row.key_thumbprint,
        )
        return StoredCode(payload, row.consumed_at is not None, row.failures)

    async def take(self, digest: str, at: datetime) -> bool:
        """Spend the code; False for every caller but one."""
        statement = (
            update(OauthCode)
            .where(OauthCode.digest == digest, OauthCode.consumed_at.is_(None))
            .values(consumed_at=at)
            .returning(OauthCode.digest)
        )
        return await self.session.scalar(statement) is not None

    async def note_failure(self, digest: str) -> int:
        """Count a wrong verifier; answers how many there were."""
        statement = (
            update(OauthCode)
            .where(OauthCode.digest == digest)
            .values(failures=OauthCode.failures + 1)
            .returning(OauthCode.failures)
        )
        return await self.session.scalar(statement) or 0

    async def forget_before(self, at: datetime) -> None:
        """Delete codes and tombstones that expired before this instant; grants remember the hashes."""
        await self.session.execute(delete(OauthCode).where(OauthCode.expires_at < at))


@dataclass(frozen=True, slots=True)
class KvCodeStore:
    """Codes on the kv tier. A code that the tier cannot find is unknown, and the person authorises again."""

    kv: Cache
    tag: str = "k"
    issued: Remembered[CodePayload] = field(default_factory=Remembered)

    async def put(self, digest: str, payload: CodePayload) -> None:
        """Keep a fresh code. Raises TierUnavailable."""
        value = {"payload": _PAYLOAD.dump_python(payload, mode="json"), "failures": 0}
        life = (payload.expires_at - payload.created_at).total_seconds()
        await self.kv.set_json(CODE.key(digest=digest), value, ttl_seconds=life)
        self.issued.keep(digest, payload)

    async def find_unspent(self, digest: str) -> CodePayload | None:
        """What a code stands for that may be spent, as far as anybody can tell before it is."""
        payload = self.issued.take(digest)
        if payload is not None:
            return payload
        found = await self.find(digest)
        return None if found is None or found.taken else found.payload

    async def find(self, digest: str) -> StoredCode | None:
        """The code or its tombstone."""
        try:
            code, used = await self.kv.get_many_json([CODE.key(digest=digest), CODE_USED.key(digest=digest)])
        except TierUnavailable:
            return None
        value = code or used
        if value is None:
            return None
        return StoredCode(_PAYLOAD.validate_python(value["payload"]), code is None, value["failures"])

    async def take(self, digest: str, at: datetime) -> bool:
        """Spend the code. Raises InvalidGrant where nobody can say whether this call has spent it."""
        del at
        outcome = await self._take(digest)
        if outcome is TakeOutcome.ABSENT:
            raise InvalidGrant
        return outcome is TakeOutcome.TAKEN

    async def take_unspent(self, digest: str) -> bool:
        """The same for a code that the tier may not have any more; False also where it has not."""
        return await self._take(digest) is TakeOutcome.TAKEN

    async def _take(self, digest: str) -> TakeOutcome:
        code, used = CODE.key(digest=digest), CODE_USED.key(digest=digest)
        try:
            return (await self.kv.take_and_tombstone(code, used, ttl_seconds=_USED_SECONDS)).outcome
        except TierUnavailable:
            raise InvalidGrant from None

    async def note_failure(self, digest: str) -> int:
        """Count a wrong verifier; answers how many there were."""
        key = CODE.key(digest=digest)
        try:
            while (seen := await self.kv.get_json(key)) is not None:
                payload = _PAYLOAD.validate_python(seen["payload"])
                life = (payload.expires_at - payload.created_at).total_seconds()
                more = {**seen, "failures": seen["failures"] + 1}
                # The whole life again, which harms nobody: the payload says until when the code is good.
                if await self.kv.exchange(key, seen, more, ttl_seconds=life):
                    return int(more["failures"])
        except TierUnavailable:
            return 0
        return 0

    async def forget_before(self, at: datetime) -> None:
        """The tier forgets by itself."""


@dataclass(frozen=True, slots=True)
class CodeStores:
    """The tier where it takes a code, else SQL. Which of them keeps a code, the code itself says."""

    sql: SqlCodeStore
    kv: KvCodeStore | None = None

    async def issue(self, payload: CodePayload, add_grant: Callable[[str], Awaitable[None]]) -> str:
        """A fresh code; `add_grant` stores its family, which a row of SQL needs first."""
        if self.kv is not None:
            code = mint_code(self.kv.tag)
            try:
                await self.kv.put(code.digest, payload)
            except TierUnavailable:
                pass  # nobody has seen that code; the next one is another
            else:
                await add_grant(code.digest)
                return code.text
        code = mint_code(self.sql.tag)
        await add_grant(code.digest)
        await self.sql.put(code.digest, payload)
        return code.text

    def of(self, code: str) -> CodeStore | None:
        """The store that keeps this code, and no other is asked."""
        stores: list[CodeStore] = [self.sql, *([self.kv] if self.kv else [])]
        return next((store for store in stores if store.tag == tag_of(code)), None)

    async def forget_before(self, at: datetime) -> None:
        """Drop what expired before this instant."""
        await self.sql.forget_before(at)

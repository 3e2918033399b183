"""SQL of signing keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.signing_keys.models import SigningKey
from auth_server.signing_keys.schemas import Algorithm, Stage
from shared.database import after_commit

_ORDER = case({Stage.CURRENT.value: 0, Stage.NEXT.value: 1}, value=SigningKey.stage, else_=2)


@dataclass(frozen=True, slots=True)
class SigningKeyRepository:
    """Signing keys in one session of the database."""

    session: AsyncSession
    #: Told after the commit of a change.
    changed: Callable[[], Awaitable[None]]

    async def find(self, kid: str) -> SigningKey | None:
        """The key of this id."""
        return await self.session.get(SigningKey, kid)

    async def find_at(self, algorithm: Algorithm, stage: Stage) -> SigningKey | None:
        """The key of this algorithm at a stage that holds one only."""
        return await self.session.scalar(
            select(SigningKey)
            .where(SigningKey.algorithm == algorithm, SigningKey.stage == stage)
            .execution_options(populate_existing=True)
        )

    async def list_all(self) -> Sequence[SigningKey]:
        """Every key: those that sign, those that will, those that did."""
        query = select(SigningKey).order_by(_ORDER, SigningKey.retired_at.desc(), SigningKey.algorithm)
        return (await self.session.scalars(query)).all()

    async def claim_stage(self, key: SigningKey) -> bool:
        """Store a new key; False where its stage is taken, also by a transaction at the same time."""
        insert = postgresql.insert if self.session.get_bind().dialect.name == "postgresql" else sqlite.insert
        values = {
            "kid": key.kid,
            "algorithm": key.algorithm,
            "stage": key.stage,
            "public_jwk": key.public_jwk,
            "sealed_private_jwk": key.sealed_private_jwk,
            "created_at": key.created_at,
            "retired_at": None,
        }
        statement = insert(SigningKey).values(values).on_conflict_do_nothing().returning(SigningKey.kid)
        return await self.session.scalar(statement) is not None

    async def claim_retirement(self, algorithm: Algorithm, at: datetime) -> bool:
        """Take the current key out of use; False for every caller but one."""
        statement = (
            update(SigningKey)
            .where(SigningKey.algorithm == algorithm, SigningKey.stage == Stage.CURRENT)
            .values(stage=Stage.PREVIOUS, retired_at=at)
            .returning(SigningKey.kid)
        )
        after_commit(self.session, self.changed)
        return await self.session.scalar(statement) is not None

    async def promote_next(self, algorithm: Algorithm) -> None:
        """Let the published next key sign from now on."""
        await self.session.execute(
            update(SigningKey)
            .where(SigningKey.algorithm == algorithm, SigningKey.stage == Stage.NEXT)
            .values(stage=Stage.CURRENT)
        )

    async def delete(self, kid: str) -> None:
        """Forget a key; what it signed is worthless from here on."""
        after_commit(self.session, self.changed)
        await self.session.execute(delete(SigningKey).where(SigningKey.kid == kid))

    async def forget_retired_before(self, at: datetime) -> None:
        """Delete keys that no living token can be signed with."""
        await self.session.execute(
            delete(SigningKey).where(SigningKey.stage == Stage.PREVIOUS, SigningKey.retired_at < at)
        )

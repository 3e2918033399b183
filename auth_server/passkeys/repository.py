"""SQL of passkeys and recovery codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from auth_server.passkeys.models import Passkey, RecoveryCode
from auth_server.passkeys.schemas import Assertion


@dataclass(frozen=True, slots=True)
class PasskeyRepository:
    """Passkeys and recovery codes in one session of the database."""

    session: AsyncSession

    async def find(self, credential_id: bytes) -> Passkey | None:
        """The passkey of this credential id, whoever owns it."""
        return await self.session.scalar(select(Passkey).where(Passkey.credential_id == credential_id))

    async def list(self, account_id: UUID) -> Sequence[Passkey]:
        """The account's passkeys, oldest first."""
        query = select(Passkey).where(Passkey.account_id == account_id).order_by(Passkey.created_at)
        return (await self.session.scalars(query)).all()

    async def claim_credential(self, passkey: Passkey) -> bool:
        """Store a new passkey; False where anybody has this credential id, also at the same time."""
        insert = postgresql.insert if self.session.get_bind().dialect.name == "postgresql" else sqlite.insert
        columns = Passkey.__table__.columns.keys()
        statement = (
            insert(Passkey)
            .values({name: getattr(passkey, name) for name in columns})
            .on_conflict_do_nothing(index_elements=[Passkey.credential_id])
            .returning(Passkey.id)
        )
        return await self.session.scalar(statement) is not None

    async def claim_use(self, ident: UUID, said: Assertion, at: datetime) -> bool:
        """Note a use whose counter went on, or that counts nothing; False where it went back."""
        went_on = Passkey.sign_count < said.sign_count if said.sign_count else Passkey.sign_count == 0
        statement = (
            update(Passkey)
            .where(Passkey.id == ident, went_on)
            .values(sign_count=said.sign_count, backed_up=said.backed_up, last_used_at=at)
            .returning(Passkey.id)
        )
        return await self.session.scalar(statement) is not None

    async def rename(self, account_id: UUID, ident: UUID, name: str) -> Passkey | None:
        """Give one of the account's passkeys another name; None when it has no such passkey."""
        return await self.session.scalar(
            update(Passkey)
            .where(Passkey.id == ident, Passkey.account_id == account_id)
            .values(name=name)
            .returning(Passkey)
        )

    async def claim_removal(self, account_id: UUID, ident: UUID) -> Passkey | None:
        """Delete one of the account's passkeys; None for every caller but one."""
        return await self.session.scalar(
            delete(Passkey).where(Passkey.id == ident, Passkey.account_id == account_id).returning(Passkey)
        )

    async def replace_codes(self, account_id: UUID, codes: Sequence[RecoveryCode]) -> None:
        """Put these in place of all earlier codes."""
        await self.session.execute(delete(RecoveryCode).where(RecoveryCode.account_id == account_id))
        self.session.add_all(codes)

    async def find_code(self, account_id: UUID, selector: str) -> RecoveryCode | None:
        """The unused code of this selector."""
        return await self.session.scalar(
            select(RecoveryCode).where(
                RecoveryCode.account_id == account_id,
                RecoveryCode.selector == selector,
                RecoveryCode.used_at.is_(None),
            )
        )

    async def count_codes(self, account_id: UUID) -> int:
        """How many codes are good."""
        query = select(func.count()).select_from(RecoveryCode)
        query = query.where(RecoveryCode.account_id == account_id, RecoveryCode.used_at.is_(None))
        return await self.session.scalar(query) or 0

    async def claim_code(self, ident: UUID, at: datetime) -> bool:
        """Spend a code; False for every caller but one."""
        statement = (
            update(RecoveryCode)
            .where(RecoveryCode.id == ident, RecoveryCode.used_at.is_(None))
            .values(used_at=at)
            .returning(RecoveryCode.id)
        )
        return await self.session.scalar(statement) is not None

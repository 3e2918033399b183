"""Challenges and proofs of maintainership."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_challenges()
    _create_proofs()


def downgrade() -> None:
    op.drop_table("ownership_proofs")
    op.drop_table("ownership_challenges")


def _create_challenges() -> None:
    table = "ownership_challenges"
    op.create_table(
        table,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("mntner", sa.Text(), nullable=False),
        sa.Column("asn", sa.BigInteger(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("keys", JsonValue, nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=f"fk_{table}_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_account_id", table, ["account_id"], unique=False)
    op.create_index(f"ix_{table}_expires_at", table, ["expires_at"], unique=False)


def _create_proofs() -> None:
    table = "ownership_proofs"
    op.create_table(
        table,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("mntner", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("asn", sa.BigInteger(), nullable=True),
        sa.Column("asns", JsonValue, nullable=False),
        sa.Column("claims", JsonValue, nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("proved_at", UtcDateTime(), nullable=False),
        sa.Column("checked_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("end_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=f"fk_{table}_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_account_id", table, ["account_id"], unique=False)
    op.create_index(f"ix_{table}_checked_at", table, ["checked_at"], unique=False)

"""Keys and demands of clients, device authorizations, pushed requests, used proofs, ended tokens."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("clients", sa.Column("public_keys", JsonValue, nullable=True))
    op.add_column("clients", sa.Column("role", sa.Text(), nullable=True))
    for demand in ("requires_pushed", "requires_dpop"):
        op.add_column("clients", sa.Column(demand, sa.Boolean(), nullable=False, server_default=sa.false()))
    for table in ("oauth_codes", "refresh_tokens"):
        op.add_column(table, sa.Column("key_thumbprint", sa.Text(), nullable=True))
    _create_device_authorizations()
    _create_pushed_requests()
    _create_kept_until_they_expire("used_proofs", "digest")
    _create_kept_until_they_expire("ended_tokens", "jti")


def downgrade() -> None:
    for table in ("ended_tokens", "used_proofs", "pushed_requests", "device_authorizations"):
        op.drop_table(table)
    for table in ("refresh_tokens", "oauth_codes"):
        op.drop_column(table, "key_thumbprint")
    for column in ("requires_dpop", "requires_pushed", "role", "public_keys"):
        op.drop_column("clients", column)


def _create_device_authorizations() -> None:
    op.create_table(
        "device_authorizations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("user_code_digest", sa.Text(), nullable=False),
        sa.Column("scopes", JsonValue, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("pause_seconds", sa.BigInteger(), nullable=False),
        sa.Column("polled_at", UtcDateTime(), nullable=True),
        sa.Column("decided_at", UtcDateTime(), nullable=True),
        sa.Column("grant_id", sa.Uuid(), nullable=True),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_device_authorizations_client_id_clients"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_device_authorizations"),
        sa.UniqueConstraint("digest", name="uq_device_authorizations_digest"),
        sa.UniqueConstraint("user_code_digest", name="uq_device_authorizations_user_code_digest"),
    )
    op.create_index(
        "ix_device_authorizations_expires_at", "device_authorizations", ["expires_at"], unique=False
    )


def _create_pushed_requests() -> None:
    op.create_table(
        "pushed_requests",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("parameters", JsonValue, nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["client_id"], ["clients.id"], name="fk_pushed_requests_client_id_clients"),
        sa.PrimaryKeyConstraint("digest", name="pk_pushed_requests"),
    )
    op.create_index("ix_pushed_requests_expires_at", "pushed_requests", ["expires_at"], unique=False)


def _create_kept_until_they_expire(table: str, key: str) -> None:
    op.create_table(
        table,
        sa.Column(key, sa.Text(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint(key, name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_expires_at", table, ["expires_at"], unique=False)

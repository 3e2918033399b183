"""Signing keys, clients, grants with their codes and refresh tokens, consents, and logouts to be told."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_signing_keys()
    _create_clients()
    _create_grants()
    _create_oauth_codes()
    _create_refresh_tokens()
    _create_backchannel_logouts()
    _create_consents()
    _create_authorization_requests()


def downgrade() -> None:
    op.drop_table("authorization_requests")
    op.drop_table("consents")
    op.drop_table("backchannel_logouts")
    op.drop_table("refresh_tokens")
    op.drop_table("oauth_codes")
    op.drop_table("grants")
    op.drop_table("clients")
    op.drop_table("signing_keys")


def _create_signing_keys() -> None:
    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.Text(), nullable=False),
        sa.Column("algorithm", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("public_jwk", JsonValue, nullable=False),
        sa.Column("sealed_private_jwk", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("retired_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("kid", name="pk_signing_keys"),
    )
    one_of_each = sa.text("stage <> 'previous'")
    op.create_index(
        "uq_signing_keys_stage",
        "signing_keys",
        ["algorithm", "stage"],
        unique=True,
        sqlite_where=one_of_each,
        postgresql_where=one_of_each,
    )


def _create_clients() -> None:
    op.create_table(
        "clients",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_digest", sa.Text(), nullable=True),
        sa.Column("native", sa.Boolean(), nullable=False),
        sa.Column("first_party", sa.Boolean(), nullable=False),
        sa.Column("redirect_uris", JsonValue, nullable=False),
        sa.Column("post_logout_redirect_uris", JsonValue, nullable=False),
        sa.Column("backchannel_logout_uri", sa.Text(), nullable=True),
        sa.Column("grant_types", JsonValue, nullable=False),
        sa.Column("scopes", JsonValue, nullable=False),
        sa.Column("origins", JsonValue, nullable=False),
        sa.Column("audiences", JsonValue, nullable=False),
        sa.Column("id_token_signed_response_alg", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_clients"),
    )


def _create_grants() -> None:
    op.create_table(
        "grants",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("scopes", JsonValue, nullable=False),
        sa.Column("offline", sa.Boolean(), nullable=False),
        sa.Column("auth_time", UtcDateTime(), nullable=False),
        sa.Column("amr", JsonValue, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("code_digest", sa.Text(), nullable=False),
        sa.Column("code_consumed_at", UtcDateTime(), nullable=True),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.Column("revoke_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_grants_account_id_accounts"),
        sa.ForeignKeyConstraint(["client_id"], ["clients.id"], name="fk_grants_client_id_clients"),
        sa.PrimaryKeyConstraint("id", name="pk_grants"),
        sa.UniqueConstraint("code_digest", name="uq_grants_code_digest"),
    )
    for column in ("account_id", "client_id", "session_id", "expires_at"):
        op.create_index(f"ix_grants_{column}", "grants", [column], unique=False)


def _create_oauth_codes() -> None:
    op.create_table(
        "oauth_codes",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("grant_id", sa.Uuid(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("redirect_uri_named", sa.Boolean(), nullable=False),
        sa.Column("code_challenge", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["grant_id"], ["grants.id"], name="fk_oauth_codes_grant_id_grants"),
        sa.PrimaryKeyConstraint("digest", name="pk_oauth_codes"),
    )
    op.create_index("ix_oauth_codes_grant_id", "oauth_codes", ["grant_id"], unique=False)
    op.create_index("ix_oauth_codes_expires_at", "oauth_codes", ["expires_at"], unique=False)


def _create_refresh_tokens() -> None:
    op.create_table(
        "refresh_tokens",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("grant_id", sa.Uuid(), nullable=False),
        sa.Column("parent_digest", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.Column("sealed_answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["grant_id"], ["grants.id"], name="fk_refresh_tokens_grant_id_grants"),
        sa.PrimaryKeyConstraint("digest", name="pk_refresh_tokens"),
        sa.UniqueConstraint("parent_digest", name="uq_refresh_tokens_parent_digest"),
    )
    op.create_index("ix_refresh_tokens_grant_id", "refresh_tokens", ["grant_id"], unique=False)
    op.create_index("ix_refresh_tokens_expires_at", "refresh_tokens", ["expires_at"], unique=False)


def _create_backchannel_logouts() -> None:
    op.create_table(
        "backchannel_logouts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_backchannel_logouts_client_id_clients"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_backchannel_logouts"),
    )
    op.create_index("ix_backchannel_logouts_due_at", "backchannel_logouts", ["due_at"], unique=False)


def _create_consents() -> None:
    op.create_table(
        "consents",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("scopes", JsonValue, nullable=False),
        sa.Column("granted_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_consents_account_id_accounts"),
        sa.ForeignKeyConstraint(["client_id"], ["clients.id"], name="fk_consents_client_id_clients"),
        sa.PrimaryKeyConstraint("account_id", "client_id", name="pk_consents"),
    )


def _create_authorization_requests() -> None:
    op.create_table(
        "authorization_requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("wanted", JsonValue, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_authorization_requests_client_id_clients"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_authorization_requests"),
    )
    op.create_index(
        "ix_authorization_requests_expires_at", "authorization_requests", ["expires_at"], unique=False
    )

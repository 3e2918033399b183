"""Sign-ins on their way, what a portal session hangs on, and logout tokens that were obeyed."""

import sqlalchemy as sa
from alembic import op

from shared.database import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_logins()
    _create_logout_tokens()
    for name in ("sub", "sid", "grant_id", "id_token"):
        op.add_column("portal_sessions", sa.Column(name, sa.Text(), nullable=True))
    op.add_column("portal_sessions", sa.Column("stepped_up_at", UtcDateTime(), nullable=True))
    op.create_index("ix_portal_sessions_sub", "portal_sessions", ["sub"], unique=False)
    op.create_index("ix_portal_sessions_sid", "portal_sessions", ["sid"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_portal_sessions_sid", "portal_sessions")
    op.drop_index("ix_portal_sessions_sub", "portal_sessions")
    for name in ("stepped_up_at", "id_token", "grant_id", "sid", "sub"):
        op.drop_column("portal_sessions", name)
    op.drop_table("portal_logout_tokens")
    op.drop_table("portal_login_transactions")


def _create_logins() -> None:
    op.create_table(
        "portal_login_transactions",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("browser", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("verifier", sa.Text(), nullable=False),
        sa.Column("next_page", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_portal_login_transactions"),
    )
    op.create_index(
        "ix_portal_login_transactions_expires_at", "portal_login_transactions", ["expires_at"], unique=False
    )


def _create_logout_tokens() -> None:
    op.create_table(
        "portal_logout_tokens",
        sa.Column("jti", sa.Text(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("jti", name="pk_portal_logout_tokens"),
    )
    op.create_index(
        "ix_portal_logout_tokens_expires_at", "portal_logout_tokens", ["expires_at"], unique=False
    )

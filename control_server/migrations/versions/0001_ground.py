"""Nodes, agents, enrolment, tokens, sessions and the audit trail."""

import sqlalchemy as sa
from alembic import op

from shared.database import JsonValue, UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_api_tokens()
    _create_audit_events()
    _create_enrolment_challenges()
    _create_enrolment_tokens()
    _create_nodes()
    _create_portal_sessions()
    _create_registrations()
    _create_session_links()
    _create_agent_tokens()
    _create_agents()
    _guard()


def downgrade() -> None:
    op.drop_table("agents")
    op.drop_table("agent_tokens")
    op.drop_table("session_links")
    op.drop_table("registrations")
    op.drop_table("portal_sessions")
    op.drop_table("nodes")
    op.drop_table("enrolment_tokens")
    op.drop_table("enrolment_challenges")
    op.drop_table("audit_events")
    op.drop_table("api_tokens")


def _create_api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("owner_kind", sa.Text(), nullable=False),
        sa.Column("owner_name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("scopes", JsonValue, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("digest", name="uq_api_tokens_digest"),
    )
    op.create_index("ix_api_tokens_owner_id", "api_tokens", ["owner_id"], unique=False)


def _create_audit_events() -> None:
    op.create_table(
        "audit_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor_kind", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("object_id", sa.Text(), nullable=False),
        sa.Column("from_address", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("before", JsonValue, nullable=True),
        sa.Column("after", JsonValue, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit_events"),
    )
    op.create_index("ix_audit_events_action", "audit_events", ["action"], unique=False)
    op.create_index("ix_audit_events_actor_id", "audit_events", ["actor_id"], unique=False)
    op.create_index("ix_audit_events_at", "audit_events", ["at"], unique=False)


def _create_enrolment_challenges() -> None:
    op.create_table(
        "enrolment_challenges",
        sa.Column("challenge", sa.Text(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("challenge", name="pk_enrolment_challenges"),
    )
    op.create_index(
        "ix_enrolment_challenges_expires_at", "enrolment_challenges", ["expires_at"], unique=False
    )
    op.create_index("ix_enrolment_challenges_asked_by", "enrolment_challenges", ["asked_by"], unique=False)


def _create_enrolment_tokens() -> None:
    op.create_table(
        "enrolment_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_enrolment_tokens"),
        sa.UniqueConstraint("digest", name="uq_enrolment_tokens_digest"),
    )


def _create_nodes() -> None:
    op.create_table(
        "nodes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("labels", JsonValue, nullable=False),
        sa.Column("lifecycle", sa.Text(), nullable=False),
        sa.Column("allow_targets", JsonValue, nullable=False),
        sa.Column("deny_targets", JsonValue, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_nodes"),
    )


def _create_portal_sessions() -> None:
    op.create_table(
        "portal_sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("principal_kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.Column("from_address", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_used_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_portal_sessions"),
        sa.UniqueConstraint("digest", name="uq_portal_sessions_digest"),
    )
    op.create_index("ix_portal_sessions_principal_id", "portal_sessions", ["principal_id"], unique=False)


def _create_registrations() -> None:
    op.create_table(
        "registrations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("token_id", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("hostname", sa.Text(), nullable=False),
        sa.Column("agent_version", sa.Text(), nullable=False),
        sa.Column("capabilities", JsonValue, nullable=False),
        sa.Column("from_address", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_registrations"),
    )
    op.create_index("ix_registrations_state", "registrations", ["state"], unique=False)


def _create_session_links() -> None:
    op.create_table(
        "session_links",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_session_links"),
        sa.UniqueConstraint("digest", name="uq_session_links_digest"),
    )


def _create_agent_tokens() -> None:
    op.create_table(
        "agent_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_agent_tokens_node_id_nodes"),
        sa.PrimaryKeyConstraint("id", name="pk_agent_tokens"),
        sa.UniqueConstraint("digest", name="uq_agent_tokens_digest"),
    )
    op.create_index("ix_agent_tokens_node_id", "agent_tokens", ["node_id"], unique=False)


def _create_agents() -> None:
    op.create_table(
        "agents",
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("agent_version", sa.Text(), nullable=False),
        sa.Column("boot_id", sa.Text(), nullable=False),
        sa.Column("hostname", sa.Text(), nullable=False),
        sa.Column("capabilities", JsonValue, nullable=False),
        sa.Column("enrolled_at", UtcDateTime(), nullable=False),
        sa.Column("fencing_token", sa.BigInteger(), nullable=False),
        sa.Column("connected_at", UtcDateTime(), nullable=True),
        sa.Column("disconnected_at", UtcDateTime(), nullable=True),
        sa.Column("last_seen_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_agents_node_id_nodes"),
        sa.PrimaryKeyConstraint("node_id", name="pk_agents"),
        sa.UniqueConstraint("public_key", name="uq_agents_public_key"),
    )


def _guard() -> None:
    """Let the database itself refuse to change or delete what was audited."""
    if op.get_bind().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_events_no_{act.lower()} BEFORE {act} ON audit_events "
                "BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_events_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'audit events are append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events "
        "FOR EACH ROW EXECUTE FUNCTION audit_events_append_only()"
    )

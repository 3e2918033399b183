"""Table of the audit trail."""

from __future__ import annotations

from auth_server.tables import Base
from shared.web.audit.models import AuditEventColumns


class AuditEvent(AuditEventColumns, Base):
    """One act in this service."""

    __tablename__ = "audit_events"

"""The audit trail of the fleet: one row for every write, in the transaction of that write."""

from shared.web.audit.service import Audit, AuditExport

__all__ = ["Audit", "AuditExport"]

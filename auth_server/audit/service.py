"""The audit trail of people and clients: one row for every write, in the transaction of that write."""

from shared.web.audit.service import Audit

__all__ = ["Audit"]

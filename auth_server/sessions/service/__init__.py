"""Sign-in sessions."""

from auth_server.sessions.service.sessions import PASSKEY, RECOVERY_CODE, SessionService

__all__ = ["PASSKEY", "RECOVERY_CODE", "SessionService"]

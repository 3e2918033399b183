"""Sign-in sessions, and how often somebody may fail to get one."""

from auth_server.sessions.service.sessions import PASSKEY, RECOVERY_CODE, SessionService
from auth_server.sessions.service.throttling import SignInThrottle

__all__ = ["PASSKEY", "RECOVERY_CODE", "SessionService", "SignInThrottle"]

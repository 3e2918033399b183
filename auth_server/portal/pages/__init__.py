"""Portal routes that join accounts, passkeys and sessions."""

from auth_server.portal.pages import administration, own

routers = (own.router, administration.router)

__all__ = ["routers"]

"""Portal routes that join several features: one's own account, and administration."""

from auth_server.portal.pages import administration, clients, own, signing_keys, trail

routers = (own.router, administration.router, clients.router, signing_keys.router, trail.router)

__all__ = ["routers"]

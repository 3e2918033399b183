"""What lets this host's operator in: the token of the service principal, and one-time links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_server.api_tokens.repository import ApiTokenRepository
from control_server.api_tokens.service import LOCAL_ADMIN, ApiTokenService
from control_server.audit.dependencies import audit_service
from control_server.operators.repository import OperatorRepository
from control_server.operators.service import OperatorService
from shared.kernel.files import read_text_loosely, write_private

if TYPE_CHECKING:
    from control_server.resources import ControlResources

ADMIN_TOKEN_FILE = "admin-token"  # noqa: S105 - the name of a file


async def ensure_admin_token(resources: ControlResources) -> None:
    """Write a fresh `admin-token` (0600) unless the one that is there is good."""
    path = resources.settings.state_directory / ADMIN_TOKEN_FILE
    async with resources.database.transaction() as session:
        tokens = ApiTokenService(ApiTokenRepository(session), resources.now)
        if path.exists() and await tokens.is_good(read_text_loosely(path)):
            return
        audit = audit_service(session, resources.now)
        text = await tokens.replace(LOCAL_ADMIN, "admin-token file", audit)
        write_private(path, text)


async def make_session_link(resources: ControlResources) -> str:
    """A one-time address that signs this host's operator in."""
    async with resources.database.transaction() as session:
        operators = OperatorService(
            OperatorRepository(session),
            audit_service(session, resources.now),
            resources.settings.sessions,
            resources.now,
        )
        secret = await operators.make_link()
    return f"{resources.settings.web.public_url}/session-link/{secret}"

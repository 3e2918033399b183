"""Who may administer, now."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from auth_server.accounts.dependencies import Administrator
from auth_server.sessions.dependencies import FreshForForm, FreshSession
from shared.kernel.principal import Principal


async def _with_fresh_passkey(administrator: Administrator, _fresh: FreshSession) -> Principal:
    return administrator


async def _with_fresh_passkey_for_form(administrator: Administrator, _fresh: FreshForForm) -> Principal:
    return administrator


#: For JSON: refused with `step_up_needed`.
ConfirmedAdministrator = Annotated[Principal, Depends(_with_fresh_passkey)]
#: For forms: sent to confirm, and back.
FreshAdministrator = Annotated[Principal, Depends(_with_fresh_passkey_for_form)]

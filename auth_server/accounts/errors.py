"""Refusals about accounts and invitations."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound


class AccountNotFound(NotFound):
    """There is no such account."""

    code = "account_not_found"


class AccountNameTaken(AppError):
    """Somebody else has this name. Choose another one."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "account_name_taken"


class LastAdministrator(AppError):
    """Nobody else is an administrator. Make somebody one first."""

    kind: ClassVar[Kind] = Kind.CONFLICT
    code: ClassVar[str] = "last_administrator"


class InvitationNotFound(NotFound):
    """There is no open invitation of this id."""

    code = "invitation_not_found"


class InvitationRefused(AppError):
    """The invitation is unknown, used, withdrawn or too old. Ask for a new one."""

    kind: ClassVar[Kind] = Kind.GONE
    code: ClassVar[str] = "invitation_refused"
    #: An attempt is audited although it is refused.
    rolls_back: ClassVar[bool] = False

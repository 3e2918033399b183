"""Refusals of this feature."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind


class RdapNotFound(AppError):
    """The registry has no such object."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "rdap_not_found"


class RdapNoQuestion(AppError):
    """What is asked is no RDAP query; `help` below `/registry/rdap` lists those that are answered."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "rdap_no_question"


class RdapUnsupported(AppError):
    """Questions of this kind are not answered here; `help` below `/registry/rdap` lists what is."""

    kind: ClassVar = Kind.MISSING
    code: ClassVar = "rdap_unsupported"


class RdapInvalid(AppError):
    """The question is not a number, an address or a name of this kind."""

    kind: ClassVar = Kind.INVALID
    code: ClassVar = "rdap_invalid"

"""Who is asking: a person, a token, an agent or the system itself, with a role and scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What an account may do; each role includes the one before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class PrincipalKind(StrEnum):
    """How the caller proved who they are."""

    PERSON = "person"
    SERVICE = "service"
    AGENT = "agent"
    SYSTEM = "system"


class Scope(StrEnum):
    """One permission; a role is a set of them, a token may carry fewer."""

    FLEET_READ = "fleet:read"
    FLEET_WRITE = "fleet:write"
    PROBES_RUN = "probes:run"
    REGISTRY_READ = "registry:read"
    REGISTRY_SYNC = "registry:sync"
    JOBS_WRITE = "jobs:write"
    ACCESS_ADMIN = "access:admin"
    AUDIT_READ = "audit:read"
    TIERS_READ = "tiers:read"


_VIEWER = frozenset({Scope.FLEET_READ, Scope.REGISTRY_READ, Scope.PROBES_RUN})
_OPERATOR = _VIEWER | {Scope.FLEET_WRITE, Scope.REGISTRY_SYNC, Scope.JOBS_WRITE}
_ADMIN = _OPERATOR | {Scope.ACCESS_ADMIN, Scope.AUDIT_READ, Scope.TIERS_READ}

SCOPES_OF_ROLE: dict[Role, frozenset[Scope]] = {
    Role.VIEWER: _VIEWER,
    Role.OPERATOR: _OPERATOR,
    Role.ADMIN: _ADMIN,
}


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller of one request, socket or job."""

    id: str
    kind: PrincipalKind
    name: str
    role: Role | None = None
    scopes: frozenset[Scope] = field(default_factory=frozenset)

    @classmethod
    def of_role(cls, ident: str, kind: PrincipalKind, name: str, role: Role) -> Principal:
        """A caller with every scope of the role."""
        return cls(id=ident, kind=kind, name=name, role=role, scopes=SCOPES_OF_ROLE[role])

    def may(self, scope: Scope) -> bool:
        """Whether the role allows it and the token, if any, carries it."""
        allowed = SCOPES_OF_ROLE[self.role] if self.role else frozenset()
        return scope in self.scopes and scope in allowed


SYSTEM = Principal(id="system", kind=PrincipalKind.SYSTEM, name="system")

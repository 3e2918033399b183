"""Everybody who may come to a door, and what the door then says."""

import re
from dataclasses import dataclass
from enum import StrEnum

from shared.kernel.principal import SCOPES_OF_ROLE, Role, Scope
from tests.integration.matrix.rows import AGENT, BROWSER, CLIENT, FORM, OWN, PUBLIC, STORED

_NOTHING = "00000000-0000-4000-8000-000000000000"


class Answer(StrEnum):
    """What sort of answer it is; whatever comes behind the door is a matter of its own tests."""

    IN = "let in"
    UNKNOWN = "401"
    FORBIDDEN = "403"


@dataclass(frozen=True)
class Caller:
    """A browser of a role, a token of an administrator with one scope, an agent, or nobody."""

    name: str
    role: Role | None = None
    scope: Scope | None = None
    is_agent: bool = False

    @property
    def by_browser(self) -> bool:
        return self.role is not None and self.scope is None

    @property
    def scopes(self) -> frozenset[Scope]:
        if self.scope is not None:
            return frozenset({self.scope})
        return SCOPES_OF_ROLE[self.role] if self.role else frozenset()


NOBODY = Caller("nobody")
AN_AGENT = Caller("agent", is_agent=True)
BROWSERS = tuple(Caller(role, role) for role in Role)
TOKENS = tuple(Caller(f"token {scope}", Role.ADMIN, scope) for scope in Scope)


def expected(gate: str, caller: Caller) -> Answer | None:
    """What the door says; None where it is not asked: a bad credential is refused at open doors too."""
    if gate in {PUBLIC, FORM}:
        return None if caller.is_agent else _at_open_door(gate, caller)
    if gate == AGENT:
        return Answer.IN if caller.is_agent else Answer.UNKNOWN
    if gate == CLIENT or caller.role is None:
        return Answer.UNKNOWN
    if not caller.by_browser:
        return _of_token(gate, caller)
    return Answer.IN if gate in {BROWSER, OWN} else _by_role(gate, caller)


def _at_open_door(gate: str, caller: Caller) -> Answer:
    return Answer.FORBIDDEN if gate == FORM and caller.scope else Answer.IN


def _by_role(gate: str, caller: Caller) -> Answer:
    """Nobody was asked the question that a `stored` door wants answered."""
    return Answer.IN if gate != STORED and Scope(gate) in caller.scopes else Answer.FORBIDDEN


def _of_token(gate: str, caller: Caller) -> Answer:
    if gate == BROWSER:
        return Answer.UNKNOWN
    needed = Scope.ACCESS_ADMIN if gate == OWN else Scope(gate)
    return Answer.IN if needed in caller.scopes else Answer.FORBIDDEN


def seen(status: int) -> Answer:
    return {401: Answer.UNKNOWN, 403: Answer.FORBIDDEN}.get(status, Answer.IN)


def address(path: str) -> str:
    """The path with something in every place; nothing is there, so nothing is changed."""
    return re.sub(r"\{[^}]+\}", _NOTHING, path)

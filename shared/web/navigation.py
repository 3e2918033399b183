"""What the sidebar lists: entries that services register, shown to those who may open them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.principal import Principal, Scope
from shared.web.translation import lazy as _

if TYPE_CHECKING:
    from shared.web.translation import Language


@dataclass(frozen=True, slots=True)
class NavigationItem:
    """One page of the sidebar. `label`, `short` and `group` are messages, marked with `translation.lazy`."""

    key: str
    label: str
    path: str
    icon: str
    group: str = ""
    scope: Scope | None = None
    #: The word under the icon on a phone; None keeps the entry out of the bottom bar.
    short: str | None = None
    #: Pressed after `g`.
    shortcut: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item as one person sees it on one page."""

    key: str
    label: str
    short: str | None
    path: str
    icon: str
    shortcut: str
    current: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Entries under one heading; the first group has none."""

    label: str
    entries: Sequence[Entry]


CONTROL_NAVIGATION: tuple[NavigationItem, ...] = (
    NavigationItem("dashboard", _("Dashboard"), "/", "layout-dashboard", short=_("Dashboard"), shortcut="d"),
    NavigationItem(
        "nodes",
        _("Nodes"),
        "/nodes",
        "server-2",
        group=_("Fleet"),
        scope=Scope.FLEET_READ,
        short=_("Nodes"),
        shortcut="n",
    ),
    NavigationItem(
        "policy",
        _("Policy"),
        "/policy",
        "adjustments-horizontal",
        group=_("Fleet"),
        scope=Scope.FLEET_READ,
        shortcut="o",
    ),
    NavigationItem(
        "pools",
        _("Pools"),
        "/pools",
        "id-badge-2",
        group=_("Fleet"),
        scope=Scope.FLEET_READ,
        shortcut="u",
    ),
    NavigationItem(
        "enrolment",
        _("Enrolment"),
        "/enrolment",
        "inbox",
        group=_("Fleet"),
        scope=Scope.ACCESS_ADMIN,
        short=_("Enrolment"),
        shortcut="e",
    ),
    NavigationItem(
        "probes",
        _("Looking glass"),
        "/probes",
        "telescope",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        short=_("Probe"),
        shortcut="p",
    ),
    NavigationItem(
        "flaps",
        _("Flaps"),
        "/flaps",
        "activity",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        shortcut="f",
    ),
    NavigationItem(
        "incidents",
        _("Incidents"),
        "/incidents",
        "alert-circle",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        shortcut="i",
    ),
    NavigationItem(
        "routing",
        _("Routing"),
        "/routing",
        "route",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        shortcut="b",
    ),
    NavigationItem(
        "traffic",
        _("Traffic"),
        "/traffic",
        "arrows-diagonal",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        shortcut="v",
    ),
    NavigationItem(
        "tiers", _("Tiers"), "/tiers", "database", group=_("Observe"), scope=Scope.TIERS_READ, shortcut="k"
    ),
    NavigationItem(
        "alerts",
        _("Alerts"),
        "/alerts",
        "bell",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        shortcut="l",
    ),
    NavigationItem(
        "jobs",
        _("Jobs"),
        "/jobs",
        "stack-2",
        group=_("Observe"),
        scope=Scope.FLEET_READ,
        shortcut="j",
    ),
    NavigationItem(
        "registry",
        _("Registry"),
        "/registry/",
        "book-2",
        group=_("Observe"),
        scope=Scope.REGISTRY_READ,
        shortcut="r",
    ),
    NavigationItem("tokens", _("Tokens"), "/access/tokens", "key", group=_("Access"), shortcut="t"),
    NavigationItem(
        "audit",
        _("Audit"),
        "/audit",
        "history",
        group=_("Access"),
        scope=Scope.AUDIT_READ,
        shortcut="a",
    ),
)

#: Pages of auth_server, on the same origin.
ACCESS_NAVIGATION: tuple[NavigationItem, ...] = (
    NavigationItem("account", _("Your account"), "/auth/account", "user-circle", group=_("Access")),
    NavigationItem(
        "accounts",
        _("Accounts"),
        "/auth/accounts",
        "shield-lock",
        group=_("Access"),
        scope=Scope.ACCESS_ADMIN,
    ),
    NavigationItem(
        "clients",
        _("Applications"),
        "/auth/clients",
        "devices",
        group=_("Access"),
        scope=Scope.ACCESS_ADMIN,
    ),
    NavigationItem(
        "signing-keys",
        _("Signing keys"),
        "/auth/signing-keys",
        "fingerprint",
        group=_("Access"),
        scope=Scope.ACCESS_ADMIN,
    ),
    NavigationItem(
        "sign-ins",
        _("Sign-in audit"),
        "/auth/audit",
        "clipboard",
        group=_("Access"),
        scope=Scope.AUDIT_READ,
    ),
)


def visible_groups(
    items: Sequence[NavigationItem],
    principal: Principal | None,
    path: str,
    language: Language,
) -> list[Group]:
    """The entries that this person may open, in order; the deepest one above `path` is current."""
    allowed = [item for item in items if _may(principal, item.scope)]
    current = _current(allowed, path)
    groups: dict[str, list[Entry]] = {}
    for item in allowed:
        groups.setdefault(item.group, []).append(_entry(item, current, language.text))
    return [Group(language.text(name) if name else "", entries) for name, entries in groups.items()]


def _may(principal: Principal | None, scope: Scope | None) -> bool:
    return principal is not None and (scope is None or principal.may(scope))


def _current(items: Sequence[NavigationItem], path: str) -> str:
    above = [item for item in items if path == item.path or path.startswith(item.path.rstrip("/") + "/")]
    exact_root = [item for item in above if item.path != "/" or path == "/"]
    return max(exact_root, key=lambda item: len(item.path)).key if exact_root else ""


def _entry(item: NavigationItem, current: str, text: Callable[[str], str]) -> Entry:
    return Entry(
        key=item.key,
        label=text(item.label),
        short=text(item.short) if item.short else None,
        path=item.path,
        icon=item.icon,
        shortcut=item.shortcut,
        current=item.key == current,
    )

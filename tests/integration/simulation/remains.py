"""What a server knows at the end of a day, and in what two days may differ of which one lost its tiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2

from routeloom.simulate.plan import Plan

_MOST = 1000
_FLAPPING = ("session_flapping", "prefix_flapping", "node_flapping")
#: Made anew by every server.
_OWN = ("id", "generated_at", "source", "degraded", "clears_at")

Document = dict[str, Any]


@dataclass(frozen=True)
class Remains:
    """Answers of the API, by node where they are of nodes."""

    #: Must be the same.
    kept: Document
    transitions: Sequence[Document]
    #: Seconds that were counted, by node and beginning of the bucket.
    rates: Mapping[tuple[str, str], float]
    flapping: Counter[tuple[str, str, str]]


async def remains_of(api: httpx2.AsyncClient, plan: Plan) -> Remains:
    """Ask for everything that outlasts a tier."""
    kept: Document = {}
    transitions: list[Document] = []
    rates: dict[tuple[str, str], float] = {}
    for node in (plan.node_name(index) for index in range(plan.nodes)):
        for path in _paths_of(node):
            kept[path] = _plain(await _asked(api, path))
        transitions += await _asked(api, f"/api/v1/flaps/transitions?node_id={node}&limit={_MOST}")
        for bucket in await _asked(api, f"/api/v1/flaps/{node}/rates?hours=168"):
            rates[node, bucket["at"]] = bucket["seconds"]
    for path in FLEET_PATHS:
        kept[path] = _plain(await _asked(api, path))
    incidents = (await _asked(api, "/api/v1/incidents?limit=500"))["items"]
    kept["incidents"] = sorted(
        (each["kind"], each["node_id"], each["subject"], each["opened_at"], each["closed_at"])
        for each in incidents
        if each["kind"] not in _FLAPPING
    )
    flapping = Counter(
        (each["kind"], each["node_id"], each["subject"]) for each in incidents if each["kind"] in _FLAPPING
    )
    return Remains(kept, sorted(transitions, key=_order), rates, flapping)


#: Of the fleet, and the same whatever became of the tiers.
FLEET_PATHS = (
    "/api/v1/health",
    "/api/v1/health/issues",
    "/api/v1/traffic?range=6h",
    "/api/v1/traffic?range=24h",
    "/api/v1/routing",
    "/api/v1/routing/invalid",
    "/api/v1/routing/origins",
)


def _paths_of(node: str) -> Sequence[str]:
    return (
        f"/api/v1/health/nodes/{node}",
        f"/api/v1/health/history?node_id={node}&limit={_MOST}",
        f"/api/v1/nodes/{node}/traffic?range=6h",
        f"/api/v1/nodes/{node}/traffic?range=24h",
        f"/api/v1/nodes/{node}/traffic?range=24h&interface=eth0",
        f"/api/v1/nodes/{node}/traffic/links?range=24h",
        f"/api/v1/nodes/{node}/routing",
        f"/api/v1/nodes/{node}/routes?limit=200",
        f"/api/v1/nodes/{node}/route-changes?limit=500",
    )


def every_path(plan: Plan) -> Sequence[str]:
    """All of these, and what shows the tiers themselves."""
    more = ("/api/v1/nodes", "/api/v1/flaps", "/api/v1/incidents", "/api/v1/tiers", "/metrics/fleet")
    of_nodes = [
        path
        for node in (plan.node_name(index) for index in range(plan.nodes))
        for path in (*_paths_of(node), f"/api/v1/nodes/{node}/traffic", f"/api/v1/flaps/{node}")
    ]
    return (*of_nodes, *FLEET_PATHS, *more)


def missing(undisturbed: Remains, disturbed: Remains) -> list[datetime]:
    """When something happened that the disturbed day does not know of."""
    return [at for at, *_ in (_events(undisturbed) - _events(disturbed)).elements()]


def added(undisturbed: Remains, disturbed: Remains) -> Counter[Any]:
    """What the disturbed day knows of though it did not happen."""
    return _events(disturbed) - _events(undisturbed)


def scored_before(remains: Remains, instant: datetime) -> list[Document]:
    """Everything of what happened before an instant, with its scores."""
    return [each for each in remains.transitions if datetime.fromisoformat(each["at"]) < instant]


def scores(remains: Remains, wanted: Mapping[str, str]) -> list[float]:
    """The scores of a subject, each right after it was charged, in order."""
    return [
        each["after"]
        for each in remains.transitions
        if each["weight"] and all(each[name] == value for name, value in wanted.items())
    ]


def _events(remains: Remains) -> Counter[Any]:
    """What happened, without the scores."""
    return Counter(
        (
            datetime.fromisoformat(each["at"]),
            *(str(each[name]) for name in ("node_id", "kind", "subject", "event", "weight", "reason_class")),
        )
        for each in remains.transitions
    )


def uncounted(undisturbed: Remains, disturbed: Remains) -> Mapping[str, float]:
    """Seconds a node whose rate was not counted. Whatever was counted was counted in the same bucket."""
    assert set(disturbed.rates) <= set(undisturbed.rates)
    missing: Counter[str] = Counter()
    for (node, at), seconds in undisturbed.rates.items():
        counted = disturbed.rates.get((node, at), 0.0)
        assert counted <= seconds, (node, at)
        missing[node] += int(seconds - counted)
    return missing


def _order(transition: Document) -> tuple[str, ...]:
    return tuple(str(transition[name]) for name in ("node_id", "at", "kind", "subject", "event"))


def _plain(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _plain(value) for name, value in found.items() if name not in _OWN}
    return [_plain(value) for value in found] if isinstance(found, list) else found


async def _asked(api: httpx2.AsyncClient, path: str) -> Any:
    answer = await api.get(path)
    assert answer.is_success, f"{path}: {answer.status_code} {answer.text[:300]}"
    found = answer.json()
    if isinstance(found, list):
        for each in found:
            if isinstance(each, dict):
                each.pop("id", None)
    return found

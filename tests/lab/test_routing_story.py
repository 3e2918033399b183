"""What happens to a session and to its routes is told by the API and by the portal as it happened on BIRD.

One router of ours, one neighbour, and a registry server that speaks the routers' protocol with BIRD.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.integration.agent.apply.routers import eventually
from tests.lab.building import FAST, OURS, Lab, open_small_lab
from tests.lab.neighbours import Neighbour
from tests.lab.registry import RunningRegistry, open_registry, wait_for_rtr

F, G = 4242429801, 4242429802
GOOD, TURNED, NOT_ALLOWED = "172.21.81.0/27", "172.22.55.0/27", "10.0.0.0/8"
ALLOWED = {"172.20.99.0/26": OURS, "fd42:9900::/48": OURS, GOOD: F, TURNED: F}
SESSION = "rl_f"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with open_small_lab(tmp_path_factory.mktemp("story"), ("f", 11)) as found:
        yield found


@pytest.fixture(scope="module")
def registry(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with ExitStack() as stack:
        found = stack.enter_context(open_registry(lab.hub, tmp_path_factory.mktemp("registry"), ALLOWED))
        wait_for_rtr(lab.hub)
        yield found


@pytest.fixture(scope="module")
def f(lab: Lab) -> Neighbour:
    return Neighbour(lab, "f", 1, "r1")


def told(lab: Lab, path: str) -> Any:
    return lab.hub.want("GET", path)


def route_of(lab: Lab, prefix: str) -> dict[str, Any]:
    """The one route of a prefix on our router; empty where there is none."""
    routes: list[dict[str, Any]] = told(lab, f"/api/v1/routing/prefix?prefix={prefix}")["routes"]
    return routes[0] if routes else {}


def explanation(lab: Lab) -> dict[str, Any]:
    found: dict[str, Any] = told(lab, f"/api/v1/flaps/r1/session?name={SESSION}")
    return found


def look(lab: Lab) -> None:
    """Have the agent look at the node now."""
    lab.hub.want("POST", "/api/v1/nodes/r1/observation")


def test_the_session_comes_up_and_its_routes_are_known(
    lab: Lab, registry: RunningRegistry, f: Neighbour
) -> None:
    lab.hub.want("PUT", "/api/v1/policy", {"roa": {"servers": registry.servers}}, version=0)
    lab.add_nodes(proof4="172.20.99.0/26", proof6="fd42:9900::/48")
    f.ask_for_peering({"options": FAST}, link=f.link())
    f.paste()
    f.announce([GOOD, TURNED, NOT_ALLOWED], [])
    lab.settle()
    lab.nodes["r1"].wait_for(SESSION)
    eventually(lambda: route_of(lab, GOOD).get("validity") == "valid", "the route is known, and valid")
    page = lab.hub.page(f"/routing/prefix?prefix={GOOD}")
    assert str(F) in page
    assert "Best" in page


def test_what_a_filter_refuses_is_shown_with_the_reason(lab: Lab) -> None:
    eventually(lambda: route_of(lab, NOT_ALLOWED) != {}, "the refused route is known")
    refused = route_of(lab, NOT_ALLOWED)
    assert (refused["filtered"], refused["best"]) == (True, False)
    assert (refused["reason"], refused["reason_name"]) == (3, "prefix_not_allowed")
    numbers = told(lab, "/api/v1/nodes/r1/routing")
    (peer,) = (each for each in numbers["peers"] if each["protocol"] == SESSION)
    assert peer["reasons"] == {"prefix_not_allowed": 1}
    assert (peer["received"], peer["accepted"], peer["filtered"]) == (3, 2, 1)
    assert "Filtered" in lab.hub.page(f"/routing/prefix?prefix={NOT_ALLOWED}")


def test_a_withdrawal_and_an_announcement_are_told_in_their_order(lab: Lab, f: Neighbour) -> None:
    path = f"/api/v1/routing/prefix?prefix={GOOD}"
    f.announce([TURNED, NOT_ALLOWED], [])
    eventually(lambda: told(lab, path)["summary"] is None, "it is withdrawn")
    f.announce([GOOD, TURNED, NOT_ALLOWED], [])
    eventually(lambda: told(lab, path)["summary"] is not None, "it is back")
    history = told(lab, path)["history"]
    assert [(each["kind"], each["cause"]) for each in history[:2]] == [
        ("announced", "change"),
        ("withdrawn", "change"),
    ]
    assert (history[0]["after_origin"], history[1]["before_origin"]) == (F, F)
    (scored,) = (each for each in told(lab, "/api/v1/flaps/r1") if each["subject"] == GOOD)
    # The withdrawal weighs; coming back weighs nothing.
    assert (scored["kind"], scored["events"], scored["level"]) == ("prefix", 1, "stable")


def test_a_registry_that_contradicts_makes_a_route_invalid(
    lab: Lab, registry: RunningRegistry, f: Neighbour
) -> None:
    assert route_of(lab, TURNED)["validity"] == "valid"
    registry.allow({TURNED: G})
    eventually(lambda: route_of(lab, TURNED).get("filtered") is True, "it is refused now")
    refused = route_of(lab, TURNED)
    assert (refused["validity"], refused["reason_name"]) == ("invalid", "rpki_invalid")
    assert refused["origin"] == F == f.asn
    invalid = told(lab, "/api/v1/nodes/r1/routes?invalid=true")["items"]
    assert [each["prefix"] for each in invalid] == [TURNED]
    (peer,) = (each for each in told(lab, "/api/v1/nodes/r1/routing")["peers"] if each["protocol"] == SESSION)
    assert peer["reasons"] == {"prefix_not_allowed": 1, "rpki_invalid": 1}
    page = lab.hub.page(f"/routing/prefix?prefix={TURNED}")
    assert "Filtered" in page
    assert "Invalid" in page


def test_a_session_that_is_flapped_by_hand_is_counted_with_its_reason(lab: Lab, f: Neighbour) -> None:
    before = explanation(lab)["drops"]
    assert before == 0
    f.router.ask("disable node_r1")
    eventually(lambda: not lab.nodes["r1"].established(SESSION), "it is down")
    look(lab)
    eventually(lambda: explanation(lab)["drops"] == 1, "the fall is counted")
    f.router.ask("enable node_r1")
    lab.nodes["r1"].wait_for(SESSION)
    look(lab)
    eventually(lambda: explanation(lab)["now"]["state"] == "established", "that it is back is known")
    found = explanation(lab)
    assert (found["drops"], found["now"]["level"]) == (1, "stable")
    (fall,) = (each for each in found["history"] if each["weight"])
    assert fall["weight"] == 1000
    assert "dministrative" in fall["reason"]
    page = lab.hub.page(f"/flaps?node=r1&session={SESSION}")
    assert SESSION in page
    assert fall["reason"] in page

"""What a change does to sessions."""

from __future__ import annotations

from typing import Any

import pytest

from control_server.desired_state.rules.effects import session_effects
from shared.protocol.desired_state.document import DesiredState


def state(*peerings: dict[str, Any], **node: Any) -> DesiredState:
    identity = {"id": "r1", "number": 1, "asn": 4242429900, "router_id": "172.20.99.1", **node}
    return DesiredState.model_validate({"node": identity, "peerings": peerings})


def peering(name: str = "f", **session: Any) -> dict[str, Any]:
    return {"name": name, "asn": 4242429801, "session": {"neighbor6": "fd42::1", **session}}


def test_a_new_session_leaves_the_others_alone() -> None:
    found = session_effects(state(peering()), state(peering(), peering("g")))
    assert (found.kept, found.added, found.restarted, found.removed) == (1, ["g"], [], [])


def test_what_is_gone_is_named() -> None:
    assert session_effects(state(peering()), state()).removed == ["f"]
    assert session_effects(None, state(peering())).added == ["f"]


@pytest.mark.parametrize(
    "policy",
    [
        {"local_pref": 50},
        {"prepend": 2},
        {"drain": True},
        {"import_limit": {"prefixes": 9}},
        {"prefix_list": []},
        {"quality": None},
    ],
)
def test_a_filter_or_a_limit_changes_in_place(policy: dict[str, Any]) -> None:
    found = session_effects(state(peering()), state(peering(policy=policy)))
    assert (found.kept, found.restarted) == (1, [])


@pytest.mark.parametrize(
    "session",
    [
        {"neighbor6": "fd42::2"},
        {"families": [6]},
        {"options": {"timers": {"hold": 30, "keepalive": 10}}},
        {"policy": {"add_paths": "on"}},
        {"policy": {"import_table": False}},
    ],
)
def test_what_a_session_is_made_of_makes_it_begin_anew(session: dict[str, Any]) -> None:
    assert session_effects(state(peering()), state(peering(**session))).restarted == ["f"]


def test_another_router_id_restarts_everything() -> None:
    found = session_effects(state(peering()), state(peering(), router_id="172.20.99.2"))
    assert found.restarted == ["f"]

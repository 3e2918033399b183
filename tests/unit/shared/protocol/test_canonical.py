"""The one spelling of a state: what `json.dumps` says of it, byte for byte."""

from __future__ import annotations

import json
from ipaddress import IPv4Interface
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from shared.protocol.desired_state.canonical import canonical, listed, spell
from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.names import LinkAddress
from shared.protocol.desired_state.peerings import BgpOptions, PrefixLimit, Session, SessionPolicy, Timers
from shared.protocol.desired_state.routing import BfdTimers
from tests.unit.shared.rendering.complete import document

#: What a BIRD string can hold.
TEXTS = st.text(st.characters(exclude_characters='"\x7f', exclude_categories=["Cc", "Cs"]), max_size=40)


def by_json(part: BaseModel) -> str:
    """The slow way, which is the definition."""
    dumped = part.model_dump(mode="json")
    return json.dumps(dumped, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sessions() -> st.SearchStrategy[Session]:
    limits = st.none() | st.builds(PrefixLimit, prefixes=st.integers(1, 9), action=st.just("warn"))
    policies = st.builds(
        SessionPolicy, local_pref=st.integers(0, 2**32 - 1), drain=st.booleans(), import_limit=limits
    )
    options = st.builds(
        BgpOptions,
        timers=st.builds(Timers, connect_retry=st.integers(1, 9)),
        bfd=st.booleans() | st.builds(BfdTimers, multiplier=st.integers(1, 3)),
        multihop=st.none() | st.integers(2, 4),
    )
    return st.builds(
        Session, neighbor6=st.ip_addresses(v=6, network="fd00::/8"), options=options, policy=policies
    )


def test_a_complete_state_is_spelled_as_json_spells_it() -> None:
    state = DesiredState.model_validate(document())
    assert state.canonical().decode() == by_json(state)


@given(text=TEXTS)
def test_every_text_is_spelled_as_json_spells_it(text: str) -> None:
    assert spell(text) == json.dumps(text, ensure_ascii=False)


@given(found=st.lists(sessions(), min_size=1, max_size=4))
def test_sessions_one_after_another_are_not_mixed_up(found: list[Session]) -> None:
    assert [spell(session) for session in found] == [by_json(session) for session in found]


def test_a_host_and_its_network_are_two_values() -> None:
    spelled = [spell(LinkAddress(address=IPv4Interface(text))) for text in ("10.0.0.1/24", "10.0.0.1/32")]
    assert spelled == [f'{{"address":"{text}","peer":null}}' for text in ("10.0.0.1/24", "10.0.0.1/32")]


def test_what_was_spelled_before_stands_where_it_belongs() -> None:
    state = DesiredState.model_validate(document())
    known = {"links": listed(map(spell, state.links)), "roa": spell(state.roa)}
    assert state.canonical(known) == state.canonical()


@pytest.mark.parametrize("value", [1.5, b"x", {"a": 1}])
def test_what_no_state_holds_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="a document holds no"):
        canonical(SessionPolicy.model_construct(local_pref=value), {})

"""Two routers, a WireGuard tunnel over a cable, and what BIRD says after each pass."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from nacl.public import SealedBox

from shared.protocol.desired_state.document import DesiredState
from shared.protocol.fleet import ApplyState, Sight
from tests.integration.agent.apply.routers import Router, desired, eventually, join, router

OURS, THEIRS = 4242429900, 4242429801
SECRET = "WGFtcGxlIHByZXNoYXJlZCBrZXkgb2YgMzIgYnl0ZXM="


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Router, Router]]:
    directory = tmp_path_factory.mktemp("routers")
    with router("one", 1, directory) as one, router("two", 2, directory) as two:
        join(one, two, ("eth-two", "eth-one"), ("192.0.2.1/30", "192.0.2.2/30"))
        yield one, two


def tunnel(own: Router, other: Router, host: int, **more: Any) -> dict[str, Any]:
    return {
        "kind": "wireguard",
        "interface": f"wg-{other.name}",
        "addresses": [{"address": f"fe80::{host}/64"}],
        "listen_port": 51820,
        "peer_public_key": other.keys.public.wireguard,
        "endpoint": f"192.0.2.{3 - host}:51820",
        "keepalive": 1,
        "preshared_key": base64.b64encode(
            SealedBox(own.keys.sealing.public_key).encrypt(SECRET.encode())
        ).decode(),
        **more,
    }


def peering(name: str, asn: int, host: int, **session: Any) -> dict[str, Any]:
    return {
        "name": name,
        "asn": asn,
        "session": {
            "interface": f"wg-{name}",
            "neighbor6": f"fe80::{3 - host}",
            "source6": f"fe80::{host}",
            "options": {"timers": {"connect_retry": 1, "error_wait": [1, 2]}},
            **session,
        },
    }


def state_of(own: Router, other: Router, host: int, **parts: Any) -> DesiredState:
    asn, theirs = (OURS, THEIRS) if host == 1 else (THEIRS, OURS)
    prefixes = {"prefixes4": [f"172.2{host}.99.0/26"], "prefixes6": [f"fd42:99{host}::/48"]}
    document = {
        "node": {**prefixes, **parts.pop("node", {})},
        "links": [tunnel(own, other, host)],
        "peerings": [peering(other.name, theirs, host)],
        **parts,
    }
    return desired(host, asn, **document)


def test_two_routers_come_together_and_a_second_pass_does_nothing(pair: tuple[Router, Router]) -> None:
    one, two = pair
    for own, other, host in ((one, two, 1), (two, one, 2)):
        outcome = own.apply(state_of(own, other, host))
        assert (outcome.result.status, outcome.errors) == (ApplyState.APPLIED, [])
        assert outcome.result.running == own.ask("eval RL_CONFIG").splitlines()[-1].strip('"')
    one.wait_for("rl_two")
    eventually(lambda: "172.22.99.0/26" in one.ask("show route"), "their prefix is taken")
    again = one.apply(state_of(one, two, 1), again=True)
    assert (again.result.status, again.result.actions, again.drift) == (ApplyState.APPLIED, (), [])


def test_a_snapshot_sees_the_tunnel_and_the_session(pair: tuple[Router, Router]) -> None:
    one, _ = pair
    seen = one.snapshot()
    assert (seen.links.sight, seen.routing.sight) == (Sight.OBSERVED, Sight.OBSERVED)
    session = next(p for p in seen.protocols if p.name == "rl_two")
    assert (session.bgp_state, session.neighbor_asn) == ("Established", THEIRS)
    assert {channel.name: channel.imported for channel in session.channels} == {"ipv4": 1, "ipv6": 1}
    assert next(t for t in seen.tunnels if t.interface == "wg-two").latest_handshake is not None
    whole = seen.model_dump_json()
    assert one.keys.wireguard_text not in whole
    assert SECRET not in whole


def test_a_change_of_policy_flaps_nothing_and_a_new_session_leaves_the_others(
    pair: tuple[Router, Router],
) -> None:
    one, two = pair
    before = one.since("rl_two")
    policy = {"policy": {"prepend": 2}}
    more = peering("spare", 4242429803, 1, interface="wg-two", neighbor6="fe80::33", policy={})
    changed = state_of(one, two, 1, peerings=[peering("two", THEIRS, 1, **policy), more])
    assert one.apply(changed).result.status is ApplyState.APPLIED
    assert one.since("rl_two").same_as(before)
    eventually(lambda: f"{OURS} {OURS} {OURS}" in two.ask("show route 172.21.99.0/26 all"), "prepended")
    assert one.apply(state_of(one, two, 1)).result.status is ApplyState.APPLIED
    assert one.since("rl_two").same_as(before)
    assert "rl_spare" not in one.ask("show protocols")


def test_routes_are_judged_anew_once_caches_prove_themselves(pair: tuple[Router, Router]) -> None:
    one, two = pair
    # Stands in for a cache: what it says is in the same table, and it comes when the test says so.
    local = one.directory / "local" / "stand_in.conf"
    said = f"route 172.21.99.0/26 max 29 as {OURS};"
    local.write_text(f"protocol static stand_in {{ disabled; roa4 {{ table rl_roa4; }}; {said} }}\n")
    away = {"name": "away", "host": "127.0.0.1", "port": 9}
    proven = {"node": {"proof4": "172.21.99.0/26"}, "roa": {"mode": "strict", "servers": [away]}}
    state = state_of(one, two, 1, **proven)
    try:
        assert one.apply(state).result.status is ApplyState.APPLIED
        one.wait_for("rl_two")
        before = one.since("rl_two")
        assert one.apply(state, again=True).result.actions == ()
        for change in ("enable stand_in", "disable stand_in"):
            one.ask(change)
            assert one.apply(state, again=True).result.actions == ("reloaded rl_two",)
            assert one.apply(state, again=True).result.actions == ()
        assert one.since("rl_two").same_as(before)
    finally:
        local.unlink()
        one.apply(state_of(one, two, 1))


def test_what_bird_refuses_is_no_success_and_the_last_good_goes_on(pair: tuple[Router, Router]) -> None:
    one, two = pair
    good = one.ask("eval RL_CONFIG")
    (one.directory / "local" / "broken.conf").write_text("protocol nonsense {\n")
    refused = one.apply(state_of(one, two, 1))
    assert refused.result.status is ApplyState.FAILED
    assert refused.errors == [("validate", "configuration_refused")]
    assert "broken.conf:1" in refused.result.errors[0].detail
    assert one.ask("eval RL_CONFIG") == good
    assert one.established("rl_two")
    (one.directory / "local" / "broken.conf").unlink()
    assert one.apply(state_of(one, two, 1), again=True).result.status is ApplyState.APPLIED


def test_a_configuration_that_cuts_the_agent_off_is_taken_back(pair: tuple[Router, Router]) -> None:
    one, two = pair
    good, since = one.ask("eval RL_CONFIG"), one.since("rl_two")
    away = one.directory / "controller-away"
    away.touch()
    cut = one.apply(state_of(one, two, 1, node={"region": 44}))
    away.unlink()
    assert cut.errors == [("configure", "controller_lost")]
    assert one.ask("eval RL_CONFIG") == good
    assert one.since("rl_two").same_as(since)
    assert (
        one.apply(state_of(one, two, 1, node={"region": 44}), again=True).result.status is ApplyState.APPLIED
    )


def test_a_dead_bird_is_told_and_the_next_pass_after_its_return_succeeds(pair: tuple[Router, Router]) -> None:
    one, two = pair
    one.bird.kill()
    dead = one.apply(state_of(one, two, 1))
    assert dead.errors == [("bird", "bird_unreachable")]
    assert one.snapshot().routing.sight is Sight.UNAVAILABLE
    one.bird.start()
    assert one.apply(state_of(one, two, 1), again=True).result.status is ApplyState.APPLIED
    one.wait_for("rl_two")


def test_after_a_restart_bird_boots_with_what_was_proven(pair: tuple[Router, Router]) -> None:
    one, _ = pair
    proven = one.ask("eval RL_CONFIG")
    one.bird.stop()
    one.bird.start()
    assert one.ask("eval RL_CONFIG") == proven


def test_what_somebody_changed_by_hand_is_told_and_mended(pair: tuple[Router, Router]) -> None:
    one, two = pair
    one.place.run("ip", "address", "delete", "fe80::1/64", "dev", "wg-two")
    one.place.run("ip", "address", "add", "fe80::99/64", "dev", "wg-two", "nodad")
    healed = one.apply(state_of(one, two, 1), again=True)
    assert {item.desired for item in healed.drift} == {
        "add fe80::1/64 to wg-two",
        "remove fe80::99/64 from wg-two",
    }
    assert healed.result.status is ApplyState.APPLIED
    assert one.apply(state_of(one, two, 1), again=True).drift == []
    one.wait_for("rl_two")


def test_a_foreign_configuration_is_critical_drift(pair: tuple[Router, Router]) -> None:
    one, two = pair
    foreign = one.directory / "foreign.conf"
    foreign.write_text("router id 172.20.0.1;\nprotocol device { }\n")
    assert "Reconfigur" in one.ask(f'configure "{foreign}"')
    mended = one.apply(state_of(one, two, 1), again=True)
    assert [(item.subject, item.severity) for item in mended.drift] == [("configuration", "critical")]
    assert mended.result.status is ApplyState.APPLIED
    one.wait_for("rl_two")


def test_paused_writes_nothing(pair: tuple[Router, Router]) -> None:
    one, two = pair
    (one.directory / "state" / "paused").write_text("paused\n")
    running = one.ask("eval RL_CONFIG")
    paused = one.apply(state_of(one, two, 1, node={"region": 45}))
    assert (paused.result.status, paused.result.actions) == (ApplyState.PAUSED, ())
    assert one.ask("eval RL_CONFIG") == running
    (one.directory / "state" / "paused").unlink()


def test_a_withdrawn_peering_is_gone_with_its_tunnel(pair: tuple[Router, Router]) -> None:
    one, two = pair
    outcome = one.apply(state_of(one, two, 1, links=[], peerings=[]))
    assert outcome.result.status is ApplyState.APPLIED
    assert outcome.result.actions[-1] == "remove wg-two"
    assert "rl_two" not in one.ask("show protocols")
    assert "wg-two" not in one.place.run("ip", "link", "show")
    assert "eth-two" in one.place.run("ip", "link", "show")


def test_no_secret_stands_in_a_file_but_where_it_must(pair: tuple[Router, Router]) -> None:
    one, _ = pair
    private = one.keys.wireguard_text.encode()
    found = [path for path in one.directory.rglob("*") if path.is_file() and private in path.read_bytes()]
    assert found == [one.directory / "state" / "wireguard.key"]
    assert not [p for p in one.directory.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]

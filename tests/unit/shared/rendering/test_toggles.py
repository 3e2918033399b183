"""Every field of the schema changes what is rendered, and what it changes is accepted by BIRD."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from shared.protocol.desired_state.document import DesiredState
from shared.rendering.bird import render
from shared.rendering.links import render_links
from shared.rendering.versions import BirdVersion
from tests.unit.shared.rendering.bird import complaint, surroundings
from tests.unit.shared.rendering.complete import PUBLIC_KEY, document

NEWER = BirdVersion(2, 17, 1)
_SESSION = "peerings.0.session"
_BGP = f"{_SESSION}.options"
_POLICY = f"{_SESSION}.policy"
_RANGE = [{"prefix": "172.20.0.0/14", "shortest": 21, "longest": 29}]
_RANGE6 = [{"prefix": "fd00::/8", "shortest": 44, "longest": 56}]
_LIMIT = {"prefixes": 500, "action": "restart"}

#: Place in the complete node's document, and another value for it. A place twice has two steps.
TOGGLES: dict[str, Any] = {
    "node.id": "r7",
    "node.number": 7,
    "node.asn": 4242429907,
    "node.router_id": "172.20.99.7",
    "node.hostname": "",
    "node.loopback4": "172.20.99.7",
    "node.loopback6": "fd42:9900::7",
    "node.prefixes4": ["172.20.99.0/27"],
    "node.prefixes6": ["fd42:9900::/47"],
    "node.proof4": None,
    "node.proof6": None,
    "node.region": 42,
    "node.country": 0,
    "node.draining": True,
    "routing": False,
    "links.0.interface": "wg-g",
    "links.0.kind": {
        "kind": "plain",
        "interface": "wg-f",
    },
    "links.0.addresses": [{"address": "fe80::9/64"}],
    "links.1.addresses.0.peer": "172.20.99.3",
    "links.0.mtu": 1400,
    "links.0.listen_port": None,
    "links.0.peer_public_key": PUBLIC_KEY.replace("AAEC", "AAED"),
    "links.0.endpoint": "[2001:db8::1]:51820",
    "links.0.allowed_ips": ["fd00::/8"],
    "links.0.keepalive": None,
    "links.0.preshared_key": None,
    "links.0.userspace": True,
    "anycast.0.interface": "rl-web",
    "anycast.0.addresses": ["172.20.99.34/29"],
    "log.target": "stderr",
    "log.classes": ["error"],
    "log.debug": [],
    "kernel.metric": 32,
    "kernel.scan_seconds": 10,
    "kernel.table": 142,
    "kernel.ecmp": 8,
    "kernel.prefer_source": False,
    "kernel.persist": True,
    "kernel.graceful_restart": True,
    "kernel.own_unreachable": False,
    "static_routes.0.prefix": "172.20.99.56/29",
    "static_routes.0.interface": "wg-f",
    "static_routes.0.gateway": {"prefix": "172.20.99.48/29", "gateway": "172.20.99.2"},
    "static_routes.1.kind": "blackhole",
    "policy.profile": "internet",
    "policy.allowed4": _RANGE,
    "policy.allowed6": _RANGE6,
    "policy.max_path": 9,
    "policy.bad_asn": [{"first": 0, "last": 0}],
    "policy.transit_asn": [],
    "roa.mode": "strict",
    "roa.servers.0.name": "c",
    "roa.servers.0.host": "rtr-two.example",
    "roa.servers.0.port": 3323,
    "roa.servers.0.retry": 60,
    "roa.servers.0.refresh": 600,
    "roa.servers.0.expire": 7200,
    "roa.snapshot.0.prefix": "172.21.82.0/27",
    "roa.snapshot.0.max_length": 28,
    "roa.snapshot.0.origin": 4242429802,
    "bfd.interfaces": "eth*",
    "bfd.timers.min_rx": 200,
    "bfd.timers.min_tx": 200,
    "bfd.timers.multiplier": 3,
    "bfd.idle_tx": 500,
    "bfd.multihop_interval": 500,
    "bfd.multihop_multiplier": 4,
    "igp.kind": "babel",
    "igp.interfaces.0.interface": "wg-f",
    "igp.interfaces.0.cost": 30,
    "igp.interfaces.0.hello": 6,
    "igp.interfaces.0.dead": 16,
    "igp.interfaces.0.password": None,
    "igp.interfaces.0.bfd": False,
    "ibgp.mode": "full_mesh",
    "ibgp.cluster_id": "172.20.99.9",
    "ibgp.bfd": True,
    "ibgp.neighbors.0.name": "r5",
    "ibgp.neighbors.0.address": "fd42:9900::5",
    "ibgp.neighbors.0.rr_client": False,
    "collectors.0.name": "other",
    "collectors.0.address": "fd42:9900::d",
    "collectors.0.asn": 4242429998,
    "collectors.0.add_paths": False,
    "peerings.0.name": "h",
    "peerings.0.asn": 4242429808,
    "peerings.0.description": "",
    f"{_SESSION}.mode": {
        **document()["peerings"][0]["session"],
        "mode": "split",
        "neighbor4": "172.21.81.1",
    },
    f"{_SESSION}.families": [6],
    f"{_SESSION}.interface": "wg-x",
    "peerings.1.session.neighbor4": "172.21.82.2",
    f"{_SESSION}.neighbor6": "fe80::802",
    "peerings.1.session.source4": None,
    f"{_SESSION}.source6": "fe80::2",
    f"{_SESSION}.extended_next_hop": False,
    f"{_SESSION}.require_extended_next_hop": True,
    f"{_BGP}.passive": True,
    f"{_BGP}.password": None,
    f"{_BGP}.ttl_security": True,
    "peerings.1.session.options.multihop": {
        **document()["peerings"][1]["session"],
        "neighbor6": "fd42:9802::1",
        "source6": None,
        "options": {"multihop": 4},
    },
    f"{_BGP}.timers.hold": 180,
    f"{_BGP}.timers.keepalive": 20,
    f"{_BGP}.timers.connect_retry": 20,
    f"{_BGP}.timers.error_wait": [10, 120],
    f"{_BGP}.graceful_restart": "on",
    f"{_BGP}.long_lived_graceful_restart": True,
    f"{_BGP}.send_hold": 240,
    f"{_BGP}.enforce_first_as": False,
    f"{_BGP}.extended_messages": False,
    f"{_BGP}.prefer_older": True,
    f"{_BGP}.med_metric": True,
    f"{_BGP}.default_local_pref": 50,
    f"{_BGP}.interpret_communities": False,
    f"{_BGP}.advertise_hostname": True,
    f"{_BGP}.role": "peer",
    f"{_BGP}.require_roles": {"role": "peer", "require_roles": True},
    f"{_BGP}.bfd": False,
    f"{_BGP}.bfd.min_rx": {"bfd": {"min_rx": 200}},
    f"{_BGP}.bfd.min_tx": {"bfd": {"min_tx": 200}},
    f"{_BGP}.bfd.multiplier": {"bfd": {"multiplier": 9}},
    f"{_POLICY}.local_pref": 200,
    f"{_POLICY}.prepend": 2,
    f"{_POLICY}.quality": None,
    f"{_POLICY}.quality.latency": 3,
    f"{_POLICY}.quality.bandwidth": 25,
    f"{_POLICY}.quality.crypto": 35,
    f"{_POLICY}.prefix_list": None,
    f"{_POLICY}.prefix_list.0.prefix": "172.21.81.0/26",
    f"{_POLICY}.prefix_list.0.shortest": 28,
    f"{_POLICY}.prefix_list.0.longest": 28,
    f"{_POLICY}.blackhole": [],
    f"{_POLICY}.drain": True,
    f"{_POLICY}.import_limit": None,
    f"{_POLICY}.import_limit.prefixes": 500,
    f"{_POLICY}.import_limit.action": "restart",
    f"{_POLICY}.receive_limit": _LIMIT,
    f"{_POLICY}.import_table": False,
    f"{_POLICY}.export_table": True,
    f"{_POLICY}.keep_filtered": False,
    f"{_POLICY}.preference": 110,
    f"{_POLICY}.next_hop_self": True,
    f"{_POLICY}.cost": 50,
    f"{_POLICY}.add_paths": "rx",
}
#: Fields that a place above covers in one with others of their part.
_TOGETHER = {
    "version",
    "links.addresses.address",
    *(
        f"policy.{name}.{end}"
        for name in ("allowed4", "allowed6")
        for end in ("prefix", "shortest", "longest")
    ),
    *(f"policy.bad_asn.{end}" for end in ("first", "last")),
    *(f"peerings.session.policy.blackhole.{end}" for end in ("prefix", "shortest", "longest")),
    *(f"peerings.session.policy.receive_limit.{end}" for end in ("prefixes", "action")),
}
#: What only a newer BIRD knows is rendered for it, and not at all for an older one.
_NEWER_ONLY = {f"{_BGP}.send_hold", f"{_SESSION}.require_extended_next_hop"}


@pytest.mark.parametrize("place", TOGGLES)
def test_a_field_changes_what_is_rendered(place: str, tmp_path: Path) -> None:
    before = DesiredState.model_validate(_defaults(document()))
    changed = _defaults(document())
    _set(changed, place, TOGGLES[place])
    after = DesiredState.model_validate(changed)
    version = NEWER if place in _NEWER_ONLY else None
    around = surroundings(tmp_path, version)
    old, new = render(before, 1, around), render(after, 1, around)
    assert {**old.files, **render_links(before)} != {**new.files, **render_links(after)}
    if version is None:
        assert complaint(tmp_path, new.files) == ""


@pytest.mark.parametrize("place", sorted(_NEWER_ONLY))
def test_what_an_older_bird_does_not_know_is_left_out_and_told(place: str, tmp_path: Path) -> None:
    changed = _defaults(document())
    _set(changed, place, TOGGLES[place])
    around = surroundings(tmp_path, BirdVersion(2, 0, 12))
    bundle = render(DesiredState.model_validate(changed), 1, around)
    assert [entry.field for entry in bundle.unsupported] == [place.replace("peerings.0", "peerings.f")]
    assert bundle.files == render(DesiredState.model_validate(document()), 1, around).files


def test_no_field_is_without_a_toggle() -> None:
    covered = {".".join(part for part in place.split(".") if not part.isdigit()) for place in TOGGLES}
    assert set(_leaves(DesiredState)) - covered - _TOGETHER == set()


def _leaves(model: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = list(_models(field.annotation))
        for part in inner:
            yield from _leaves(part, f"{before}{name}.")
        optional = {type(None), bool} & set(get_args(field.annotation))
        if not inner or optional:
            yield f"{before}{name}"


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for argument in get_args(annotation):
        yield from _models(argument)


def _defaults(wire: dict[str, Any]) -> dict[str, Any]:
    """The document with every default spelled out, so that every place is there."""
    return DesiredState.model_validate(wire).model_dump(mode="json")


def _set(wire: dict[str, Any], place: str, value: Any) -> None:
    *steps, last = place.split(".")
    spot: Any = wire
    trail = []
    for step in steps:
        trail.append(spot)
        spot = spot[int(step)] if isinstance(spot, list) else spot[step]
    if isinstance(value, dict) and not isinstance(spot, dict):
        trail[-1][steps[-1]] = next(iter(value.values()))
    elif isinstance(value, dict) and last != "receive_limit":
        _replace(trail, steps, spot, copy.deepcopy(value))
    elif isinstance(spot, list):
        spot[int(last)] = value
    else:
        spot[last] = value


def _replace(trail: list[Any], steps: list[str], spot: dict[str, Any], value: dict[str, Any]) -> None:
    """A part that only makes sense as a whole takes the place of what is there; options are merged."""
    if steps[-1] == "options" and "options" not in value:
        spot.update(value)
    elif steps[-1] == "options":
        trail[-2]["session"] = value
    elif isinstance(trail[-1], list):
        trail[-1][int(steps[-1])] = value
    else:
        trail[-1][steps[-1]] = value

"""From nothing to a network that carries traffic; then everything that happens to networks."""

from __future__ import annotations

import json
from typing import Any

from node_agent.apply.keys import load_keys
from tests.integration.agent.apply.routers import desired, eventually
from tests.lab.conftest import OURS, Lab

THEIRS = 4242429801
FAST = {"options": {"timers": {"connect_retry": 1, "error_wait": [1, 2], "hold": 9, "keepalive": 3}}}


def add_node(lab: Lab, number: int) -> None:
    node = f"r{number}"
    routing = {
        "asn": OURS,
        "number": number,
        "loopback4": f"172.20.99.{number}",
        "loopback6": f"fd42:9900::{number}",
        "prefixes4": ["172.20.99.0/26"],
        "prefixes6": ["fd42:9900::/48"],
        "endpoint": f"198.18.0.{number}",
        "region": 41,
    }
    lab.hub.want("POST", "/api/v1/nodes", {"node_id": node, "routing": routing})
    token = lab.hub.want("POST", "/api/v1/enrolment-tokens", {"node_id": node})["token"]
    lab.agents[node].enrol(token)
    lab.agents[node].start()


def tunnel_of_neighbour(lab: Lab) -> dict[str, Any]:
    return {
        "kind": "wireguard",
        "interface": "wg-r1",
        "addresses": [{"address": "fe80::801/64"}],
        "listen_port": 20099,
        "peer_public_key": load_keys(lab.nodes["r1"].directory / "agent").public.wireguard,
        "endpoint": "198.18.0.1:29801",
        "keepalive": 1,
    }


def test_three_nodes_enrol_and_run_what_was_published(lab: Lab) -> None:
    for number in (1, 2, 3):
        add_node(lab, number)
    lab.settle()
    for node, router in lab.nodes.items():
        running = router.ask("eval RL_CONFIG").splitlines()[-1].strip('"')
        assert running.startswith(f"{lab.generation(node)}-")


def test_links_join_them_and_routes_follow(lab: Lab) -> None:
    for one, other in ((1, 2), (2, 3), (1, 3)):
        # The sockets of wireguard-go are files, which namespaces share: each end has a name of its own.
        ends = {"interface_a": f"wg-{one}-{other}", "interface_b": f"wg-{other}-{one}"}
        body = {"node_a": f"r{one}", "node_b": f"r{other}", "userspace": True, **ends}
        lab.hub.want("POST", "/api/v1/links", body)
    lab.settle()
    for router, session in (("r1", "rl_i_r2"), ("r1", "rl_i_r3"), ("r3", "rl_i_r2")):
        lab.nodes[router].wait_for(session)
    ping = lab.nodes["r3"].place.run("ping", "-c", "3", "-i", "0.2", "-I", "172.20.99.3", "172.20.99.1")
    assert " 0% packet loss" in ping


def test_a_foreign_neighbour_comes_up_and_is_heard_everywhere(lab: Lab) -> None:
    before = {s: lab.nodes["r1"].since(s) for s in ("rl_i_r2", "rl_i_r3")}
    key = lab.neighbour.keys.public.wireguard
    lab.hub.want(
        "POST",
        "/api/v1/peerings",
        {
            "node_id": "r1",
            "name": "f",
            "asn": THEIRS,
            "link": {
                "kind": "wireguard",
                "peer_public_key": key,
                "endpoint": "198.18.0.9:20099",
                "keepalive": 1,
                "userspace": True,
            },
            "session": {"neighbor6": "fe80::801", **FAST},
        },
    )
    theirs = desired(
        9,
        THEIRS,
        node={"prefixes4": ["172.21.81.0/27"], "prefixes6": ["fd42:9801::/48"]},
        links=[tunnel_of_neighbour(lab)],
        peerings=[
            {
                "name": "r1",
                "asn": OURS,
                "session": {"interface": "wg-r1", "neighbor6": "fe80::1", "source6": "fe80::801", **FAST},
            }
        ],
    )
    assert lab.neighbour.apply(theirs).errors == []
    lab.settle()
    lab.nodes["r1"].wait_for("rl_f")
    eventually(lambda: "172.21.81.0/27" in lab.nodes["r3"].ask("show route"), "r3 hears of it")
    for session, since in before.items():
        assert lab.nodes["r1"].since(session).same_as(since)


def test_what_runs_is_seen_at_the_server(lab: Lab) -> None:
    lab.hub.want("POST", "/api/v1/nodes/r1/observation")

    def seen() -> bool:
        snapshot = lab.hub.want("GET", "/api/v1/nodes/r1/observation")["snapshot"]
        states = {p["name"]: p["bgp_state"] for p in snapshot["protocols"]}
        return states.get("rl_f") == "Established"

    eventually(seen, "the session is seen")


def test_a_disabled_peering_is_gone_and_the_others_stay(lab: Lab) -> None:
    before = {s: lab.nodes["r1"].since(s) for s in ("rl_i_r2", "rl_i_r3")}
    peering = lab.hub.want("GET", "/api/v1/peerings?node_id=r1")["items"][0]
    path = f"/api/v1/peerings/{peering['id']}"
    lab.hub.want("PATCH", path, {"enabled": False}, version=peering["version"])
    lab.settle()
    assert "rl_f" not in lab.nodes["r1"].ask("show protocols")
    assert "wg-f" not in lab.nodes["r1"].place.run("ip", "link", "show")
    lab.hub.want("PATCH", path, {"enabled": True}, version=peering["version"] + 1)
    lab.settle()
    lab.nodes["r1"].wait_for("rl_f")
    for session, since in before.items():
        assert lab.nodes["r1"].since(session).same_as(since)


def test_maintenance_sends_traffic_elsewhere_without_a_flap(lab: Lab) -> None:
    since = lab.neighbour.since("rl_r1")
    lab.hub.want("PUT", "/api/v1/nodes/r1/maintenance", {"reason": "new disks"})
    lab.settle()
    eventually(
        lambda: (
            "(65535, 0)" in lab.neighbour.ask("show route all protocol rl_r1")
            or "(65535,0)" in lab.neighbour.ask("show route all protocol rl_r1")
        ),
        "asked to use other ways",
    )
    assert lab.neighbour.since("rl_r1").same_as(since)
    lab.hub.want("DELETE", "/api/v1/nodes/r1/maintenance")
    lab.settle()


def test_a_broken_include_is_refused_told_and_heals_by_itself(lab: Lab) -> None:
    router = lab.nodes["r2"]
    good = router.ask("eval RL_CONFIG")
    broken = router.directory / "local" / "broken.conf"
    broken.write_text("protocol nonsense {\n")
    facts = lab.hub.want("GET", "/api/v1/nodes/r2/facts")
    lab.hub.want("PATCH", "/api/v1/nodes/r2", {"routing": {"country": 1276}}, version=facts["version"])

    def told() -> bool:
        result = lab.hub.want("GET", "/api/v1/nodes/r2/observation")["apply_result"]
        return bool(result["status"] == "failed" and "broken.conf" in json.dumps(result["errors"]))

    eventually(told, "the reason is told")
    assert router.ask("eval RL_CONFIG") == good
    broken.unlink()
    lab.settle()
    eventually(
        lambda: lab.hub.want("GET", "/api/v1/nodes/r2/observation")["apply_result"]["status"] == "applied",
        "it healed",
    )


def test_a_dead_bird_is_told_and_comes_back_as_it_was(lab: Lab) -> None:
    router = lab.nodes["r3"]
    router.bird.kill()

    def told() -> bool:
        result = lab.hub.want("GET", "/api/v1/nodes/r3/observation")["apply_result"]
        return bool(result["errors"] and result["errors"][0]["code"] == "bird_unreachable")

    eventually(told, "its death is told")
    router.bird.start()
    router.wait_for("rl_i_r1")
    eventually(
        lambda: lab.hub.want("GET", "/api/v1/nodes/r3/observation")["apply_result"]["status"] == "applied",
        "it is applied again",
    )


def test_without_the_controller_the_network_stands_and_heals(lab: Lab) -> None:
    router = lab.nodes["r2"]
    lab.hub.stop()
    router.place.run("ip", "link", "set", "dev", "wg-2-1", "down")
    eventually(
        lambda: (
            "state UNKNOWN" in router.place.run("ip", "link", "show", "wg-2-1")
            or "UP" in router.place.run("ip", "link", "show", "wg-2-1").split(">")[0]
        ),
        "the tunnel is up again",
    )
    router.wait_for("rl_i_r1")
    lab.hub.start()
    facts = lab.hub.want("GET", "/api/v1/nodes/r2/facts")
    lab.hub.want("PATCH", "/api/v1/nodes/r2", {"routing": {"region": 42}}, version=facts["version"])
    lab.settle()


def test_a_killed_agent_goes_on_where_it_was(lab: Lab) -> None:
    agent = lab.agents["r3"]
    agent.stop(at_once=True)
    facts = lab.hub.want("GET", "/api/v1/nodes/r3/facts")
    lab.hub.want("PATCH", "/api/v1/nodes/r3", {"routing": {"region": 43}}, version=facts["version"])
    agent.start()
    lab.settle()


def test_a_rollback_is_applied(lab: Lab) -> None:
    number = lab.generation("r2") - 1
    lab.hub.want("POST", f"/api/v1/nodes/r2/generations/{number}/rollback")
    lab.settle()
    assert lab.hub.want("GET", "/api/v1/nodes/r2/facts")["routing"]["region"] == 41


def test_no_secret_has_left_the_nodes(lab: Lab) -> None:
    database = (lab.hub.directory / "control.db").read_bytes()
    log = (lab.hub.directory / "control.log").read_text()
    for router in lab.nodes.values():
        private = load_keys(router.directory / "agent").wireguard_text
        assert private.encode() not in database
        assert private not in log
        assert private not in (router.directory / "agent.log").read_text()


def test_a_decommissioned_node_routes_nothing_and_can_be_forgotten(lab: Lab) -> None:
    for link in lab.hub.want("GET", "/api/v1/links?node_id=r3")["items"]:
        lab.hub.want("DELETE", f"/api/v1/links/{link['id']}")
    facts = lab.hub.want("GET", "/api/v1/nodes/r3/facts")
    over = {"lifecycle": "decommissioned"}
    lab.hub.want("PATCH", "/api/v1/nodes/r3", over, version=facts["version"])
    lab.settle()
    assert "BGP" not in lab.nodes["r3"].ask("show protocols")
    eventually(lambda: lab.hub.ask("DELETE", "/api/v1/nodes/r3")[0] == 204, "it is forgotten")

"""What BIRD is given does what it promises: every promise is looked up with `birdc` on real daemons.

The agents reach their server over IPv6 alone: there is no IPv4 on the bridge. The links are plain cables
here; `make lab` looks at everything once more over WireGuard.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.agent.apply.routers import Router, eventually
from tests.lab.building import OURS, Lab, open_lab
from tests.lab.caches import Caches, open_caches
from tests.lab.neighbours import Neighbour

F, G = 4242429801, 4242429802
ROAS = [
    ("172.20.99.0/26", 29, OURS),
    ("172.21.81.0/27", 29, F),
    ("172.21.82.0/27", 29, G),
    ("fd42:9900::/48", 64, OURS),
    ("fd42:9801::/48", 64, F),
    ("fd42:9802::/48", 64, G),
]
_PATH = "bgp_path = +empty+;"
_COMMUNITIES = " ".join(f"bgp_community.add((64511, {value}));" for value in (5, 7, 22, 33, 52, 1392))
_LARGE = f"bgp_large_community.add(({OURS}, 100, 99)); bgp_large_community.add(({F}, 1, 2));"
#: Taken, each for its own sake.
GOOD = [
    "172.21.81.0/27",
    "172.21.81.5/32 bgp_community.add((65535, 666));",
    "172.22.55.0/27",
    f"172.22.62.0/27 {_COMMUNITIES} {_LARGE}",
]
#: Refused, each with its reason.
BAD = {
    "0.0.0.0/0": (1, ""),
    "172.20.99.0/27": (2, ""),
    "10.0.0.0/8": (3, ""),
    "192.168.5.0/24": (3, ""),
    "172.22.61.0/27": (4, _PATH + "bgp_path.prepend(4242429877);" * 8),
    "172.22.60.0/27": (5, f"{_PATH} bgp_path.prepend(65536);"),
    "172.21.82.0/27": (13, ""),
    "172.21.82.7/32": (20, "bgp_community.add((65535, 666));"),
    "fd42:9802::/48": (13, ""),
    "fd42:9900:0:5::/64": (2, ""),
    "2001:db8::/32": (3, ""),
    "fd00::/16": (3, ""),
}
SIX = ["fd42:9801::/48"]
MINE = [
    {"prefix": "172.21.81.0/27", "shortest": 27, "longest": 32},
    {"prefix": "fd42:9801::/48", "shortest": 48, "longest": 128},
]
QUALITY = {"latency": 2, "bandwidth": 25, "crypto": 34}


@pytest.fixture(scope="module", params=["plain", pytest.param("wireguard", marks=pytest.mark.soak)])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    others = [("f", 11), ("g", 12)]
    place = tmp_path_factory.mktemp("policy")
    with open_lab(place, request.param, family=6, neighbours=others) as found:
        yield found


@pytest.fixture(scope="module")
def caches(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caches]:
    with open_caches(lab.hub, tmp_path_factory.mktemp("caches"), ROAS) as found:
        yield found


@pytest.fixture(scope="module")
def f(lab: Lab) -> Neighbour:
    return Neighbour(lab, "f", 1, "r1")


@pytest.fixture(scope="module")
def g(lab: Lab) -> Neighbour:
    return Neighbour(lab, "g", 2, "r2")


def seen(router: Router, command: str, pattern: str) -> None:
    """Wait until the whole answer, on one line, matches."""
    eventually(
        lambda: re.search(pattern, flat(router.ask(command))) is not None,
        f"{router.name}: {command} ~ {pattern}",
    )


def flat(said: str) -> str:
    """Without line ends, and with communities spelled as in every version."""
    return re.sub(r"\s+", " ", said).replace(", ", ",")


def without_flap(router: Router, *sessions: str) -> Any:
    """To be asked later whether these sessions are still what they were."""
    before = {session: router.since(session) for session in sessions}
    return lambda: all(router.since(session).same_as(since) for session, since in before.items())


def announced(f: Neighbour, good: list[str]) -> None:
    bad = [f"{prefix} {carries}".strip() for prefix, (_, carries) in BAD.items()]
    four = [entry for entry in bad if ":" not in entry.split(" ", maxsplit=1)[0]]
    six = [entry for entry in bad if entry not in four]
    f.announce(good + four, SIX + six)


def test_agents_without_ipv4_build_the_network(lab: Lab, caches: Caches, f: Neighbour, g: Neighbour) -> None:
    for place in (lab.hub.place, *(router.place for router in lab.nodes.values())):
        assert "inet 198." not in place.run("ip", "address", "show")
    snapshot = [{"prefix": prefix, "max_length": longest, "origin": asn} for prefix, longest, asn in ROAS]
    policy = {
        "roa": {"servers": caches.servers, "snapshot": snapshot},
        "inside": {"igp": "ospf", "ibgp": "full_mesh", "bfd": True},
    }
    lab.hub.want("PUT", "/api/v1/policy", policy, version=0)
    lab.add_nodes(country=1276, proof4="172.20.99.0/26", proof6="fd42:9900::/48")
    lab.settle()
    lab.link_nodes()
    f.ask_for_peering({"policy": {"blackhole": MINE, "quality": QUALITY}}, link=f.link())
    halves = {"mode": "split", "neighbor4": "172.21.82.1", "source4": "172.20.99.2"}
    bfd = {"bfd": {"min_rx": 200, "min_tx": 200, "multiplier": 3}}
    address = {"address": "172.20.99.2/32", "peer": "172.21.82.1"}
    g.ask_for_peering({**halves, "options": bfd}, link=g.link(addresses=[address]))
    for neighbour in (f, g):
        neighbour.paste()
    if lab.kind == "plain":
        peer = ("172.21.82.1/32", "peer", "172.20.99.2")
        g.router.place.run("ip", "address", "add", *peer, "dev", g.interface)
    f.router.place.run("ip", "address", "add", "172.21.81.1/32", "dev", "lo")
    f.router.place.run("ip", "address", "add", "fd42:9801::1/128", "dev", "lo", "nodad")
    announced(f, GOOD)
    g.announce(["172.21.82.0/27"], ["fd42:9802::/48"])
    lab.settle()
    for node, sessions in (("r1", ["rl_f", "rl_i_r2", "rl_i_r3"]), ("r2", ["rl_g_4", "rl_g_6", "rl_i_r3"])):
        for session in sessions:
            lab.nodes[node].wait_for(session)


def test_what_runs_is_what_is_wanted_and_nothing_is_pending(lab: Lab) -> None:
    for node, router in lab.nodes.items():
        assert re.fullmatch(rf"{lab.generation(node)}-[0-9a-f]{{12}}", lab.running(node))
        assert lab.running(node) == lab.result(node)["running"]
        status = router.ask("configure status")
        assert "Daemon is up and running" in status
        assert "undo" not in status


def test_one_session_carries_both_families_with_extended_next_hops(lab: Lab) -> None:
    r1 = lab.nodes["r1"]
    seen(r1, 'show protocols "rl_f"', r"rl_f BGP --- up .*Established")
    capability = "Local cap.*Extended next hop.*Neighbor cap.*Extended next hop"
    seen(r1, 'show protocols all "rl_f"', capability)
    seen(r1, 'show protocols all "rl_f"', r"Channel ipv4.*Routes: 4 imported,8 filtered.*Channel ipv6")
    seen(r1, 'show protocols all "rl_f"', r"Channel ipv6.*Routes: 1 imported,4 filtered")
    seen(r1, "show route 172.21.81.0/27", r"via fe80::801 on")
    kernel = r"via inet6 fe80::801 .*proto bird src 172\.20\.99\.1"
    eventually(
        lambda: re.search(kernel, r1.place.run("ip", "route", "show", "172.21.81.0/27")) is not None,
        "the kernel has it",
    )


@pytest.mark.parametrize("prefix", BAD)
def test_what_is_refused_keeps_its_reason(lab: Lab, prefix: str) -> None:
    reason, _ = BAD[prefix]
    r1 = lab.nodes["r1"]
    seen(r1, f"show route filtered {prefix} all", rf"\({OURS},1101,{reason}\)")
    family = 6 if ":" in prefix else 4
    seen(r1, f"show route import table rl_f.ipv{family} {prefix}", rf"AS{F}|AS65536|AS4242429877")


def test_the_caches_are_heard_and_prove_themselves(lab: Lab) -> None:
    for router in lab.nodes.values():
        seen(router, 'show protocols "rl_rtr_*"', "rl_rtr_a .*Established.*rl_rtr_b .*Established")
        for family in (4, 6):
            proof = f"roa_check(rl_roa{family}, RL_PROOF{family}, RL_ASN) = ROA_VALID"
            seen(router, f"eval {proof}", "TRUE")


def test_a_blackhole_is_its_owners_reaches_all_our_routers_and_nobody_elses(lab: Lab, g: Neighbour) -> None:
    seen(lab.nodes["r1"], "show route 172.21.81.5/32", r"blackhole \[rl_f")
    eventually(
        lambda: lab.nodes["r3"].place.run("ip", "route", "show", "172.21.81.5").startswith("blackhole"),
        "r3 drops it",
    )
    assert "172.21.81.5" not in g.router.ask("show route")


def test_inside_next_hops_are_loopbacks_which_only_the_interior_protocol_knows(lab: Lab) -> None:
    r1, r3 = lab.nodes["r1"], lab.nodes["r3"]
    seen(r3, "show route 172.22.55.0/27 all", r"via fe80::1 .*next_hop: fd42:9900::1")
    for loopback in ("172.20.99.1/32", "fd42:9900::1/128"):
        assert "rl_i_" not in r3.ask(f"show route {loopback} all")
    for family in (4, 6):
        seen(r1, f"show ospf neighbors rl_ospf{family}", "Full/PtP.*Full/PtP")


def test_bfd_watches_the_neighbour_and_the_inside(lab: Lab) -> None:
    seen(lab.nodes["r2"], "show bfd sessions", r"fe80::802 \S+ Up .*?0\.200")
    seen(lab.nodes["r1"], "show bfd sessions", r"fe80::2 \S+ Up")
    seen(lab.nodes["r1"], "show bfd sessions", r"fd42:9900::3 \S+ Up")


def test_communities_say_the_worst_of_the_way_and_where_our_own_begin(lab: Lab, f: Neighbour) -> None:
    r1 = lab.nodes["r1"]
    command = "show route 172.22.62.0/27 all"
    for group in (r"\(64511,7\) \(64511,22\) \(64511,33\)", r"\(64511,52\)", r"\(64511,1392\)"):
        seen(r1, command, group)
    said = flat(r1.ask(command))
    assert f"({F},1,2)" in said
    assert f"({OURS},100,1)" in said
    assert f"({OURS},100,99)" not in said
    assert "(64511,5)" not in said
    seen(f.router, "show route 172.20.99.0/26 all", r"\(64511,41\).*\(64511,1276\)")
    learnt = flat(f.router.ask("show route 172.21.82.0/27 all protocol node_r1"))
    assert "(64511,41)" not in learnt
    assert "(64511,1276)" not in learnt


def test_traffic_flows(lab: Lab) -> None:
    for source, target in (("172.20.99.3", "172.21.81.1"), ("fd42:9900::3", "fd42:9801::1")):
        ping = ("ping", "-c", "3", "-i", "0.2", "-I", source, target)
        assert " 0% packet loss" in lab.nodes["r3"].place.run(*ping)


def test_a_peering_comes_and_goes_and_no_other_row_changes(lab: Lab) -> None:
    r1 = lab.nodes["r1"]

    def names() -> set[str]:
        return {line.split()[0] for line in r1.ask("show protocols").splitlines()[2:] if line.strip()}

    before = names()
    steady = without_flap(r1, *sorted(before))
    r1.place.run("ip", "link", "add", "dev", "eth-h", "type", "veth", "peer", "name", "eth-i")
    link = {"kind": "plain", "interface": "eth-h"}
    body = {"node_id": "r1", "name": "h", "asn": 4242429808, "session": {"neighbor6": "fe80::808"}}
    lab.hub.want("POST", "/api/v1/peerings", {**body, "link": link})
    lab.settle("r1")
    assert names() - before == {"rl_h"}
    lab.hub.want("DELETE", f"/api/v1/peerings/{lab.hub.peering('r1', 'h')['id']}")
    lab.settle("r1")
    assert names() == before
    assert steady()


def test_a_drained_session_and_a_prepended_path_flap_nothing(lab: Lab, f: Neighbour) -> None:
    r1, r3 = lab.nodes["r1"], lab.nodes["r3"]
    steady = without_flap(r1, "rl_f", "rl_i_r3")
    lab.hub.change_peering("r1", "f", session={"policy": {"drain": True, "prepend": 2}})
    lab.settle("r1")
    ours = "show route 172.20.99.0/26 all protocol node_r1"
    seen(f.router, ours, r"\(65535,0\)")
    seen(f.router, ours, rf"path: {OURS} {OURS} {OURS}")
    seen(r3, "show route 172.22.55.0/27 all", "local_pref: 0")
    lab.hub.change_peering("r1", "f", session={"policy": {"drain": False, "prepend": 0}})
    lab.settle("r1")
    seen(r3, "show route 172.22.55.0/27 all", "local_pref: 100")
    eventually(lambda: "(65535,0)" not in flat(f.router.ask(ours)), "it may be used again")
    assert steady()


def test_a_shutdown_that_is_announced_is_honoured_and_not_passed_on(
    lab: Lab, f: Neighbour, g: Neighbour
) -> None:
    shutting = [
        entry if entry != "172.22.55.0/27" else f"{entry} bgp_community.add((65535, 0));" for entry in GOOD
    ]
    announced(f, shutting)
    seen(lab.nodes["r1"], "show route 172.22.55.0/27 all", "local_pref: 0")
    seen(g.router, "show route 172.22.55.0/27 all", rf"path: {OURS} {F}")
    assert "(65535,0)" not in flat(g.router.ask("show route 172.22.55.0/27 all"))
    announced(f, GOOD)
    seen(lab.nodes["r1"], "show route 172.22.55.0/27 all", "local_pref: 100")


def test_a_limit_blocks_and_a_raised_one_lets_in_what_it_had_blocked(lab: Lab, f: Neighbour) -> None:
    r1 = lab.nodes["r1"]
    lab.hub.change_peering("r1", "f", session={"policy": {"import_limit": {"prefixes": 3}}})
    lab.settle("r1")
    r1.ask("restart rl_f")
    seen(r1, 'show protocols all "rl_f"', r"Established.*Import limit: 3 \[HIT\].*Routes: 3 imported")
    steady = without_flap(r1, "rl_f")
    lab.hub.change_peering("r1", "f", session={"policy": {"import_limit": "off"}})
    lab.settle("r1")
    seen(r1, 'show protocols all "rl_f"', "Established.*Channel ipv4.*Routes: 4 imported.*Channel ipv6")
    assert steady()
    assert "Import limit" not in r1.ask('show protocols all "rl_f"')


def test_filters_of_route_objects_refuse_the_rest(lab: Lab) -> None:
    r1 = lab.nodes["r1"]
    steady = without_flap(r1, "rl_f")
    own = [{"prefix": "172.21.81.0/27", "shortest": 27, "longest": 29}]
    lab.hub.change_peering("r1", "f", session={"policy": {"prefix_list": own}})
    lab.settle("r1")
    seen(r1, "show route filtered 172.22.55.0/27 all", rf"\({OURS},1101,7\)")
    lab.hub.change_peering("r1", "f", session={"policy": {"prefix_list": None}})
    lab.settle("r1")
    seen(r1, "show route 172.22.55.0/27", "rl_f")
    assert steady()


def test_an_anycast_address_is_announced_while_its_interface_is_up(lab: Lab, f: Neighbour) -> None:
    entry = {"interface": "rl-dns", "addresses": ["172.20.99.33/29"]}
    lab.hub.change_node("r1", routing={"anycast": [entry]})
    lab.settle("r1")
    command = "show route 172.20.99.32/29"
    seen(f.router, command, "node_r1")
    agent = lab.agents["r1"].process
    assert agent is not None
    # The agent would bring it up again at its next look.
    agent.send_signal(signal.SIGSTOP)
    lab.nodes["r1"].place.run("ip", "link", "set", "dev", "rl-dns", "down")
    eventually(lambda: "node_r1" not in f.router.ask(command), "it is gone")
    agent.send_signal(signal.SIGCONT)
    seen(f.router, command, "node_r1")


def test_empty_caches_leave_the_decision_to_the_snapshot(lab: Lab, caches: Caches) -> None:
    r1 = lab.nodes["r1"]
    command = "show route filtered 172.21.82.0/27 all"
    caches.serve([])
    seen(r1, command, rf"\({OURS},1101,15\)")
    seen(r1, "show route 172.22.55.0/27", "rl_f")
    caches.serve(ROAS)
    seen(r1, command, rf"\({OURS},1101,13\)")


def test_nothing_has_been_left_to_do(lab: Lab) -> None:
    for node in lab.nodes:
        assert lab.result(node)["errors"] == []
        assert lab.hub.want("GET", f"/api/v1/nodes/{node}/observation")["drift"]["items"] == []

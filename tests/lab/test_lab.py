"""From nothing to a network that carries traffic; then everything that happens to networks.

One story, told over WireGuard; `make lab` tells it over plain cables too.
"""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from node_agent.apply.keys import load_keys
from tests.integration.agent.apply.routers import Router, eventually
from tests.lab.building import Lab, open_lab
from tests.lab.leaks import files_with, find_leaks, private, shared_with_the_daemon
from tests.lab.neighbours import Neighbour

#: Planted, to be looked for everywhere at the end.
PASSWORD = "planted-password-of-a-session"
PRESHARED = base64.b64encode(b"planted preshared key, 32 bytes.").decode()
INSIDE = ("rl_i_r2", "rl_i_r3")


@pytest.fixture(scope="module", params=["wireguard", pytest.param("plain", marks=pytest.mark.soak)])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    place = tmp_path_factory.mktemp("lab")
    with open_lab(place, request.param, neighbours=[("f", 11)], recorded="r1") as found:
        yield found


@pytest.fixture(scope="module")
def f(lab: Lab) -> Neighbour:
    return Neighbour(lab, "f", 1, "r1")


def failed(lab: Lab, node: str, *, step: str, code: str, words: str) -> None:
    """Wait until the failure is told: to programs, and on the node's page."""

    def told() -> bool:
        result = lab.result(node)
        return result["status"] == "failed" and any(
            (error["step"], error["code"]) == (step, code) and words in error["detail"]
            for error in result["errors"]
        )

    eventually(told, f"{node} tells of {code}")
    page = lab.hub.page(f"/nodes/{node}")
    assert code in page
    assert words in page


def new_generation(lab: Lab, node: str, country: int) -> str:
    """Publish something; answers what the node runs before it."""
    before = lab.running(node)
    lab.hub.change_node(node, routing={"country": country})
    return before


def test_three_nodes_enrol_and_run_what_was_published(lab: Lab) -> None:
    lab.add_nodes()
    lab.settle()
    for node in lab.nodes:
        assert lab.running(node).startswith(f"{lab.generation(node)}-")


def test_links_join_them_and_routes_follow(lab: Lab) -> None:
    lab.link_nodes()
    lab.settle()
    for router, session in (("r1", "rl_i_r2"), ("r1", "rl_i_r3"), ("r3", "rl_i_r2")):
        lab.nodes[router].wait_for(session)
    ping = lab.nodes["r3"].place.run("ping", "-c", "3", "-i", "0.2", "-I", "172.20.99.3", "172.20.99.1")
    assert " 0% packet loss" in ping


def test_a_foreign_neighbour_pastes_what_it_was_told_and_is_heard_everywhere(lab: Lab, f: Neighbour) -> None:
    before = {session: lab.nodes["r1"].since(session) for session in INSIDE}
    shared = {"preshared_key": PRESHARED} if lab.kind == "wireguard" else {}
    f.ask_for_peering({}, link=f.link(), password=PASSWORD, **shared)
    f.paste({"THE-KEY-THAT-WE-SHARE": PRESHARED, "THE-PASSWORD-THAT-WE-SHARE": PASSWORD})
    f.announce(["172.21.81.0/27"], ["fd42:9801::/48"])
    lab.settle()
    lab.nodes["r1"].wait_for("rl_f")
    assert f.router.established("node_r1")
    eventually(lambda: "172.21.81.0/27" in lab.nodes["r3"].ask("show route"), "r3 hears of it")
    for session, since in before.items():
        assert lab.nodes["r1"].since(session).same_as(since)


def test_what_runs_is_seen_at_the_server(lab: Lab) -> None:
    def seen() -> bool:
        lab.hub.want("POST", "/api/v1/nodes/r1/observation")
        snapshot = lab.hub.want("GET", "/api/v1/nodes/r1/observation")["snapshot"]
        states = {p["name"]: p["bgp_state"] for p in snapshot["protocols"]}
        return states.get("rl_f") == "Established"

    eventually(seen, "the session is seen")


def test_a_disabled_peering_is_gone_and_the_others_stay(lab: Lab) -> None:
    node = lab.nodes["r1"]
    before = {session: node.since(session) for session in INSIDE}
    lab.hub.change_peering("r1", "f", enabled=False)
    lab.settle("r1")
    assert "rl_f" not in node.ask("show protocols")
    assert ("wg-f" in node.place.run("ip", "link", "show")) is False
    lab.hub.change_peering("r1", "f", enabled=True)
    lab.settle("r1")
    node.wait_for("rl_f")
    for session, since in before.items():
        assert node.since(session).same_as(since)


def test_maintenance_sends_traffic_elsewhere_without_a_flap(lab: Lab, f: Neighbour) -> None:
    since = f.router.since("node_r1")
    lab.hub.want("PUT", "/api/v1/nodes/r1/maintenance", {"reason": "new disks"})
    lab.settle("r1")

    def asked() -> bool:
        return "(65535,0)" in f.router.ask("show route all protocol node_r1").replace(", ", ",")

    eventually(asked, "asked to use other ways")
    assert f.router.since("node_r1").same_as(since)
    lab.hub.want("DELETE", "/api/v1/nodes/r1/maintenance")
    lab.settle("r1")
    eventually(lambda: not asked(), "the node is used again")


def test_a_broken_include_is_refused_told_and_heals_by_itself(lab: Lab) -> None:
    broken = lab.nodes["r2"].directory / "local" / "broken.conf"
    broken.write_text("protocol nonsense {\n")
    before = new_generation(lab, "r2", 1276)
    failed(lab, "r2", step="validate", code="configuration_refused", words="broken.conf:1")
    assert lab.running("r2") == before
    broken.unlink()
    lab.settle("r2")


def test_what_only_the_daemon_refuses_is_told_and_heals_by_itself(lab: Lab) -> None:
    """The check runs where the agent does: what is there is not where the daemon runs."""
    home = lab.nodes["r2"].directory
    (home / "only-here.conf").write_text("# nothing\n")
    elsewhere = home / "local" / "elsewhere.conf"
    elsewhere.write_text('include "/proc/self/cwd/only-here.conf";\n')
    before = new_generation(lab, "r2", 1250)
    failed(lab, "r2", step="configure", code="configuration_refused", words="only-here.conf")
    assert lab.running("r2") == before
    elsewhere.unlink()
    lab.settle("r2")
    drift = lab.hub.want("GET", "/api/v1/nodes/r2/observation")["drift"]
    assert drift["items"] == []


def test_a_full_disk_is_told_and_the_next_try_after_it_succeeds(lab: Lab) -> None:
    filler = lab.nodes["r2"].directory / "routeloom" / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    before = new_generation(lab, "r2", 1040)
    failed(lab, "r2", step="write", code="files_not_written", words="No space left on device")
    assert lab.running("r2") == before
    filler.unlink()
    lab.settle("r2")


def test_a_dead_bird_is_told_and_comes_back_as_it_was(lab: Lab) -> None:
    router = lab.nodes["r3"]
    router.bird.kill()
    failed(lab, "r3", step="bird", code="bird_unreachable", words="Is bird running?")
    router.bird.start()
    router.wait_for("rl_i_r1")
    lab.settle("r3")


def test_an_agent_killed_between_write_and_reload_goes_on_from_there(lab: Lab) -> None:
    home, agent = lab.nodes["r3"].directory, lab.agents["r3"]
    pipe, hold = home / "pipe", home / "local" / "hold.conf"
    os.mkfifo(pipe)
    # Who checks the files waits for somebody to write into the pipe: nobody does.
    hold.write_text(f'include "{pipe}";\n')
    before = new_generation(lab, "r3", 1276)
    eventually(lambda: _staged(lab.nodes["r3"], lab.generation("r3")), "the files are written")
    agent.stop(at_once=True)
    assert lab.running("r3") == before
    hold.unlink()
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    agent.start()
    lab.settle("r3")


def _staged(router: Router, generation: int) -> bool:
    found: Path = router.directory / "routeloom" / "gen"
    return any(path.name.startswith(f"{generation}-") for path in found.iterdir())


def test_what_cuts_the_agents_own_path_undoes_itself(lab: Lab) -> None:
    """First the agent takes it back; then the agent is dead, and BIRD does it alone."""
    node, agent = lab.nodes["r2"], lab.agents["r2"]
    before, since = lab.running("r2"), node.since("rl_i_r1")
    cut = {"prefix": f"{lab.hub.wires.hub}/32", "kind": "blackhole"}
    lab.hub.change_node("r2", routing={"static_routes": [cut]})
    generation = f"{lab.generation('r2')}-"
    failed(lab, "r2", step="configure", code="controller_lost", words="taken back")
    eventually(lambda: lab.running("r2").startswith(generation), "it is tried again")
    agent.stop(at_once=True)
    eventually(lambda: lab.running("r2") == before, "BIRD has gone back by itself")
    assert "blackhole" not in node.place.run("ip", "route", "show")
    lab.hub.change_node("r2", routing={"static_routes": []})
    agent.start()
    lab.settle("r2")
    assert node.since("rl_i_r1").same_as(since)


def test_without_the_controller_the_network_stands_and_heals(lab: Lab) -> None:
    router = lab.nodes["r2"]
    interface = "wg-2-1" if lab.kind == "wireguard" else "eth-2-1"
    lab.hub.stop()
    router.place.run("ip", "link", "set", "dev", interface, "down")
    eventually(
        lambda: ",UP" in router.place.run("ip", "link", "show", interface).split(">")[0], "it is up again"
    )
    router.wait_for("rl_i_r1")
    lab.hub.start()
    lab.hub.change_node("r2", routing={"region": 42})
    lab.settle("r2")


def test_a_rollback_is_applied(lab: Lab) -> None:
    number = lab.generation("r2") - 1
    lab.hub.want("POST", f"/api/v1/nodes/r2/generations/{number}/rollback")
    lab.settle("r2")
    assert lab.hub.want("GET", "/api/v1/nodes/r2/facts")["routing"]["region"] == 41


def test_changes_that_come_together_are_taken_together(lab: Lab) -> None:
    agent, before = lab.agents["r2"], lab.generation("r2")
    assert agent.process is not None
    # Twenty doorbells ring while it cannot move.
    agent.process.send_signal(signal.SIGSTOP)
    for number in range(20):
        lab.hub.change_node("r2", routing={"country": 1300 + number})
    assert lab.generation("r2") == before + 20
    asked = agent.log.count("desired_state.pulled")
    agent.process.send_signal(signal.SIGCONT)
    lab.settle("r2")
    assert agent.log.count("desired_state.pulled") - asked == 1
    assert "1319" in lab.nodes["r2"].ask("eval RL_COUNTRY")


def test_no_secret_is_anywhere_but_where_it_must_be(lab: Lab) -> None:
    agent, node = lab.nodes["r1"].directory / "agent", lab.nodes["r1"].directory
    keys = load_keys(agent)
    private_key, sealing_key = bytes(keys.wireguard), bytes(keys.sealing)
    secrets = {
        "tunnel key": private_key,
        "tunnel key as text": keys.wireguard_text.encode(),
        "sealing key": sealing_key,
        "sealing key as text": base64.b64encode(sealing_key),
        "preshared key": PRESHARED.encode(),
        "preshared key in bytes": base64.b64decode(PRESHARED),
        "password": PASSWORD.encode(),
    }
    assert find_leaks(lab, secrets) == []
    for name, file in (("tunnel key as text", "wireguard.key"), ("sealing key as text", "sealing.key")):
        found = files_with(node, secrets[name])
        assert set(found) == {f"agent/{file}"}
        assert all(map(private, found.values()))
    for name in ("tunnel key", "sealing key", "preshared key", "preshared key in bytes"):
        assert files_with(node, secrets[name]) == {}
    for_bird = files_with(node, secrets["password"])
    assert {path.rpartition("/")[2] for path in for_bird} == {"f.conf"}
    assert all(map(shared_with_the_daemon, for_bird.values()))


def test_a_decommissioned_node_routes_nothing_and_can_be_forgotten(lab: Lab) -> None:
    lab.hub.change_node("r3", lifecycle="decommissioned")
    lab.settle()
    assert "BGP" not in lab.nodes["r3"].ask("show protocols")
    assert lab.hub.ask("DELETE", "/api/v1/nodes/r3")[1]["code"] == "node_in_use"
    for link in lab.hub.want("GET", "/api/v1/links?node_id=r3")["items"]:
        lab.hub.want("DELETE", f"/api/v1/links/{link['id']}")
    eventually(lambda: lab.hub.ask("DELETE", "/api/v1/nodes/r3")[0] == 204, "it is forgotten")

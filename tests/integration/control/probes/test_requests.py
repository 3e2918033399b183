"""What may be asked for, by whom, how often, and how it is found again."""

from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2 as httpx
import pytest

from shared.protocol.frames import ProbeStart
from shared.protocol.probes import ProbeReason
from tests.integration.control.probes.stage import HandClock, Prepared, Stage, serving, settings_of

BAD_TARGETS = [
    "-f",
    "--help",
    "a;b",
    "$(x)",
    "a\nb",
    "a\x00b",
    "x" * 300,
    "",
    "2130706433",
    "0x7f.1",
    "999.1.1.1",
]


async def ask(stage: Stage, who: str = "operator", **wanted: Any) -> httpx.Response:
    body = {"nodes": ["alpha"], "tool": "ping", "target": "192.0.2.1"} | wanted
    return await stage.request("POST", "/api/v1/probes", who, json=body)


class TestTargets:
    async def test_e1_what_is_no_target_reaches_no_agent(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            for target in BAD_TARGETS:
                answer = await ask(stage, target=target)
                assert answer.status_code == 422, target
                (error,) = answer.json()["errors"]
                assert error["field"] == "target"
                assert error["message"]
            assert agent.all(ProbeStart) == []

    @pytest.mark.parametrize(
        ("preset", "expected"), [("dn42", 202), ("clearnet", 422)], ids=["dn42", "clearnet"]
    )
    async def test_e6_the_fleet_decides_about_private_addresses(
        self, preset: str, expected: int, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        async with (
            serving(settings_of(on_sqlite, tmp_path, targets=preset), clock, on_sqlite) as stage,
            stage.agent(),
        ):
            answer = await ask(stage, target="172.20.0.1")
            assert answer.status_code == expected
            if expected == 422:
                (error,) = answer.json()["errors"]
                assert (error["field"], error["code"]) == ("target", "target_refused")
            for refused in ("127.0.0.1", "::1", "169.254.169.254", "fe80::1", "224.0.0.1", "::ffff:10.0.0.1"):
                assert (await ask(stage, target=refused)).status_code == 422

    async def test_e6_the_fleet_and_the_node_may_allow_more(
        self, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        settings = settings_of(on_sqlite, tmp_path, allow=["127.0.0.0/8"])
        async with serving(settings, clock, on_sqlite) as stage, stage.agent() as agent:
            assert (await ask(stage, target="127.0.0.1")).status_code == 202
            assert [str(net) for net in (await agent.expect(ProbeStart)).targets.allow] == ["127.0.0.0/8"]

    async def test_e4_a_name_is_judged_by_the_agent_with_the_fleet_s_policy(self, stage: Stage) -> None:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha", target="Rebinding.Example")
            start = await agent.expect(ProbeStart)
            assert start.target == "rebinding.example"
            assert "10.0.0.0/8" in [str(network) for network in start.targets.deny]
            detail = "10.0.0.1 is outside the networks that may be probed."
            await agent.done(probe_id, exit_code=None, error=ProbeReason.TARGET_REFUSED, detail=detail)
            read = await stage.finished(probe_id)
        assert (read["state"], read["reason"]) == ("failed", "target_refused")
        assert read["nodes"][0]["detail"] == detail

    async def test_an_address_of_the_other_family_is_refused(self, stage: Stage) -> None:
        answer = await ask(stage, options={"family": 6})
        assert [error["field"] for error in answer.json()["errors"]] == ["options.family"]

    async def test_unknown_nodes_tools_and_options_are_named(self, stage: Stage) -> None:
        async with stage.agent():
            for wanted, field in (
                ({"nodes": ["nobody"]}, "nodes"),
                ({"nodes": []}, "nodes"),
                ({"tool": "nmap"}, "tool"),
                ({"options": {"flags": "-f"}}, "options.flags"),
                ({"options": {"count": 0}}, "options.count"),
                ({"shell": "sh"}, "shell"),
            ):
                answer = await ask(stage, **wanted)
                assert answer.status_code == 422
                assert [error["field"] for error in answer.json()["errors"]] == [field]


class TestLimits:
    @pytest.mark.parametrize(
        ("limit", "code"),
        [
            ("running_per_user", "probe_limit_user"),
            ("running_per_node", "probe_limit_node"),
            ("running_per_target", "probe_limit_target"),
            ("running", "probe_limit_fleet"),
        ],
    )
    async def test_too_many_probes_are_refused_for_a_while(
        self, limit: str, code: str, on_sqlite: Prepared, tmp_path: Path, clock: HandClock
    ) -> None:
        settings = settings_of(on_sqlite, tmp_path, **{limit: 1})
        async with serving(settings, clock, on_sqlite) as stage, stage.agent() as agent:
            first = await stage.create("alpha")
            answer = await ask(stage)
            assert (answer.status_code, answer.json()["code"]) == (429, code)
            assert int(answer.headers["retry-after"]) >= 1
            await agent.play(await stage.started(agent), [])
            await stage.finished(first)
            assert (await ask(stage)).status_code == 202

    async def test_viewers_run_fewer_at_once(self, stage: Stage) -> None:
        async with stage.agent():
            for expected in (202, 202, 429):
                assert (await ask(stage, "viewer")).status_code == expected
            assert (await ask(stage, "operator")).status_code == 202


class TestFinding:
    async def test_pages_go_through_all_probes_newest_first(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            made = []
            for n in range(5):
                any_stage.clock.turn(n % 2)  # some at the same instant
                made.append(await any_stage.create("alpha", target=f"192.0.2.{n}"))
                await agent.play(await any_stage.started(agent), [])
                await any_stage.finished(made[-1])
            seen: list[dict[str, Any]] = []
            cursor = ""
            while True:
                path = f"/api/v1/probes?limit=2{cursor}"
                page = (await any_stage.request("GET", path)).json()
                seen += page["items"]
                if page["next"] is None:
                    break
                cursor = f"&cursor={page['next']}"
        assert {UUID(item["id"]) for item in seen} == set(made)
        assert len(seen) == 5
        assert [item["created_at"] for item in seen] == sorted((i["created_at"] for i in seen), reverse=True)

    async def test_filters_narrow_the_list(self, any_stage: Stage) -> None:
        async with any_stage.agent("alpha") as alpha, any_stage.agent("beta"):
            done = await any_stage.create("alpha", target="192.0.2.1")
            await alpha.play(await any_stage.started(alpha), [])
            await any_stage.finished(done)
            trace = await any_stage.create("beta", tool="traceroute", target="192.0.2.2", who="viewer")
            for query, expected in (
                ("state=done", [done]),
                ("tool=traceroute", [trace]),
                ("node=beta", [trace]),
                ("target=192.0.2.1", [done]),
                ("by=person:viewer", [trace]),
                ("node=gamma", []),
            ):
                page = (await any_stage.request("GET", f"/api/v1/probes?{query}")).json()
                assert [UUID(item["id"]) for item in page["items"]] == expected, query

    async def test_a_made_up_cursor_is_refused(self, stage: Stage) -> None:
        answer = await stage.request("GET", "/api/v1/probes?cursor=abc")
        assert [error["field"] for error in answer.json()["errors"]] == ["cursor"]

    async def test_who_and_when_stand_in_the_permalink(self, stage: Stage) -> None:
        async with stage.agent():
            read = await stage.read(await stage.create("alpha", options={"count": 3}))
        assert read["created_by"] == {"kind": "person", "id": "person:operator", "name": "operator"}
        assert (read["created_at"], read["options"]["count"]) == ("2030-01-02T03:04:05Z", 3)

    async def test_nobody_reads_or_runs_without_a_token(self, stage: Stage) -> None:
        for method, path in (
            ("POST", "/api/v1/probes"),
            ("GET", "/api/v1/probes"),
            ("GET", f"/api/v1/probes/{UUID(int=1)}"),
            ("POST", f"/api/v1/probes/{UUID(int=1)}/cancel"),
        ):
            answer = await stage.client.request(method, path, json={})
            assert answer.status_code == 401, path

"""Registry syncs and retention."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select

from control_server.agents.models import AgentToken
from control_server.audit.models import AuditEvent
from control_server.enrolment.models import EnrolmentToken
from control_server.jobs.errors import RegistrySyncFailed
from control_server.jobs.service import RegistrySync, Retention
from control_server.probes.models import Probe, ProbeLine, ProbeNode
from shared.durable import QueuedJob
from shared.kernel.ids import new_uuid
from tests.integration.control.jobs.plant import Plant
from tests.integration.control.jobs.receiver import Receiver

JOB = QueuedJob("now", "upkeep")


def problem(status: str, code: str) -> str:
    body = f'{{"code": "{code}", "detail": "Said so."}}'
    return f"{status}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n\r\n{body}"


@pytest.fixture
async def sync(receiver: Receiver, tmp_path: Path) -> AsyncIterator[RegistrySync]:
    token = tmp_path / "token"
    token.write_text("rlp_test\n")
    async with httpx2.AsyncClient(trust_env=False) as http:
        yield RegistrySync(http, f"http://127.0.0.1:{receiver.port}/registry/api/v1/sync", token, 5)


class TestRegistrySync:
    async def test_asks_with_the_token_of_the_file(self, sync: RegistrySync, receiver: Receiver) -> None:
        await sync.run(JOB)
        assert [request.headers["authorization"] for request in receiver.received] == ["Bearer rlp_test"]

    @pytest.mark.parametrize("code", ["sync_running", "sync_held", "mirror_not_configured"])
    async def test_leaves_what_another_attempt_would_not_change(
        self, sync: RegistrySync, receiver: Receiver, code: str
    ) -> None:
        receiver.answers = [problem("409 Conflict", code)]
        await sync.run(JOB)
        assert len(receiver.received) == 1

    async def test_fails_with_what_the_service_said(self, sync: RegistrySync, receiver: Receiver) -> None:
        receiver.answers = [problem("503 Away", "registry_upstream_unavailable")]
        with pytest.raises(RegistrySyncFailed, match=r"answered 503. Said so."):
            await sync.run(JOB)

    async def test_fails_without_a_token(self, sync: RegistrySync) -> None:
        sync.token_file.unlink()
        with pytest.raises(RegistrySyncFailed, match="cannot be read"):
            await sync.run(JOB)


class TestRetention:
    async def test_forgets_old_probes_with_their_lines_and_no_other(self, plant: Plant) -> None:
        keep = plant.resources.settings.jobs.keep_probes
        ages = {"old": keep + timedelta(hours=1), "young": keep - timedelta(hours=1), "running": None}
        async with plant.resources.database.transaction() as session:
            for target, age in ages.items():
                finished = None if age is None else plant.clock() - age
                ident = new_uuid()
                session.add(
                    Probe(
                        id=ident,
                        epoch="e",
                        state="done",
                        tool="ping",
                        target=target,
                        actor_kind="person",
                        actor_id="p",
                        actor_name="p",
                        created_at=plant.clock() - timedelta(days=99),
                        finished_at=finished,
                    )
                )
                await session.flush()
                session.add(ProbeNode(probe_id=ident, node_id="fra1", state="done"))
                session.add(ProbeLine(probe_id=ident, seq=1, node_id="fra1", stream="out", text="x"))
        await retention(plant).probes(JOB)
        async with plant.resources.database.reading() as session:
            assert set(await session.scalars(select(Probe.target))) == {"young", "running"}
            assert await session.scalar(select(func.count()).select_from(ProbeLine)) == 2
            assert await session.scalar(select(func.count()).select_from(ProbeNode)) == 2

    async def test_forgets_spent_tokens_and_keeps_the_audit_trail(self, plant: Plant) -> None:
        await plant.add_node("fra1")
        now, old = (
            plant.clock(),
            plant.clock() - plant.resources.settings.jobs.keep_spent - timedelta(hours=1),
        )
        async with plant.resources.database.transaction() as session:
            for ident, consumed in (("old", old), ("fresh", now), ("open", None)):
                session.add(
                    EnrolmentToken(
                        id=ident,
                        digest=ident,
                        created_by="p",
                        created_at=old,
                        expires_at=now + timedelta(days=1),
                        consumed_at=consumed,
                    )
                )
            for ident, revoked in (("gone", old), ("good", None)):
                session.add(
                    AgentToken(id=ident, node_id="fra1", digest=ident, created_at=old, revoked_at=revoked)
                )
        async with plant.resources.database.reading() as session:
            trail = await session.scalar(select(func.count()).select_from(AuditEvent))
        await retention(plant).tokens(JOB)
        async with plant.resources.database.reading() as session:
            assert set(await session.scalars(select(EnrolmentToken.id))) == {"fresh", "open"}
            assert set(await session.scalars(select(AgentToken.id))) == {"good"}
            assert await session.scalar(select(func.count()).select_from(AuditEvent)) == trail

    async def test_forgets_closed_incidents_and_keeps_open_ones(self, lite: Plant) -> None:
        for node in ("fra1", "ams1"):
            await lite.add_node(node)
        await lite.watch.look()
        lite.clock.turn(timedelta(minutes=5))
        await lite.watch.look()
        await lite.speak("fra1")
        lite.clock.turn(timedelta(minutes=1))
        await lite.watch.look()
        lite.clock.turn(lite.resources.settings.alerts.keep + timedelta(days=1))
        await lite.deliveries.forget(JOB)
        left = (await lite.admin.get("/api/v1/alerts/incidents")).json()
        assert [(each["node_id"], each["closed_at"]) for each in left] == [("ams1", None)]


def retention(plant: Plant) -> Retention:
    resources = plant.resources
    return Retention(resources.database, resources.durable.storage, resources.settings.jobs, resources.now)

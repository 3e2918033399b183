"""Two hundred writes to one node at once, on PostgreSQL: forty peerings, then four writers of each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from control_server.desired_state.models import Generation
from shared.protocol.desired_state.document import PublishedState
from shared.testing.servers import PostgresServer
from tests.integration.control.enrolment.office import Office, open_office
from tests.integration.control.fleet.yard import match, newest, peering, routed, wanted

#: Writers of one peering meet each other's versions and try again; those of different ones do not.
PEERINGS, WRITERS = 40, 4
NAMES = [f"p{number}" for number in range(PEERINGS)]


@pytest.fixture
async def office(
    state_beside_postgres: str, postgres: PostgresServer, tmp_path: Path
) -> AsyncIterator[Office]:
    assert state_beside_postgres
    with postgres.database() as url:
        async with open_office(url, tmp_path) as opened:
            yield opened


async def write(office: Office, path: str, local_pref: int) -> None:
    """Try until the version that is known is the version that is there, and a connection is free."""
    change = {"session": {"policy": {"local_pref": local_pref}}}
    version = 1
    while True:
        answer = await office.admin.patch(path, json=change, headers=match(version))
        if answer.is_success:
            return
        problem = answer.json()
        assert problem["code"] in {"fact_changed", "database_unavailable"}, problem
        if problem["code"] == "fact_changed":
            version = problem["current"]["version"]


async def generations(office: Office, node: str) -> list[Generation]:
    """All of them, oldest first."""
    wanted = select(Generation).where(Generation.node_id == node).order_by(Generation.number)
    async with office.resources.database.reading() as session:
        return list(await session.scalars(wanted))


async def test_generations_grow_by_one_each_is_valid_and_the_last_is_what_the_facts_say(
    office: Office,
) -> None:
    node, _ = await routed(office, 1)
    made = await asyncio.gather(
        *(
            wanted(office, "POST", "/api/v1/peerings", json=peering(node, name, asn=4242420000 + index))
            for index, name in enumerate(NAMES)
        )
    )
    await asyncio.gather(
        *(
            write(office, f"/api/v1/peerings/{entry['id']}", 1000 + index * WRITERS + writer)
            for index, entry in enumerate(made)
            for writer in range(WRITERS)
        )
    )
    history = await generations(office, node)
    assert [entry.number for entry in history] == list(range(1, 2 + PEERINGS + PEERINGS * WRITERS))
    for entry in history:
        document = {"generation": entry.number, "sha256": entry.sha256, "state": entry.state}
        PublishedState.model_validate(document)
    assert len({entry.sha256 for entry in history}) == len(history)
    facts = {
        entry["name"]: (entry["version"], entry["session"]["policy"]["local_pref"])
        for entry in (await wanted(office, "GET", "/api/v1/peerings"))["items"]
    }
    assert {version for version, _ in facts.values()} == {1 + WRITERS}
    published = (await newest(office, node))["state"]["peerings"]
    assert {p["name"]: p["session"]["policy"]["local_pref"] for p in published} == {
        name: local_pref for name, (_, local_pref) in facts.items()
    }

"""A fleet of any size: one node that has reported everything, and as many more that are just like it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Table, insert, select

from control_server.tables import Base
from routeloom.simulate.node import SimulatedNode
from routeloom.simulate.plan import TICK, Plan
from routeloom.simulate.truth import Truth
from shared.protocol.reports import PrefixReport, pack_changes
from tests.integration.control.enrolment.office import Machine, Office

FIRST = "sim001"
#: Tables of many rows a node, of which a large fleet does not need all.
_NOT_COPIED = frozenset({"agent_tokens", "enrolment_tokens", "registrations"})


async def report_everything(office: Office) -> None:
    """Add the first node, and let its agent tell of sessions, counters and routes."""
    machine = Machine()
    token = await office.token(node_id=FIRST)
    enrolled = (await office.enrol(machine, token, node_id=FIRST)).json()
    bearer = {"Authorization": f"Bearer {enrolled['agent_token']}", "Content-Type": "application/json"}
    node = SimulatedNode(Plan(nodes=1, sessions=8, prefixes=20, start=office.clock()), 0, Truth())
    node.fall([1], -60)

    async def post(kind: str, body: Any) -> None:
        path = f"/api/v1/agent/reports/{kind}"
        answer = await office.outside.post(path, content=body.model_dump_json(), headers=bearer)
        assert answer.is_success, answer.text

    for at in range(0, 4 * TICK, TICK):
        node.flow()
        await post("heartbeat", node.heartbeat(at))
        await post("traffic", node.sample(at))
        office.clock.turn(timedelta(seconds=TICK))
    await post("snapshot", node.snapshot(4 * TICK))
    piece = node.table.told(node.table.known(node.up), node.up)[0]
    payload = pack_changes(piece)
    report = PrefixReport(
        stream=node.stream,
        sequence=1,
        begins=True,
        taken_at=node.wall(4 * TICK),
        count=len(piece),
        payload=payload,
    )
    await post("prefixes", report)


async def grow(office: Office, present: int, wanted: int) -> None:
    """Copy the first node until there are so many."""
    names = [f"sim{number + 1:03d}" for number in range(present, wanted)]
    async with office.resources.database.transaction() as session:
        for table in Base.metadata.sorted_tables:
            column = _node_column(table)
            if column is None:
                continue
            found = await session.execute(select(table).where(table.c[column] == FIRST))
            rows = [{str(name): value for name, value in row.items()} for row in found.mappings()]
            copies = [_copy(table, row, column, name) for row in rows for name in names]
            if copies:
                await session.execute(insert(table), copies)


def _copy(table: Table, row: Mapping[str, Any], column: str, name: str) -> dict[str, Any]:
    fresh = {**row, column: name}
    if table.name == "agents":
        fresh["public_key"] = f"{row['public_key']}{name}"
    return fresh


def _node_column(table: Table) -> str | None:
    """The column that names the node, where it is part of the key, so that a copy is a row of its own."""
    if table.name in _NOT_COPIED:
        return None
    if table.name == "nodes":
        return "id"
    return next((name for name in ("node_id",) if name in table.c and table.c[name].primary_key), None)

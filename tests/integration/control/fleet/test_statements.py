"""The statements of a page do not grow with what it shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from control_server.peerings.models import PeeringRow
from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.fleet.yard import PEER_KEY, routed, wanted

SIZES = (10, 100, 1000)
#: A list of values is as long as it is, in one and the same statement.
_VALUES = re.compile(r"IN \([^()]*\)")
MINE: ContextVar[list[str] | None] = ContextVar("MINE", default=None)


@contextmanager
def counted() -> Iterator[list[str]]:
    """Every statement of whoever opens this, and of nobody beside them; opening a connection is none."""
    seen: list[str] = []
    mark = MINE.set(seen)

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if MINE.get() is seen and not statement.startswith(("PRAGMA", "BEGIN")):
            seen.append(_VALUES.sub("IN (…)", " ".join(statement.split())))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        MINE.reset(mark)


def more(*found: list[str]) -> list[str]:
    """What was asked the last time and not as often the first."""
    return list((Counter(found[-1]) - Counter(found[0])).elements())


async def filled(office: Office, node: str, already: int, size: int) -> str:
    """Give the node so many peerings; the id of one of them."""
    at = office.clock()
    async with office.resources.database.transaction() as session:
        for number in range(already, size):
            session.add(
                PeeringRow(
                    id=f"{number:012d}",
                    node_id=node,
                    name=f"p{number}x",
                    asn=4_242_420_000 + number,
                    document={
                        "link": {
                            "kind": "wireguard",
                            "interface": f"wg-p{number}x",
                            "peer_public_key": PEER_KEY,
                            "listen_port": 20_000 + number,
                        },
                        "session": {"neighbor6": f"fe80::{number + 2:x}"},
                    },
                    created_at=at,
                    updated_at=at + timedelta(seconds=number),
                )
            )
    return f"{already:012d}"


@pytest.mark.timeout(240)
async def test_pages_ask_sql_as_often_for_ten_as_for_a_thousand(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    other, _ = await routed(lite, 2)
    await wanted(lite, "POST", "/api/v1/links", json={"node_a": node, "node_b": other})
    headers = {**await signed_in(lite), "Accept": "text/html"}
    asked: dict[str, list[list[str]]] = {}
    already = 0
    for size in SIZES:
        one = await filled(lite, node, already, size)
        already = size
        await wanted(lite, "PUT", f"/api/v1/nodes/{node}/maintenance", json={"reason": f"{size} peers"})
        for path in (
            "/nodes",
            f"/nodes/{node}",
            f"/nodes/{node}/peerings",
            f"/nodes/{node}/peerings/new?asn=4242429901",
            f"/nodes/{node}/generations",
            f"/nodes/{node}/generations/1",
            f"/nodes/{node}/files",
            f"/nodes/{node}/settings",
            "/peerings/000000000000",
            "/policy",
            "/pools",
            "/links/new",
            f"/api/v1/peerings?node_id={node}",
        ):
            assert one
            with counted() as seen:
                answer = await lite.outside.get(path, headers=headers)
            assert answer.status_code == 200, f"{path} {answer.text}"
            asked.setdefault(path, []).append(seen)
    grown = {path: more(*found) for path, found in asked.items() if len(found[0]) != len(found[-1])}
    assert grown == {}


@pytest.mark.timeout(240)
async def test_publishing_asks_sql_as_often_for_ten_as_for_a_thousand(lite: Office) -> None:
    node, _ = await routed(lite, 1)
    asked: list[list[str]] = []
    already = 0
    for size in SIZES:
        await filled(lite, node, already, size)
        already = size
        with counted() as seen:
            await wanted(lite, "PUT", f"/api/v1/nodes/{node}/maintenance", json={"reason": f"{size}"})
        asked.append(seen)
    assert len(asked[0]) == len(asked[-1]), more(*asked)

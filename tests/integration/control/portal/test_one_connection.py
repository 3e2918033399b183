"""No request holds one connection of the database while it waits for a second.

With as many readers at once as there are connections, each would wait for the others: for a moment that
nobody notices in a test, and for ever when it happens. Here there is one connection for reading, so that a
request which needs two is refused at once.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.database import engine
from tests.integration.control.conftest import copied
from tests.integration.control.enrolment.office import Office, open_office
from tests.integration.matrix.routes import flat

_PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")
_PLACES = {"node_id": "r1", "asn": "4242429901", "number": "1", "name": "r1", "path": "x", "version": "x"}
_NOTHING = "00000000-0000-7000-8000-000000000001"
_ENDLESS = re.compile(r"/(stream|events|ws)$")


@pytest.fixture
async def narrow(migrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Office]:
    monkeypatch.setattr(engine, "_READERS", 1)
    monkeypatch.setattr(engine, "_POOL_SECONDS", 2)
    async with open_office(copied(migrated, tmp_path), tmp_path) as opened:
        yield opened


async def test_every_page_and_answer_needs_one_connection_at_a_time(narrow: Office) -> None:
    made = await narrow.admin.post("/api/v1/nodes", json={"node_id": "r1", "site": "Frankfurt"})
    assert made.status_code == 201, made.text
    failed = []
    routes = flat(narrow.app.routes)
    paths = {route.path for route in routes if "GET" in (getattr(route, "methods", None) or ())}
    for path in sorted(path for path in paths if not _ENDLESS.search(path)):
        answer = await narrow.admin.get(_PLACE.sub(lambda place: _PLACES.get(place[1], _NOTHING), path))
        if answer.status_code >= 500:
            failed.append(f"{path}: {answer.status_code} {answer.text[:200]}")
    assert not failed, "\n".join(failed)

"""What a sync means for the files of ROAs: nothing, unless a route or a filter changed."""

from __future__ import annotations

import pytest

from registry_server.roas.schemas import RoaFormat
from tests.integration.registry.network import thing
from tests.integration.registry.serving import Served

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


async def test_without_a_change_of_routes_or_filters_the_files_stay_and_the_commit_moves(
    served: Served,
) -> None:
    before, first = served.roas.current(), served.roas.export(RoaFormat.JSON).tag
    await served.commit({"data/mntner/NEW-MNT": thing("mntner", "NEW-MNT")})
    after = served.roas.current()
    assert (after.roas, after.bodies, after.problems) == (before.roas, before.bodies, before.problems)
    assert after.bodies is before.bodies
    assert (after.version, after.commit) == (
        before.version + 1,
        served.upstream.git("rev-parse", "master").strip(),
    )
    assert served.roas.export(RoaFormat.JSON).tag == first


async def test_a_change_of_a_filter_alone_is_followed(served: Served) -> None:
    before = served.roas.current()
    await served.commit({"data/filter.txt": b"1 deny 0.0.0.0/0 0 32\n"})
    after = served.roas.current()
    assert [roa for roa in before.roas if roa.family == 4]
    assert [roa for roa in after.roas if roa.family == 4] == []

"""The list of nodes of a large fleet: a page at a time, counted over all, and found by what is looked for."""

import re

import pytest

from tests.integration.control.conftest import signed_in
from tests.integration.control.enrolment.office import Office
from tests.integration.control.portal.large_fleet import FIRST, grow, report_everything

SHOWN = re.compile(r'class="rl-row-link" href="/nodes/([^"]+)"')

COUNTED = re.compile(r'href="/nodes\?state=(\w+)">[^<]+ <span class="num">(\d+)</span>')


@pytest.fixture
async def headers(lite: Office) -> dict[str, str]:
    await report_everything(lite)
    await grow(lite, 1, 250)
    return {**await signed_in(lite), "Accept": "text/html"}


async def page(office: Office, path: str, headers: dict[str, str]) -> str:
    answer = await office.outside.get(path, headers=headers)
    assert answer.status_code == 200, (path, answer.text[:400])
    return answer.text


async def test_a_page_holds_a_hundred_and_the_steps_lead_through_all(
    lite: Office, headers: dict[str, str]
) -> None:
    seen: list[str] = []
    path: str | None = "/nodes?sort=name"
    while path:
        text = await page(lite, path, headers)
        seen += SHOWN.findall(text)
        step = re.search(r'rel="next" href="([^"]+)"', text)
        path = step[1].replace("&amp;", "&") if step else None
    assert seen == [f"sim{number + 1:03d}" for number in range(250)]
    assert "201 to 250 of 250" in text
    assert 'rel="prev"' in text


async def test_a_page_past_the_end_is_the_last(lite: Office, headers: dict[str, str]) -> None:
    assert len(SHOWN.findall(await page(lite, "/nodes?page=99", headers))) == 50


async def test_states_are_counted_over_all_and_filter(lite: Office, headers: dict[str, str]) -> None:
    made = await lite.admin.post("/api/v1/nodes", json={"node_id": "lonely", "labels": {"tier": "edge"}})
    assert made.status_code == 201, made.text
    text = await page(lite, "/nodes", headers)
    counts = {state: int(count) for state, count in COUNTED.findall(text)}
    assert counts == {"ok": 1, "unknown": 250}
    assert SHOWN.findall(await page(lite, "/nodes?state=ok", headers)) == [FIRST]
    assert SHOWN.findall(await page(lite, "/nodes?q=tier%3Dedge", headers)) == ["lonely"]
    assert "No node matches" in await page(lite, "/nodes?q=lonely&state=down", headers)
    assert "7 of 8" in await page(lite, f"/nodes?q={FIRST}", headers)

"""The registry's pages, drawn for everybody."""

import re

import pytest

from control_server.jobs import pages as jobs
from tests.integration.registry.world import SCRIPT, Served, served

__all__ = ["served"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def page(served: Served, path: str, **parameters: str) -> str:
    answer = await served.client.get(f"/registry{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    return answer.text


class TestSearch:
    async def test_without_a_question_says_what_there_is(self, served: Served) -> None:
        text = await page(served, "/")
        assert "aut-num" in text
        assert "/registry/sync" in text

    async def test_words_lead_to_objects(self, served: Served) -> None:
        text = await page(served, "/", q="élan")
        assert '/registry/objects/person/Foo-DN42"' in text

    async def test_an_address_leads_to_the_blocks_around_it(self, served: Served) -> None:
        text = await page(served, "/", q="172.20.0.129")
        found = re.findall(r'href="/registry/objects/(inetnum|route)/([0-9./]+)"', text)
        assert found[0] == ("inetnum", "172.20.0.128/25")
        assert ("inetnum", "172.20.0.0/14") in found

    async def test_a_prefix_shows_also_what_is_inside(self, served: Served) -> None:
        assert "/registry/objects/route/172.20.0.192/26" in await page(served, "/", q="172.20.0.0/24")

    async def test_nothing_found_is_said(self, served: Served) -> None:
        assert "Nothing found" in await page(served, "/", q="no such words")

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ("172.20.0.1/24", "No such prefix"),
            ("172.20.0.0/99", "No such prefix"),
            ("x", "at least two characters"),
        ],
    )
    async def test_what_cannot_be_looked_for_is_refused_in_the_form(
        self, served: Served, asked: str, said: str
    ) -> None:
        answer = await served.client.get("/registry/", params={"q": asked})
        assert answer.status_code == 422
        assert said in answer.text
        assert f'value="{asked}"' in answer.text
        assert 'aria-invalid="true"' in answer.text

    async def test_a_class_leads_to_its_objects(self, served: Served) -> None:
        assert '/registry/objects/aut-num"' in await page(served, "/")
        listed = await page(served, "/objects/aut-num", limit="2")
        more = re.search(r'href="(/registry/objects/aut-num\?cursor=[^"]+)"', listed)
        assert more is not None
        assert "AS4242429904" in await page(served, more[1].removeprefix("/registry"))


class TestObject:
    async def test_links_both_ways_and_shows_its_life(self, served: Served) -> None:
        text = await page(served, "/objects/as-set/AS-BAR")
        assert '/registry/objects/as-set/AS-FOO"' in text
        assert '/registry/objects/aut-num/AS4242429903"' in text
        assert "not in the registry" in text
        commit = re.search(r"/registry/objects/as-set/AS-BAR/changes/([0-9a-f]{40})", text)
        assert commit is not None
        change = await page(served, f"/objects/as-set/AS-BAR/changes/{commit[1]}")
        assert 'class="rl-diff-added">+as-set:             AS-BAR' in change

    async def test_what_strangers_wrote_is_text(self, served: Served) -> None:
        text = await page(served, "/objects/person/Foo-DN42")
        assert SCRIPT not in text
        assert "&lt;script&gt;" in text

    async def test_a_broken_one_says_so(self, served: Served) -> None:
        text = await page(served, "/objects/aut-num/AS4242429909")
        assert "This object is broken" in text
        assert "nul_byte" in text

    async def test_back_links_can_be_held_to_one_attribute(self, served: Served) -> None:
        text = await page(served, "/objects/mntner/FOO-MNT", attribute="mbrs-by-ref")
        backlinks = text[text.index('id="backlinks"') : text.index('id="history"')]
        assert "/registry/objects/as-set/AS-BAR" in backlinks
        assert "/registry/objects/person/" not in backlinks

    async def test_an_unknown_one_is_a_page_that_offers_to_search(self, served: Served) -> None:
        answer = await served.client.get("/registry/objects/aut-num/AS1", headers={"Accept": "text/html"})
        assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "Not in the registry" in answer.text
        assert 'href="/registry/?q=AS1"' in answer.text


class TestSync:
    async def test_shows_state_syncs_and_problems(self, served: Served) -> None:
        text = await page(served, "/sync")
        status = await served.get("/status")
        assert status["commit"][:12] in text
        assert "data/aut-num/AS4242429909:6" in text
        assert "Sync now" not in text, "nobody may sync who is not known"

    async def test_in_a_process_of_its_own_it_offers_the_job_of_the_fleets_service(
        self, served: Served
    ) -> None:
        """The registry knows nobody by their session: the fleet's service does, and has a job for it."""
        found = re.search(
            r'<form class="rl-form" method="post" action="([^"]+)">', await page(served, "/sync")
        )
        assert found is not None
        (route,) = [each for each in jobs.router.routes if getattr(each, "name", "") == "start_from_page"]
        assert found[1] == getattr(route, "path", "").format(kind="registry.sync")

    async def test_problems_can_be_held_to_a_severity(self, served: Served) -> None:
        text = await page(served, "/sync", severity="error")
        assert "host_bits" in text
        assert "dangling_reference" not in text

    async def test_a_problem_leads_to_its_object_and_to_its_like(self, served: Served) -> None:
        text = await page(served, "/sync")
        assert '/registry/objects/aut-num/AS4242429909"' in text
        assert "/registry/sync?code=nul_byte#problems" in text
        assert "Only nul_byte is shown." in await page(served, "/sync", code="nul_byte")

    async def test_nobody_may_sync_unknown(self, served: Served) -> None:
        answer = await served.client.post("/registry/sync")
        assert answer.status_code in {401, 403}


async def test_pages_speak_chinese(served: Served) -> None:
    answer = await served.client.get("/registry/sync", headers={"Accept-Language": "zh-CN"})
    assert "同步" in answer.text

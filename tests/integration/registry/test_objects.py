"""Objects over HTTP: shown, listed, linked, byte for byte, and what is wrong with them."""

import pytest

from tests.integration.registry.objects import ROUTE
from tests.integration.registry.world import API, LATIN, SCRIPT, WORLD, Served, served

__all__ = ["served"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


class TestObject:
    @pytest.mark.parametrize("key", ["172.20.0.0/24", "172.20.0.0_24", "172.20.0.0%2F24", "172.20.0.0%2f24"])
    async def test_is_found_by_key_and_by_file_name(self, served: Served, key: str) -> None:
        found = await served.get(f"/objects/route/{key}")
        assert (found["key"], found["raw"]) == ("172.20.0.0/24", ROUTE)

    @pytest.mark.parametrize("key", ["FD42:1::/48", "fd42:0001::/48", "fd42:1::_48"])
    async def test_is_found_by_any_spelling_of_its_prefix(self, served: Served, key: str) -> None:
        assert (await served.get(f"/objects/route6/{key}"))["key"] == "fd42:1::/48"

    async def test_says_what_each_attribute_is(self, served: Served) -> None:
        found = await served.get("/objects/ROUTE/172.20.0.0/24")
        assert [(each["name"], each["kind"], each["parts"]) for each in found["attributes"]] == [
            ("route", "prefix", ["172.20.0.0/24"]),
            ("origin", "asn", ["4242429901"]),
            ("max-length", "number", ["26"]),
            ("mnt-by", "reference", ["FOO-MNT"]),
            ("source", "word", ["DN42"]),
        ]

    async def test_an_auth_line_says_its_method_and_what_proves_nothing(self, served: Served) -> None:
        found = await served.get("/objects/mntner/foo-mnt")
        parts = [each["parts"][0] for each in found["attributes"] if each["kind"] == "auth"]
        assert parts == ["ssh-ed25519", "unknown", "unknown"]

    async def test_references_go_both_ways(self, served: Served) -> None:
        found = await served.get("/objects/as-set/AS-BAR")
        assert [(each["attribute"], each["object_class"], each["key"]) for each in found["references"]] == [
            ("members", None, "AS4242429902"),
            ("members", "as-set", "AS-FOO"),
            ("mbrs-by-ref", "mntner", "FOO-MNT"),
            ("mnt-by", "mntner", "FOO-MNT"),
        ]
        assert found["referenced_by"] == {"member-of": 2, "members": 1}

    async def test_a_broken_one_is_shown_with_its_problems(self, served: Served) -> None:
        found = await served.get("/objects/aut-num/AS4242429909")
        assert found["indexed"] is False
        assert [(each["code"], each["severity"]) for each in found["problems"]] == [("nul_byte", "error")]

    @pytest.mark.parametrize("key", ["AS1", "%00", "'; --", "x" * 500, "..%2F..%2Fetc%2Fpasswd"])
    async def test_an_unknown_key_is_a_problem(self, served: Served, key: str) -> None:
        assert await served.refused(f"/objects/aut-num/{key}") == (404, "object_unknown")

    async def test_an_unknown_class_is_another(self, served: Served) -> None:
        assert await served.refused("/objects/asset/AS1") == (404, "object_class_unknown")


class TestRaw:
    async def test_every_object_equals_its_blob(self, served: Served) -> None:
        blobs = served.upstream.blobs()
        for path in blobs:
            _, directory, name = path.split("/")
            answer = await served.client.get(f"{API}/objects/{directory}/{name}/raw")
            assert answer.content == blobs[path], path

    async def test_is_plain_text_whatever_it_holds(self, served: Served) -> None:
        answer = await served.client.get(f"{API}/objects/person/Foo-DN42/raw")
        assert SCRIPT in answer.text
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"

    async def test_bytes_that_are_no_utf_8_stay_as_they_are(self, served: Served) -> None:
        answer = await served.client.get(f"{API}/objects/person/LATIN-DN42/raw")
        assert answer.content.endswith(LATIN)

    async def test_who_has_the_text_gets_no_body(self, served: Served) -> None:
        path = f"{API}/objects/person/Foo-DN42/raw"
        tag = (await served.client.get(path)).headers["etag"]
        again = await served.client.get(path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")


class TestLists:
    async def test_a_class_is_listed_page_by_page(self, served: Served) -> None:
        keys, cursor = [], None
        while True:
            page = await served.get("/objects/aut-num", limit=2, **({"cursor": cursor} if cursor else {}))
            keys += [item["key"] for item in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        wanted = [str(path).rsplit("/", 1)[1] for path in WORLD if str(path).startswith("data/aut-num/")]
        assert keys == sorted(wanted)

    async def test_backlinks_are_listed_by_attribute_page_by_page(self, served: Served) -> None:
        whole = await served.get("/objects/mntner/FOO-MNT/references", attribute="mnt-by")
        first = await served.get("/objects/mntner/FOO-MNT/references", attribute="mnt-by", limit=5)
        rest = await served.get(
            "/objects/mntner/FOO-MNT/references", attribute="mnt-by", cursor=first["next"]
        )
        assert whole["items"] == first["items"] + rest["items"]
        assert len(whole["items"]) > 10
        assert {item["attribute"] for item in whole["items"]} == {"mnt-by"}

    @pytest.mark.parametrize("cursor", ["x", "W10", "WzFd", "WyJhIiwxZTk5OV0", "WyJcdTAwMDAiLDFd", "é"])
    async def test_a_cursor_of_another_kind_is_refused(self, served: Served, cursor: str) -> None:
        assert await served.refused("/objects/aut-num", cursor=cursor) == (422, "invalid_input")


class TestProblems:
    async def test_are_listed_by_path_and_line_with_references_that_lead_nowhere(
        self, served: Served
    ) -> None:
        page = await served.get("/problems", severity="error")
        assert [(each["path"], each["code"], each["line"]) for each in page["items"]] == [
            ("data/aut-num/AS4242429909", "nul_byte", 6),
            ("data/person/LATIN-DN42", "invalid_utf8", 5),
            ("data/route/172.21.0.1_24", "host_bits", 1),
        ]
        lost = await served.get("/problems", code="dangling_reference")
        details = {(each["path"], each["line"]): each["detail"] for each in lost["items"]}
        assert details["data/as-set/AS-FOO", 3] == "members names AS-GONE, which is not in the registry"

    async def test_all_pages_together_are_what_the_status_counts(self, served: Served) -> None:
        counts = (await served.get("/status"))["counts"]["problems"]
        found: list[str] = []
        page = await served.get("/problems", limit=2)
        while True:
            found += [item["code"] for item in page["items"]]
            if page["next"] is None:
                break
            page = await served.get("/problems", limit=2, cursor=page["next"])
        assert {code: found.count(code) for code in set(found)} == counts

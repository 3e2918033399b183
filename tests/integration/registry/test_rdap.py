"""RDAP: the documents, and two clients that know nothing of us."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
import pytest_asyncio
import rdap  # type: ignore[import-untyped]
import whodap

from registry_server.app import create_app
from shared.web.app import go_away
from shared.web.server import Server, server_config
from tests.integration.registry.conftest import DATABASES, Registries, fresh_database
from tests.integration.registry.objects import END, FILES
from tests.integration.registry.upstream import Content, Upstream
from tests.integration.registry.world import network, text

pytestmark = pytest.mark.asyncio(loop_scope="module")
RDAP = "/registry/rdap"
_OWNED = (("admin-c", "Foo-DN42"), ("tech-c", "Foo-DN42"))
OBJECTS: dict[str | bytes, Content] = {
    **FILES,
    "data/aut-num/AS4242429901": text(
        ("aut-num", "AS4242429901"), ("as-name", "FOO-AS"), ("descr", "Foo"), *_OWNED, ("org", "ORG-FOO")
    ),
    "data/person/Foo-DN42": text(
        ("person", "Foo Example"), ("nic-hdl", "Foo-DN42"), ("e-mail", "Foo@foo.example")
    ),
    "data/person/BAR-DN42": text(("person", "Bar Example"), ("nic-hdl", "BAR-DN42")),
    **{
        f"data/aut-num/AS{4242420000 + number}": text(
            ("aut-num", f"AS{4242420000 + number}"), ("as-name", "BAR-AS"), ("tech-c", "BAR-DN42")
        )
        for number in range(101)
    },
    "data/person/ODD-DN42": f"person:\nnic-hdl:            ODD-DN42\n{END}".encode(),
    "data/organisation/ORG-FOO": text(
        ("organisation", "ORG-FOO"), ("org-name", "Foo GmbH"), ("address", "Foo street 1")
    ),
    "data/inetnum/172.20.0.0_14": network("172.20.0.0/14", "172.20.0.0 - 172.23.255.255"),
    "data/inetnum/172.20.0.0_24": network("172.20.0.0/24", "172.20.0.0 - 172.20.0.255", *_OWNED),
    "data/inet6num/fd42:1::_48": network(
        "fd42:1::/48",
        "fd42:1:: - fd42:1:0:ffff:ffff:ffff:ffff:ffff",
        ("admin-c", "ODD-DN42"),
        ("country", "XX"),
    ),
    "data/dns/foo.dn42": text(
        ("domain", "foo.dn42"),
        ("nserver", "ns1.foo.dn42 172.20.0.53"),
        ("nserver", "ns2.foo.dn42 fd42:1::53"),
        ("ds-rdata", "61857 13 2 ABCD12"),
        ("ds-rdata", "odd"),
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DATABASES)
async def base(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    """A server on a port of its own: those clients bring their own HTTP."""
    directory = tmp_path_factory.mktemp("rdap")
    upstream = Upstream.create(directory / "upstream.git")
    upstream.commit(OBJECTS)
    with socket.create_server(("127.0.0.1", 0)) as listener, fresh_database(request, directory) as url:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with AsyncExitStack() as stack:
            registries = Registries(url, directory, stack)
            settings = registries.settings(upstream, interval="PT24H")
            web = settings.web.model_copy(update={"public_url": address})
            whois = settings.whois.model_copy(update={"public_host": "whois.example"})
            registry = await registries.open_with(settings.model_copy(update={"web": web, "whois": whois}))
            await registry.sync()
            app = create_app(registry.resources.settings, registry.resources)
            server = Server(server_config(app, web), lambda: go_away(app))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            await server.ready.wait()
            yield f"{address}{RDAP}"
            server.should_exit = True
            await serving


async def fetch(base: str, path: str) -> Any:
    async with httpx2.AsyncClient() as client:
        answer = await client.get(f"{base}/{path}")
    assert answer.headers["content-type"] == "application/rdap+json", answer.text
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer.json()


class TestDocuments:
    @pytest.mark.parametrize("number", ["4242429901", "AS4242429901", "as4242429901"])
    async def test_an_as_number(self, base: str, number: str) -> None:
        found = await fetch(base, f"autnum/{number}")
        assert {name: found[name] for name in ("objectClassName", "handle", "startAutnum", "name")} == {
            "objectClassName": "autnum",
            "handle": "AS4242429901",
            "startAutnum": 4242429901,
            "name": "FOO-AS",
        }
        roles = {each["handle"]: each["roles"] for each in found["entities"]}
        assert roles == {
            "ORG-FOO": ["registrant"],
            "FOO-MNT": ["registrant"],
            "Foo-DN42": ["administrative", "technical"],
        }
        assert found["links"] == [
            {
                "value": f"{base}/autnum/4242429901",
                "rel": "self",
                "href": f"{base}/autnum/4242429901",
                "type": "application/rdap+json",
            }
        ]
        assert found["events"][0] == {
            "eventAction": "registration",
            "eventDate": "2023-11-14T22:13:20+00:00",
        }

    @pytest.mark.parametrize("asked", ["172.20.0.1", "172.20.0.0/24", "172.20.0.128/25", "172.20.0.0%2F24"])
    async def test_an_address_is_answered_by_the_smallest_network_around_it(
        self, base: str, asked: str
    ) -> None:
        found = await fetch(base, f"ip/{asked}")
        assert (found["startAddress"], found["endAddress"]) == ("172.20.0.0", "172.20.0.255")
        assert found["cidr0_cidrs"] == [{"v4prefix": "172.20.0.0", "length": 24}]
        assert "cidr0" in found["rdapConformance"]
        assert found["parentHandle"] == "172.20.0.0/14"

    async def test_an_odd_contact_spoils_nothing(self, base: str) -> None:
        found = await fetch(base, "ip/fd42:1::1")
        assert (found["ipVersion"], found["country"]) == ("v6", "XX")
        (odd,) = [each for each in found["entities"] if each["handle"] == "ODD-DN42"]
        assert ["fn", {}, "text", "ODD-DN42"] in odd["vcardArray"][1]

    async def test_an_entity_is_found_in_any_case_and_shown_as_written(self, base: str) -> None:
        found = await fetch(base, "entity/foo-dn42")
        assert found["handle"] == "Foo-DN42"
        assert found["vcardArray"] == [
            "vcard",
            [
                ["version", {}, "text", "4.0"],
                ["fn", {}, "text", "Foo Example"],
                ["kind", {}, "text", "individual"],
                ["email", {}, "text", "Foo@foo.example"],
            ],
        ]

    async def test_an_entity_lists_the_networks_and_numbers_that_name_it(self, base: str) -> None:
        found = await fetch(base, "entity/foo-dn42")
        number = next(each for each in found["autnums"] if each["handle"] == "AS4242429901")
        assert (number["startAutnum"], number["name"]) == (4242429901, "FOO-AS")
        assert number["links"][0]["href"] == f"{base}/autnum/4242429901"
        block = next(each for each in found["networks"] if each["handle"] == "172.20.0.0/24")
        assert (block["handle"], block["startAddress"]) == ("172.20.0.0/24", "172.20.0.0")
        assert not {"entities", "remarks"} & (number.keys() | block.keys())
        odd = await fetch(base, "entity/ODD-DN42")
        assert ([each["handle"] for each in odd["networks"]], "autnums" in odd) == (["fd42:1::/48"], False)

    async def test_an_entity_that_is_named_very_often_says_that_there_is_more(self, base: str) -> None:
        found = await fetch(base, "entity/BAR-DN42")
        assert [len(found["autnums"]), "networks" in found] == [100, False]
        assert [each["title"] for each in found["notices"]] == ["Source", "Truncated"]

    @pytest.mark.parametrize(
        "path", ["autnum/4242429901", "ip/172.20.0.1", "domain/foo.dn42", "entity/foo-dn42"]
    )
    async def test_every_answer_names_the_whois_server(self, base: str, path: str) -> None:
        assert (await fetch(base, path))["port43"] == "whois.example"

    async def test_a_domain(self, base: str) -> None:
        found = await fetch(base, "domain/FOO.dn42")
        assert [each["ipAddresses"] for each in found["nameservers"]] == [
            {"v4": ["172.20.0.53"]},
            {"v6": ["fd42:1::53"]},
        ]

    async def test_help_and_bootstrap_name_this_server(self, base: str) -> None:
        assert (await fetch(base, "help"))["notices"]
        assert (await fetch(base, "dns.json"))["services"] == [[["dn42"], [f"{base}/"]]]
        assert (await fetch(base, "object-tags.json"))["services"] == []

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("autnum/4242429999", 404),
            ("autnum/4242429909", 404),
            ("ip/0.0.0.0/0", 404),
            ("entity/NOBODY", 404),
            ("entity/", 400),
            ("entity/%00", 404),
            ("domain/nowhere.dn42", 404),
            ("things.json", 404),
            ("autnum/foo", 400),
            ("ip/172.20.0.1/24", 400),
            ("ip/foo", 400),
            ("", 400),
            ("anything/else", 400),
            ("domains?nsLdhName=ns1.foo.dn42", 501),
            ("domains?nsIp=172.20.0.53", 501),
            ("nameservers?name=ns1.foo.dn42", 501),
            ("ips/rirSearch1/up/172.20.0.0/24", 501),
            ("domains?name=nowhere*", 404),
            ("entities?fn=nobody", 404),
            ("entities", 400),
            ("entities?name=foo", 400),
            ("entities?fn=foo*&handle=foo*", 400),
            ("entities?fn=", 400),
            ("entities?fn=**", 400),
            ("entities?fn=%00", 400),
            ("autnums?name=%20*", 400),
            (f"ips?name={'x' * 300}", 400),
            ("nameserver/ns1.foo.dn42", 501),
            (f"entity/{'x' * 300}", 400),
        ],
    )
    async def test_refusals_are_documents(self, base: str, path: str, status: int) -> None:
        found = await fetch(base, path)
        assert (found["errorCode"], bool(found["title"]), len(found["description"])) == (status, True, 1)

    async def test_the_base_alone_is_no_question(self, base: str) -> None:
        async with httpx2.AsyncClient() as client:
            answer = await client.get(base)
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/rdap+json")
        assert answer.json()["errorCode"] == 400

    async def test_what_is_too_long_is_named(self, base: str) -> None:
        (told,) = (await fetch(base, f"entities?fn={'x' * 300}"))["description"]
        assert told.startswith("fn: ")

    async def test_an_answer_says_where_it_comes_from_and_where_its_text_is(self, base: str) -> None:
        found = await fetch(base, "ip/172.20.0.1")
        (notice,) = found["notices"]
        site = base.removesuffix("/rdap")
        places = {each["type"]: each["href"] for each in notice["links"]}
        assert places == {
            "text/html": f"{site}/objects/inetnum/172.20.0.0/24",
            "text/plain": f"{site}/api/v1/objects/inetnum/172.20.0.0/24/raw",
        }
        assert {each["value"] for each in notice["links"]} == {found["links"][0]["href"]}
        async with httpx2.AsyncClient() as client:
            for place in places.values():
                assert (await client.get(place)).status_code == 200

    async def test_nothing_is_told_by_an_empty_list(self, base: str) -> None:
        found = await fetch(base, "autnum/4242429901")
        assert [] not in found.values()

    async def test_signed_names_tell_their_keys(self, base: str) -> None:
        found = await fetch(base, "domain/foo.dn42")
        assert found["secureDNS"] == {
            "delegationSigned": True,
            "dsData": [{"keyTag": 61857, "algorithm": 13, "digestType": 2, "digest": "ABCD12"}],
        }

    async def test_head_tells_whether_there_is_something(self, base: str) -> None:
        async with httpx2.AsyncClient() as client:
            there = await client.head(f"{base}/autnum/4242429901")
            gone = await client.head(f"{base}/autnum/1")
        assert (there.status_code, there.content, gone.status_code) == (200, b"", 404)


class TestSearches:
    """RFC 9082, section 3.2; networks and AS numbers as in RFC 9910."""

    @pytest.mark.parametrize(
        ("asked", "member", "handles"),
        [
            ("domains?name=FOO.*", "domainSearchResults", ["foo.dn42"]),
            ("domains?name=foo.dn42", "domainSearchResults", ["foo.dn42"]),
            ("entities?fn=foo*", "entitySearchResults", ["FOO-MNT", "ORG-FOO", "Foo-DN42"]),
            ("entities?fn=*example", "entitySearchResults", ["BAR-DN42", "Foo-DN42"]),
            ("entities?fn=Foo%20GmbH", "entitySearchResults", ["ORG-FOO"]),
            ("entities?handle=*foo*", "entitySearchResults", ["FOO-MNT", "ORG-FOO", "Foo-DN42"]),
            ("entities?handle=foo-dn42", "entitySearchResults", ["Foo-DN42"]),
            ("ips?handle=172.20.0.0/*", "ipSearchResults", ["172.20.0.0/14", "172.20.0.0/24"]),
            ("ips?name=net-fd42*", "ipSearchResults", ["fd42:1::/48"]),
            ("autnums?name=foo-as", "autnumSearchResults", ["AS4242429901", "AS4294967295"]),
            ("autnums?handle=as*9901", "autnumSearchResults", ["AS4242429901"]),
            ("autnums?handle=as*9901&unknown=1", "autnumSearchResults", ["AS4242429901"]),
        ],
    )
    async def test_find_what_fits(self, base: str, asked: str, member: str, handles: list[str]) -> None:
        found = await fetch(base, asked)
        assert [each["handle"] for each in found[member]] == handles
        assert found["rdapConformance"][0] == "rdap_level_0"
        for each in found[member]:
            async with httpx2.AsyncClient() as client:
                assert (await client.get(each["links"][0]["href"])).status_code == 200

    async def test_of_addresses_and_numbers_name_their_extension(self, base: str) -> None:
        found = await fetch(base, "ips?name=net-*")
        assert {"ips", "ipSearchResults"} <= set(found["rdapConformance"])
        found = await fetch(base, "autnums?name=foo-as")
        assert {"autnums", "autnumSearchResults"} <= set(found["rdapConformance"])

    async def test_tell_that_more_fits_than_they_tell(self, base: str) -> None:
        found = await fetch(base, "autnums?name=bar*")
        assert (len(found["autnumSearchResults"]), [each["title"] for each in found["notices"]]) == (
            100,
            ["Truncated"],
        )

    async def test_say_by_what_there_can_be_a_search(self, base: str) -> None:
        (told,) = (await fetch(base, "entities"))["description"]
        assert "fn or handle" in told

    async def test_are_answered_304_to_who_has_the_answer(self, base: str) -> None:
        async with httpx2.AsyncClient() as client:
            first = await client.get(f"{base}/entities?fn=foo*")
            again = await client.get(
                f"{base}/entities?fn=foo*", headers={"If-None-Match": first.headers["etag"]}
            )
        assert (first.status_code, again.status_code) == (200, 304)


class TestRdapClient:
    """The client of 20C, which drops prefix lengths and writes handles in small letters."""

    async def test_reads_numbers_addresses_names_and_people(self, base: str) -> None:
        def ask() -> None:
            client = rdap.RdapClient({"bootstrap_url": f"{base}/", "self_bootstrap": False, "timeout": 20})
            found = client.get("AS4242429901")
            assert (found.name, found.emails, found.org_name) == ("FOO-AS", ["foo@foo.example"], "Foo GmbH")
            assert found.org_address == "Foo street 1"
            assert client.get("172.20.0.0/24").data["handle"] == "172.20.0.0/24"
            assert client.get("fd42:1::1").data["handle"] == "fd42:1::/48"
            assert client.get("foo.dn42").data["ldhName"] == "foo.dn42"
            assert client.get("FOO-DN42").data["handle"] == "Foo-DN42"
            assert found.normalized["asn"] == 4242429901
            with pytest.raises(rdap.RdapNotFoundError):
                client.get("AS1")

        await asyncio.to_thread(ask)


class TestWhodap:
    """A client that asks first where to ask."""

    async def test_reads_numbers_addresses_and_names(
        self, base: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clients = whodap.client
        for name, kind in (("ASN", "asn"), ("IPv4", "ipv4"), ("IPv6", "ipv6"), ("DNS", "dns")):
            monkeypatch.setattr(getattr(clients, f"{name}Client"), "_iana_uri", f"{base}/{kind}.json")
        found = await whodap.aio_lookup_asn(4242429901)
        assert found.name == "FOO-AS"
        assert (await whodap.aio_lookup_ipv4("172.20.0.5")).handle == "172.20.0.0/24"
        assert (await whodap.aio_lookup_ipv6("fd42:1::5")).handle == "fd42:1::/48"
        assert (await whodap.aio_lookup_domain("foo", "dn42")).ldhName == "foo.dn42"
        with pytest.raises(whodap.errors.NotFoundError):
            await whodap.aio_lookup_asn(4242429999)

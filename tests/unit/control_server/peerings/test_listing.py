"""Peerings of a node, page by page."""

from __future__ import annotations

from datetime import UTC, datetime

from control_server.peerings.rules.listing import PAGE, peering_page
from control_server.peerings.schemas import PeeringRead, PlainFacts, SessionSeen
from control_server.peerings.schemas.relations import SessionFacts

AT = datetime(2030, 1, 2, tzinfo=UTC)


def peering(name: str, asn: int = 4242429901, *, enabled: bool = True, description: str = "") -> PeeringRead:
    return PeeringRead(
        id="0" * 12,
        node_id="r1",
        name=name,
        asn=asn,
        description=description,
        enabled=enabled,
        version=1,
        link=PlainFacts(interface="eth1"),
        session=SessionFacts.model_validate({"neighbor6": "fe80::2"}),
        has_preshared_key=False,
        has_password=False,
        created_at=AT,
        updated_at=AT,
    )


def names(words: str, page: int = 1, **states: str) -> list[str]:
    found = [peering(name) for name in states]
    seen = {name: SessionSeen.model_validate({"state": state}) for name, state in states.items()}
    return [each.name for each in peering_page(found, seen, words, page).items]


class TestPeeringPage:
    def test_the_worst_stands_first_and_alike_by_name(self) -> None:
        assert names("", b="ok", a="ok", d="down", u="unknown") == ["d", "u", "a", "b"]

    def test_a_disabled_one_is_not_down(self) -> None:
        found = [peering("off", enabled=False), peering("up")]
        seen = {"off": SessionSeen(), "up": SessionSeen(state="ok")}
        assert [each.name for each in peering_page(found, seen, "", 1).items] == ["off", "up"]

    def test_every_word_is_found_in_name_number_or_description(self) -> None:
        found = [peering("oak", 4242429955, description="The Oak"), peering("elm", 4242429956)]
        seen = {"oak": SessionSeen(), "elm": SessionSeen()}
        for words, expected in (("OAK", ["oak"]), ("as4242429956", ["elm"]), ("oak the", ["oak"]), ("x", [])):
            assert [each.name for each in peering_page(found, seen, words, 1).items] == expected

    def test_a_page_behind_the_last_is_the_last(self) -> None:
        found = [peering(f"p{number:03}") for number in range(PAGE + 1)]
        seen = {each.name: SessionSeen() for each in found}
        last = peering_page(found, seen, "", 99)
        assert (last.page, last.pages, last.first, len(last.items)) == (2, 2, PAGE + 1, 1)

    def test_nothing_is_one_empty_page(self) -> None:
        empty = peering_page([], {}, "", 1)
        assert (empty.pages, empty.found, list(empty.items)) == (1, 0, [])

"""What the wizard derives."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest

from control_server.neighbours.schemas import Known, NeighbourRead, RouteObject
from control_server.nodes.schemas import RoutingFacts
from control_server.peerings.rules.derived import completed, derived, usual_link_local
from control_server.peerings.rules.forms import filter_source, unfolded
from control_server.peerings.schemas import PeeringForm

OURS = IPv6Address("fe80::1")


@pytest.mark.parametrize(
    ("asn", "address"),
    [
        (4242429966, "fe80::9966"),
        (4242420001, "fe80::1:beef"),
        (4242420000, "fe80::beef"),
        (64512, "fe80::4512"),
    ],
)
def test_their_address_is_of_the_last_digits(asn: int, address: str) -> None:
    assert usual_link_local(asn, OURS) == IPv6Address(address)


def routes(count: int) -> list[RouteObject]:
    return [RouteObject.model_validate({"prefix": f"172.20.{index}.0/24"}) for index in range(count)]


@pytest.mark.parametrize(
    ("choice", "known", "limit"),
    [("", 3, "1000"), ("origin", 3, "20"), ("origin", 40, "80"), ("set", 3, "1000")],
)
def test_the_limit_follows_the_filter(choice: str, known: int, limit: str) -> None:
    registry = NeighbourRead(asn=4242429801, known=Known.YES, as_name="FOO", routes=routes(known))
    typed = PeeringForm(asn="AS4242429801", import_limit="", registry_filter=choice)
    form = completed(typed, 4242429801, RoutingFacts(), registry)
    assert (form.import_limit, form.name, form.description) == (limit, "as4242429801", "FOO")
    rows = {row.field: row for row in derived(form, 4242429801, RoutingFacts(), pooled=False)}
    assert (rows["listen_port"].value, rows["listen_port"].source) == ("29801", "asn")
    assert rows["neighbor6"].source == "asn"


def test_a_pasted_block_fills_what_is_empty() -> None:
    block = "[Peer]\n publickey = KEY\nEndpoint=f.example:1\nAllowedIPs = ::/0\n"
    assert unfolded(PeeringForm(pasted=block)).public_key == "KEY"
    kept = unfolded(PeeringForm(pasted=block, endpoint="mine:2"))
    assert (kept.endpoint, kept.public_key, kept.pasted) == ("mine:2", "KEY", "")


def test_whose_objects_a_form_means() -> None:
    assert filter_source(PeeringForm(), 7) is None
    assert filter_source(PeeringForm(registry_filter="origin"), 7) == "AS7"
    assert filter_source(PeeringForm(registry_filter="set", as_set=" as-foo "), 7) == "AS-FOO"
    assert filter_source(PeeringForm(registry_filter="origin"), None) is None

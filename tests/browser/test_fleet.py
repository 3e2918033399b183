"""A peering from the first word to the neighbour's configuration, in Chromium, beside the real registry."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from shared.kernel.principal import Role
from tests.browser.conftest import sign_in
from tests.browser.fleet import NODE, fleet_of
from tests.chromium import Desks
from tests.journeys.lite import Lite

pytestmark = pytest.mark.browser

OURS = "4242429900"
OTHERS_KEY = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="


def registered(server: Lite) -> dict[str, str]:
    """A network of the sample registry that may originate something."""
    with server.client() as client:
        listed = client.get("/registry/api/v1/objects/aut-num", params={"limit": 100}).json()["items"]
        for item in listed:
            asn = item["key"].removeprefix("AS")
            if asn == OURS:
                continue
            found = client.get(f"/api/v1/neighbours/{asn}").json()
            # Of the sample's odd numbers, some are no AS numbers at all.
            if found.get("known") == "yes" and found["as_name"] and found["routes"]:
                return {
                    "asn": f"AS{asn}",
                    "name": found["as_name"],
                    "prefix": found["routes"][0]["prefix"],
                    "mntner": found["mntners"][0],
                }
    raise AssertionError("the sample has a network with a route")


def test_a_peering_is_made_in_four_steps_changed_and_withdrawn(
    server: Lite, desks: Desks, invite: Callable[[Role], str]
) -> None:
    fleet_of(server)
    them = registered(server)
    desk = desks.open()
    desk.accept(invite(Role.OPERATOR), "peering-maker")
    sign_in(desk, "/peerings/new")
    page = desk.page

    page.get_by_label("AS number").fill(them["asn"])
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text(them["name"]).first).to_be_visible()
    page.get_by_label("Node", exact=True).select_option(NODE)
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_text(them["mntner"]).first).to_be_visible()
    expect(page.get_by_text(them["prefix"]).first).to_be_visible()
    page.get_by_label("Or their whole [Peer] block").fill(
        f"[Peer]\nPublicKey = {OTHERS_KEY}\nEndpoint = oak.example:51820\n"
    )
    page.get_by_label("Prefixes taken").select_option("origin")
    page.get_by_role("button", name="Continue to review").click()

    expect(page.get_by_text("sessions keep running").first).to_be_visible()
    expect(page.get_by_text(f"as{them['asn'][2:]}").first).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_label("Endpoint")).to_have_value("oak.example:51820")
    page.get_by_role("button", name="Continue to review").click()
    page.get_by_label("Why").fill("they asked on the list")
    page.get_by_role("button", name="Create peering").click()

    page.wait_for_url(re.compile(r"/peerings/[0-9a-z]{12}"))
    made = page.url.partition("#")[0]
    expect(page.get_by_role("region", name="BIRD")).to_contain_text("protocol bgp node_fra1")
    expect(page.get_by_role("region", name="FRR")).to_be_hidden()
    page.get_by_role("radio", name="BIRD").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("region", name="FRR")).to_contain_text("route-map node_fra1_out")
    expect(page.get_by_role("region", name="BIRD")).to_be_hidden()
    page.get_by_label("Local preference").fill("150")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name=re.compile("^Publish "))).to_be_visible()
    page.get_by_role("button", name=re.compile("^Publish ")).click()
    page.wait_for_url(made)
    expect(page.get_by_label("Local preference")).to_have_value("150")

    page.goto(f"/nodes/{NODE}/peerings")
    expect(page.get_by_role("link", name=f"as{them['asn'][2:]}")).to_be_visible()
    expect(page.get_by_role("link", name="willow")).to_be_visible()
    page.goto(f"/nodes/{NODE}/generations")
    expect(page.get_by_text("they asked on the list").first).to_be_visible()
    page.goto(made)
    page.get_by_role("button", name="Delete").click()
    page.get_by_label(re.compile("^Type ")).fill(f"as{them['asn'][2:]}")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url(f"**/nodes/{NODE}/peerings")
    expect(page.get_by_role("link", name=f"as{them['asn'][2:]}")).to_have_count(0)


def test_a_node_is_drained_by_one_click_for_everybody_to_see(
    server: Lite, desks: Desks, invite: Callable[[Role], str]
) -> None:
    fleet_of(server)
    desk = desks.open()
    desk.accept(invite(Role.OPERATOR), "drainer")
    sign_in(desk, f"/nodes/{NODE}")
    page = desk.page
    page.get_by_role("button", name="Drain").click()
    expect(page.get_by_text("In maintenance").first).to_be_visible()
    expect(page.get_by_text("Draining").first).to_be_visible()
    page.get_by_role("button", name="Say why").click()
    page.get_by_label("Reason").fill("new disks")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("In maintenance: new disks").first).to_be_visible()
    viewer = desks.open()
    viewer.accept(invite(Role.VIEWER), "onlooker")
    sign_in(viewer, "/nodes")
    expect(viewer.page.get_by_role("row", name=re.compile(NODE))).to_contain_text("new disks")
    page.get_by_role("button", name="End maintenance").click()
    expect(page.get_by_role("button", name="Drain")).to_be_visible()

"""The main job in a browser: link, dashboard, a probe line by line, a reload in the middle, a permalink."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.chromium import chromium, new_context
from tests.journeys.lite import Lite, lite

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lite]:
    with lite(tmp_path_factory.mktemp("portal") / "home") as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def state(server: Lite, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cookies of a browser that followed the link."""
    kept = tmp_path_factory.mktemp("browser") / "state.json"
    context = new_context(browser)
    page = context.new_page()
    page.goto(server.link)
    expect(page).to_have_url(f"{server.url}/")
    context.storage_state(path=kept)
    context.close()
    return kept


@pytest.fixture
def page(request: pytest.FixtureRequest, server: Lite, browser: Browser, state: Path) -> Iterator[Page]:
    """A signed-in page; any complaint of the browser fails the test."""
    context = new_context(browser, storage_state=state, base_url=server.url)
    opened = context.new_page()
    complaints: list[str] = []

    def hear(said: ConsoleMessage) -> None:
        if said.type in {"error", "warning"}:
            complaints.append(said.text)

    opened.on("console", hear)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    if request.node.get_closest_marker("refused"):
        complaints = [said for said in complaints if "422" not in said]
    assert complaints == []


def start(page: Page, tool: str, target: str) -> None:
    page.goto("/nodes/demo")
    page.get_by_role("link", name="Run a probe").click()
    page.get_by_text(tool, exact=True).click()
    page.get_by_label("Target").fill(target)
    page.get_by_role("button", name="Run").click()
    page.wait_for_url(re.compile(r"/probes/[0-9a-f-]{36}$"))


def numbers(page: Page) -> list[int]:
    shown = page.locator("[data-terminal-lines] [data-seq]")
    found = shown.evaluate_all("lines => lines.map(line => Number(line.dataset.seq))")
    return [int(number) for number in found if number]


def test_the_dashboard_shows_the_node_online(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("link", name="demo", exact=True)).to_be_visible()
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    expect(page.get_by_text("Agent online")).to_be_visible()


@pytest.mark.parametrize("tool", ["Ping", "Traceroute", "MTR"])
def test_every_line_of_a_probe_reaches_the_screen(page: Page, tool: str) -> None:
    start(page, tool, "127.0.0.1")
    expect(page.locator("[data-terminal-lines]")).to_contain_text("127.0.0.1")
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    found = numbers(page)
    assert found == list(range(1, len(found) + 1))
    expect(page.get_by_text("Done").first).to_be_visible()


def test_a_reload_in_the_middle_misses_nothing_and_the_permalink_stays(server: Lite, page: Page) -> None:
    with server.client() as client:
        wanted = {"nodes": ["demo"], "tool": "ping", "target": "127.0.0.1", "options": {"count": 6}}
        ident = client.post("/api/v1/probes", json=wanted).json()["id"]
    page.goto(f"/probes/{ident}")
    expect(page.locator("[data-terminal-lines]")).to_contain_text("icmp_seq=2")
    page.reload()
    expect(page.locator("[data-terminal-lines]")).to_contain_text("icmp_seq=6")
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    found = numbers(page)
    assert found == list(range(1, len(found) + 1))
    for number in range(1, 7):
        expect(page.locator("[data-terminal-lines]")).to_contain_text(f"icmp_seq={number}")
    page.goto("/probes")
    page.get_by_role("link", name="ping 127.0.0.1").first.click()
    page.wait_for_url(f"**/probes/{ident}")
    expect(page.locator("[data-terminal-lines]")).to_contain_text("icmp_seq=6")


def test_a_probe_is_cancelled(server: Lite, page: Page) -> None:
    with server.client() as client:
        wanted = {"nodes": ["demo"], "tool": "ping", "target": "127.0.0.1", "options": {"count": 90}}
        ident = client.post("/api/v1/probes", json=wanted).json()["id"]
    page.goto(f"/probes/{ident}")
    expect(page.locator("[data-terminal-lines]")).to_contain_text("icmp_seq=1")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


@pytest.mark.refused  # the browser notes an answer of 422
def test_a_refused_target_comes_back_in_the_form_with_what_was_typed(page: Page) -> None:
    page.goto("/probes")
    page.get_by_label("Target").fill("192.168.1.1; id")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_label("Target")).to_have_value("192.168.1.1; id")
    expect(page.get_by_label("Target")).to_have_attribute("aria-invalid", "true")


@pytest.mark.refused  # the browser notes an answer of 422
def test_a_count_that_is_none_comes_back_in_the_form(page: Page) -> None:
    page.goto("/probes")
    page.get_by_label("Target").fill("127.0.0.1")
    page.get_by_label("Count").fill("all")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_label("Count")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Target")).to_have_value("127.0.0.1")


def test_a_token_is_made_and_shown_once(page: Page) -> None:
    page.goto("/enrolment")
    page.get_by_label("Node").fill("fra1")
    page.get_by_role("button", name="Make token").click()
    expect(page.get_by_text(re.compile(r"^rle_"))).to_be_visible()
    page.goto("/enrolment")
    expect(page.get_by_text(re.compile(r"^rle_"))).to_have_count(0)
    expect(page.get_by_text("fra1")).to_be_visible()


def test_a_stranger_is_sent_to_sign_in_and_back(server: Lite, browser: Browser) -> None:
    context = new_context(browser, base_url=server.url)
    opened = context.new_page()
    opened.goto("/nodes")
    expect(opened).to_have_url(f"{server.url}/sign-in?next=/nodes")
    expect(opened.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    opened.get_by_text("No passkey at hand?").click()
    expect(opened.get_by_text("routeloom control session-link")).to_be_visible()
    context.close()

"""Every page in both themes, both languages, on a telephone and on a desk: readable, and nothing amiss."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from babel.messages.pofile import read_po
from playwright.sync_api import Browser, Page

import shared.web
from routeloom.lite.configuration import Addresses, lite_settings
from routeloom.lite.home import Home
from shared.kernel.principal import Role
from tests.browser.conftest import sign_in
from tests.browser.fleet import fleet_of
from tests.browser.pages import NO_PAGES, PAGES, address, routes_of_lite
from tests.chromium import Desk, desks_at, listen, new_context
from tests.journeys.lite import Lite

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[1] / "conformance/auth/clients/node_modules/axe-core/axe.min.js"
CATALOGUE = Path(shared.web.__file__).parent / "locale" / "zh_Hans" / "LC_MESSAGES" / "messages.po"
#: Theme, language and width: each of two in each look. The other combinations are in the soak run.
LOOKS = [("light", "en", 1280), ("dark", "zh-Hans", 360)]
OTHER_LOOKS = [
    (theme, language, width)
    for theme in ("light", "dark")
    for language in ("en", "zh-Hans")
    for width in (360, 1280)
    if (theme, language, width) not in LOOKS
]
#: What is said by the page itself, not by people or programs.
OWN_WORDS = "h1, h2, h3, th, label, button, legend, nav a, main p"
#: What is left of a text that was never filled in or never translated.
REMAINS = re.compile(r"%\(\w+\)|\{\{|\{%|\bundefined\b|\[object |\bNone\b")


@dataclass
class World:
    """A signed-in person and a stranger, and what stands in the places of paths."""

    places: dict[str, str]
    pages: dict[bool, Page] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def world(server: Lite, browser: Browser, invite: Callable[[Role], str]) -> Iterator[World]:
    with desks_at(browser, server.url) as desks:
        desk = desks.open()
        desk.accept(invite(Role.ADMIN), "looker")
        made = World({"node_id": "demo", "object_class": "aut-num"})
        made.places |= {"probe_id": finished_probe(server), "key": some_autnum(server)}
        made.places |= fleet_of(server) | {"asn": "4242429901"}
        made.places["passkey_id"] = last_part(desk, "/auth/account", "a[href*='/account/passkeys/']")
        made.places["account_id"] = last_part(desk, "/auth/accounts", "main a[href*='/auth/accounts/']")
        clients = "main a[href*='/auth/clients/']:not([href$='/new'])"
        made.places["client_id"] = last_part(desk, "/auth/clients", clients)
        made.places["secret"] = invite(Role.VIEWER).rpartition("/")[2]
        sign_in(desk)
        stranger = new_context(browser, base_url=server.url)
        made.pages = {True: desk.page, False: stranger.new_page()}
        listen(made.pages[False], made.complaints)
        yield made
        stranger.close()
    assert made.complaints == []


def finished_probe(server: Lite) -> str:
    with server.client() as client:
        wanted = {"nodes": ["demo"], "tool": "ping", "target": "127.0.0.1", "options": {"count": 1}}
        return str(client.post("/api/v1/probes", json=wanted).json()["id"])


def some_autnum(server: Lite) -> str:
    with server.client() as client:
        found = client.get("/registry/api/v1/objects/aut-num", params={"limit": 1}).json()
    return str(found["items"][0]["key"])


def last_part(desk: Desk, page: str, link: str) -> str:
    desk.page.goto(page)
    href = desk.page.locator(link).first.get_attribute("href")
    assert href is not None
    return urlsplit(href).path.rpartition("/")[2]


@pytest.fixture(scope="module")
def translated() -> set[str]:
    """English texts that read otherwise in Chinese."""
    with CATALOGUE.open("rb") as file:
        return {
            str(message.id)
            for message in read_po(file)
            if message.id and message.string and message.string != message.id
        } - {"English"}  # each language is offered under its own name


def test_every_page_is_looked_at(tmp_path: Path) -> None:
    here = Addresses("http://localhost:1", "http://localhost:1")
    routes = set(routes_of_lite(lite_settings(Home(tmp_path), here, "ERROR")))
    assert routes == set(PAGES) | set(NO_PAGES), "tests/browser/pages.py names every page"


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("look", LOOKS)
def test_a_page_can_be_read(
    world: World, server: Lite, translated: set[str], path: str, look: tuple[str, str, int]
) -> None:
    look_at(world, server, translated, path, look)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("look", OTHER_LOOKS)
def test_every_page_can_be_read_in_every_other_look(
    world: World, server: Lite, translated: set[str], look: tuple[str, str, int]
) -> None:
    for path in PAGES:
        look_at(world, server, translated, path, look)


def look_at(world: World, server: Lite, translated: set[str], path: str, look: tuple[str, str, int]) -> None:
    theme, language, width = look
    page = world.pages[PAGES[path].signed_in]
    page.set_viewport_size({"width": width, "height": 800})
    cookies = {"rl_theme": theme, "rl_language": language}
    page.context.add_cookies([{"name": k, "value": v, "url": server.url} for k, v in cookies.items()])
    wanted = address(path, world.places)
    answer = page.goto(wanted)
    assert answer is not None
    assert (answer.status, urlsplit(page.url).path) == (200, urlsplit(wanted).path)
    assert page.evaluate("document.documentElement.lang") == language
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing scrolls sideways"
    said = page.locator(OWN_WORDS).all_inner_texts()
    assert not [text for text in said if REMAINS.search(text)]
    if language != "en":
        assert not {text.strip() for text in said} & translated
    assert serious_findings(page) == []


def serious_findings(page: Page) -> list[str]:
    """What axe-core calls serious or critical, with the first element of each."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    results = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{found['id']}: {found['nodes'][0]['html']} {found['nodes'][0].get('failureSummary', '')}"
        for found in results["violations"]
        if found["impact"] in {"serious", "critical"}
    ]

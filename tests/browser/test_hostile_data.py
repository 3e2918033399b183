"""The pages of the sign-in service with the longest and strangest names: nothing of them is cut off."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Browser, Page

from shared.kernel.principal import Role
from tests.browser.hostile import CLIENT_ID, REDIRECT, fill
from tests.chromium import desks_at
from tests.journeys.lite import Lite

pytestmark = pytest.mark.browser

LOOKS = [(1280, "en", "light"), (768, "zh-Hans", "dark"), (360, "en", "dark")]
OTHER_LOOKS = [
    (width, language, theme)
    for width in (360, 768, 1280)
    for language in ("en", "zh-Hans")
    for theme in ("light", "dark")
    if (width, language, theme) not in LOOKS
]
PAGES = (
    "/auth/account",
    "/auth/account/passkeys/{passkey_id}",
    "/auth/account/proofs/new",
    "/auth/account/proofs/{challenge_id}",
    "/auth/accounts",
    "/auth/accounts/{account_id}",
    "/auth/audit",
    "/auth/clients",
    "/auth/clients/{client_id}",
    "/auth/signing-keys",
    "/auth/logout",
    "/auth/device?user_code={user_code}",
    "/auth/authorize?{request}",
)
#: What people press or read and that does not lie within what the boxes around it show, or that spills out of
#: its own. Left out are commands, which are read sideways by intent, and what only a screen reader has.
CUT_OFF = """() => {
  const LOOKED_AT = "a, button, input, select, td, th, dd, dt, h1, h2, p, span, label";
  const LEFT_OUT = "pre, code, .visually-hidden, .rl-command, [hidden]";
  const styles = (el) => getComputedStyle(el);
  const parents = (el) => el.parentElement ? [el.parentElement, ...parents(el.parentElement)] : [];
  const seen = (el) => el.getClientRects().length && !el.closest(LEFT_OUT)
    && ![el, ...parents(el)].some((each) => styles(each).clipPath !== "none");
  const hides = (el) => styles(el).overflowX !== "visible";
  const name = (why, el) => `${why} ${el.tagName}.${el.className} ${el.textContent.trim().slice(0, 40)}`;
  const found = [...document.querySelectorAll("main")].flatMap((main) =>
    [...main.querySelectorAll(LOOKED_AT)].filter(seen).flatMap((el) => {
      const at = el.getBoundingClientRect();
      const around = parents(el).filter((each) => each !== document.body && hides(each))
        .map((each) => each.getBoundingClientRect());
      const right = Math.min(document.documentElement.clientWidth, ...around.map((each) => each.right));
      if (at.left < Math.max(0, ...around.map((each) => each.left)) - 1 || at.right > right + 1)
        return [name("cut", el)];
      const spills = el.clientWidth && el.scrollWidth > el.clientWidth + 1 && !hides(el);
      return spills && !el.matches("input, select") ? [name("spills", el)] : [];
    }));
  return [...new Set(found)].slice(0, 8);
}"""


@dataclass
class Strange:
    """A person with strange names, at their desk."""

    page: Page
    places: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def strange(server: Lite, browser: Browser, invite: Callable[[Role], str]) -> Iterator[Strange]:
    with desks_at(browser, server.url) as desks:
        desk = desks.open()
        desk.accept(invite(Role.ADMIN), "strange")
        places = fill(server, "strange")
        desk.page.goto("/auth/account")
        key = desk.page.locator("main a[href*='/account/passkeys/']").nth(1).get_attribute("href")
        begun = httpx2.post(f"{server.url}/auth/device", data={"client_id": CLIENT_ID}).json()
        places |= {
            "passkey_id": str(key).rpartition("/")[2],
            "user_code": begun["user_code"],
            "request": request(),
        }
        yield Strange(desk.page, places)


def request() -> str:
    """Asks the person anew, whatever they agreed to before."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(b"w" * 43).digest()).rstrip(b"=").decode()
    return urlencode(
        {
            "client_id": CLIENT_ID,
            "redirect_uri": REDIRECT,
            "response_type": "code",
            "scope": "openid profile dn42 offline_access fleet:read fleet:write",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "prompt": "consent",
        }
    )


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_nothing_is_cut_off(strange: Strange, server: Lite, path: str, look: tuple[int, str, str]) -> None:
    look_at(strange, server, path, look)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("look", OTHER_LOOKS, ids=str)
def test_nothing_is_cut_off_in_every_other_look(
    strange: Strange, server: Lite, look: tuple[int, str, str]
) -> None:
    for path in PAGES:
        look_at(strange, server, path, look)


def look_at(strange: Strange, server: Lite, path: str, look: tuple[int, str, str]) -> None:
    width, language, theme = look
    page = strange.page
    page.set_viewport_size({"width": width, "height": 800})
    cookies = {"rl_theme": theme, "rl_language": language}
    page.context.add_cookies([{"name": k, "value": v, "url": server.url} for k, v in cookies.items()])
    answer = page.goto(path.format(**strange.places))
    assert answer is not None
    assert answer.status == 200
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing scrolls sideways"
    assert page.evaluate(CUT_OFF) == []

"""The sign-in service away: a page that says so, and the host's own way in."""

import pytest

from tests.integration.control.sign_in.house import House

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_the_page_says_so_and_the_host_s_link_works(own_house: House) -> None:
    inside, outside = await own_house.signed_in(), await own_house.known_there(await own_house.account())
    callback = await outside.callback_of()
    await own_house.inner.stop()
    away = await outside.post("/sign-in", next="/nodes?q=fra")
    assert away.status_code == 503
    assert away.headers["retry-after"] == "5"
    assert "Sign-in is not available now" in away.text
    assert "routeloom control session-link" in away.text
    assert 'value="/nodes?q=fra"' in away.text, "trying again goes on to the same page"
    assert (await outside.get(callback)).status_code == 503
    assert await own_house.is_in(inside), "who is signed in stays so"
    assert await own_house.is_in(await own_house.by_link())

"""Discovery and keys. Rows H1 to H6."""

import base64
import json

import pytest
from joserfc import jws

from auth_server.clients.errors import RegistrationRefused
from auth_server.clients.schemas import GrantType
from auth_server.clients.service import parse_registration
from auth_server.signing_keys.dependencies import key_ring
from tests.conformance.auth.provider.keys import Signing
from tests.conformance.auth.provider.provider import (
    ISSUER,
    ORIGIN,
    SHOP,
    SHOP_SECRET,
    SHOP_URI,
    Person,
    Pkce,
    Provider,
    query_of,
    unverified,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOCUMENTS = [
    "/auth/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/auth",
    "/.well-known/openid-configuration/auth",
]
SPOOFED = {
    "Host": "evil.example",
    "X-Forwarded-Host": "evil.example",
    "Forwarded": "host=evil.example;proto=http",
    "X-Forwarded-Proto": "http",
}


async def test_h1_one_issuer_everywhere_whatever_the_request_says(provider: Provider, ada: Person) -> None:
    for path in DOCUMENTS:
        plain = (await provider.http.get(path)).json()
        assert plain["issuer"] == ISSUER
        assert (await provider.http.get(path, headers=SPOOFED)).json() == plain
    pkce = Pkce()
    code = query_of(await provider.authorize(ada, pkce))
    assert code["iss"] == ISSUER
    tokens = (await provider.redeem(code["code"], pkce)).json()
    for token in (tokens["id_token"], tokens["access_token"]):
        assert unverified(token)["iss"] == ISSUER
    assert (await provider.introspect(tokens["access_token"]))["iss"] == ISSUER


async def test_h2_everything_that_is_advertised_is_there(provider: Provider, ada: Person) -> None:
    metadata = (await provider.http.get(DOCUMENTS[0])).json()
    addresses = {name: value for name, value in metadata.items() if name.endswith(("_endpoint", "_uri"))}
    assert set(addresses) == {
        "authorization_endpoint",
        "token_endpoint",
        "userinfo_endpoint",
        "jwks_uri",
        "end_session_endpoint",
        "revocation_endpoint",
        "introspection_endpoint",
        "device_authorization_endpoint",
        "pushed_authorization_request_endpoint",
    }
    for name, address in addresses.items():
        assert address.startswith(f"{ISSUER}/")
        path = address.removeprefix(ORIGIN)
        get, post = await provider.http.get(path), await provider.http.post(path)
        assert 404 not in {get.status_code, post.status_code}, name
    for flag in ("request_parameter_supported", "request_uri_parameter_supported"):
        assert metadata[flag] is False
    told = await provider.tokens(ada, scope=" ".join(metadata["scopes_supported"]))
    assert told["scope"].split() == metadata["scopes_supported"]
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == [grant.value for grant in GrantType]
    claims = await provider.read(told["id_token"])
    # Those of a maintainer are told of whoever has proved to be one.
    assert set(claims) == set(metadata["claims_supported"]) - {"asn", "mntner", "dn42"}


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"])
async def test_h2_every_way_to_authenticate_works(provider: Provider, method: str) -> None:
    signing = Signing("discovered")
    await provider.register(secret=None, client_id=signing.client_id, public_keys=signing.jwks)
    metadata = (await provider.http.get(DOCUMENTS[0])).json()
    assert method in metadata["token_endpoint_auth_methods_supported"]
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    sent = {
        "client_secret_basic": {"data": form, "auth": (SHOP, SHOP_SECRET)},
        "client_secret_post": {"data": {**form, **provider.authentication(SHOP)}},
        "private_key_jwt": {"data": {**form, **signing.assertion(ISSUER, provider.clock())}},
        "none": {"data": {**form, "client_id": "tool"}},
    }[method]
    answer = await provider.http.post("/auth/token", **sent)  # type: ignore[arg-type]
    assert answer.json()["error"] == "invalid_grant"


@pytest.mark.parametrize("name", ["request", "request_uri"])
async def test_h2_request_objects_are_refused_by_name(provider: Provider, ada: Person, name: str) -> None:
    answer = await provider.authorize(ada, Pkce(), **{name: "https://shop.example/r"})
    assert query_of(answer)["error"] == f"{name}_not_supported"


async def test_h3_public_parts_and_nothing_else(provider: Provider, ada: Person) -> None:
    answer = await provider.http.get("/auth/jwks.json")
    keys = answer.json()["keys"]
    assert len({key["kid"] for key in keys}) == len(keys) >= 4
    for key in keys:
        assert not {"d", "p", "q", "dp", "dq", "qi", "k", "oth"} & set(key)
        assert key["use"] == "sig"
        assert key["alg"] in {"ES256", "RS256"}
    tokens = await provider.tokens(ada)
    for name, typ in (("id_token", "JWT"), ("access_token", "at+jwt")):
        header = jws.extract_compact(tokens[name].encode()).headers()
        assert header["kid"] in {key["kid"] for key in keys}
        assert header["typ"] == typ


async def rotate(provider: Provider) -> None:
    async with provider.resources.database.transaction() as session:
        await key_ring(provider.resources, session, provider.app.state.opened_keys).rotate()


def kid_of(token: str) -> str:
    return str(jws.extract_compact(token.encode()).headers()["kid"])


async def test_h4_a_key_is_published_before_it_signs_and_long_after(provider: Provider, ada: Person) -> None:
    old = await provider.tokens(ada)
    published = {key["kid"] for key in (await provider.http.get("/auth/jwks.json")).json()["keys"]}
    await rotate(provider)
    new = await provider.tokens(ada)
    assert kid_of(new["id_token"]) != kid_of(old["id_token"])
    assert kid_of(new["id_token"]) in published
    for tokens in (old, new):
        await provider.read(tokens["id_token"])
        assert (await provider.introspect(tokens["access_token"]))["active"] is True
    await rotate(provider)
    await provider.read(old["id_token"])
    hint = {"id_token_hint": old["id_token"]}
    assert (await ada.browser.get("/auth/logout", params=hint)).status_code == 200
    assert await provider.rows(
        "SELECT 1 FROM sessions WHERE id = :id AND ended_at IS NOT NULL", id=provider.stored(ada.session_id)
    )


async def test_h4_private_keys_are_sealed(provider: Provider) -> None:
    kept = await provider.kept("SELECT * FROM signing_keys")
    assert '"d"' not in kept
    file = provider.resources.settings.state_directory / "secrets" / "auth-seal"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text() not in kept


async def test_h5_rs256_where_the_client_wants_it(provider: Provider, ada: Person) -> None:
    await provider.register(client_id="rsa", id_token_signed_response_alg="RS256")
    form = {"client_id": "rsa", "client_secret": SHOP_SECRET, "redirect_uri": SHOP_URI}
    pkce = Pkce()
    code = await provider.code(ada, pkce, client_id="rsa", redirect_uri=SHOP_URI)
    exchange = {"grant_type": "authorization_code", "code": code, "code_verifier": pkce.verifier}
    tokens = (await provider.http.post("/auth/token", data={**form, **exchange})).json()
    assert jws.extract_compact(tokens["id_token"].encode()).headers()["alg"] == "RS256"
    assert (await provider.read(tokens["id_token"]))["aud"] == "rsa"


@pytest.mark.parametrize("algorithm", ["none", "HS256", "NONE", ""])
async def test_h5_nothing_else_can_be_registered(algorithm: str) -> None:
    values = {"client_id": "x", "name": "x", "redirect_uris": [SHOP_URI]}
    with pytest.raises(RegistrationRefused):
        parse_registration({**values, "id_token_signed_response_alg": algorithm})


def resigned(token: str, **header: object) -> str:
    """The same claims under another header, unsigned."""
    encoded = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{encoded}.{token.split('.')[1]}."


async def test_h5_unsigned_tokens_are_not_accepted(provider: Provider, ada: Person) -> None:
    tokens = await provider.tokens(ada)
    good = jws.extract_compact(tokens["access_token"].encode()).headers()
    for header in ({"alg": "none", "typ": "at+jwt"}, {**good, "alg": "none"}, good, {**good, "kid": "x\x00"}):
        forged = resigned(tokens["access_token"], **header)
        assert (await provider.userinfo(forged)).status_code == 401
        assert (await provider.introspect(forged)) == {"active": False}
    hint = resigned(tokens["id_token"], alg="none", typ="JWT", kid=kid_of(tokens["id_token"]))
    assert (await ada.browser.get("/auth/logout", params={"id_token_hint": hint})).status_code == 400


@pytest.mark.parametrize("path", [*DOCUMENTS, "/auth/jwks.json"])
async def test_h6_every_page_may_read_public_documents(provider: Provider, path: str) -> None:
    answer = await provider.http.get(path, headers={"Origin": "https://anywhere.example"})
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["access-control-allow-origin"] == "*"

"""Refusals over HTTP: one table, one shape, nothing leaks."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from shared.kernel.errors import Kind
from shared.web.middleware import MAX_BODY_BYTES

STATUS = {
    Kind.INVALID: 422,
    Kind.UNAUTHENTICATED: 401,
    Kind.FORBIDDEN: 403,
    Kind.MISSING: 404,
    Kind.GONE: 410,
    Kind.CONFLICT: 409,
    Kind.PRECONDITION: 428,
    Kind.TOO_LARGE: 413,
    Kind.THROTTLED: 429,
    Kind.UNAVAILABLE: 503,
}
HTML = {"Accept": "text/html"}


@pytest.mark.parametrize("kind", list(Kind))
async def test_each_kind_has_its_status_and_the_shape_of_rfc_9457(
    client: httpx2.AsyncClient, kind: Kind
) -> None:
    answer = await client.get(f"/refused/{kind}")
    assert answer.status_code == STATUS[kind]
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["code"] == f"test_{kind}"
    assert body["status"] == STATUS[kind]
    assert body["detail"] == "No."
    assert body["request_id"] == answer.headers["x-request-id"]


async def test_a_throttled_caller_is_told_when_to_come_back(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/busy")).headers["retry-after"] == "2"


async def test_an_unauthenticated_program_gets_a_challenge(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/operators-only")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_an_unauthenticated_person_is_sent_to_sign_in_and_back(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/operators-only?tab=2", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=/operators-only%3Ftab%3D2"


async def test_a_viewer_may_not_do_what_an_operator_may(client: httpx2.AsyncClient) -> None:
    refused = await client.get("/operators-only", headers={"Authorization": "Bearer viewer"})
    assert refused.status_code == 403
    assert "fleet:write" in refused.json()["detail"]
    allowed = await client.get("/operators-only", headers={"Authorization": "Bearer operator"})
    assert allowed.status_code == 200


async def test_bad_input_names_each_field_and_never_repeats_the_value(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/things", json={"name": "x", "size": "a secret word"})
    assert answer.status_code == 422
    errors = {error["field"]: error for error in answer.json()["errors"]}
    assert set(errors) == {"name", "size"}
    assert errors["name"]["code"] == "string_too_short"
    assert "a secret word" not in answer.text


async def test_a_body_that_is_not_json_is_the_callers_fault(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/things", content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


async def test_broken_json_is_said_of_the_body(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/things", content=b"{]", headers={"Content-Type": "application/json"})
    assert [error["field"] for error in answer.json()["errors"]] == ["body"]


async def in_pieces(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 65536):
        yield b" " * 65536


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_past_the_limit_is_not_read(client: httpx2.AsyncClient, declared: bool) -> None:
    size = MAX_BODY_BYTES + 65536
    content = b" " * size if declared else in_pieces(size)
    answer = await client.post("/things", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_a_redirect_never_names_a_strange_host(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/livez/", headers={"Host": "evil.example"})
    assert answer.status_code == 404


async def test_a_field_error_of_our_own_keeps_code_and_remedy(client: httpx2.AsyncClient) -> None:
    expected = {"field": "name", "code": "taken", "message": "Choose another name."}
    assert (await client.get("/fields")).json()["errors"] == [expected]


async def test_a_bug_is_500_without_its_message(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/bug")
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert "rlp_" not in answer.text
    assert "Traceback" not in answer.text


async def test_a_person_gets_a_page_with_the_code_and_the_request_id(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/refused/conflict", headers=HTML)
    assert answer.status_code == 409
    assert answer.headers["content-type"].startswith("text/html")
    assert "test_conflict" in answer.text
    assert answer.headers["x-request-id"] in answer.text


async def test_an_unknown_path_is_404_in_both_forms(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/nothing")).json()["code"] == "not_found"
    page = await client.get("/nothing", headers=HTML)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")


async def test_a_failed_commit_is_never_a_201(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/things", json={"name": "orphan", "size": 99})
    assert answer.status_code == 500


async def test_a_stranger_learns_that_before_what_is_wrong_with_a_body(client: httpx2.AsyncClient) -> None:
    for body in (b"{", b"", b"[" * 1000, b"{}"):
        answer = await client.post(
            "/operators-only", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 401, body

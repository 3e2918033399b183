"""Hysteresis, receivers, and the body."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from uuid import UUID

import pytest

from control_server.alerts.rules import judge, receivers, refusal, refusal_of_literal, signature
from control_server.alerts.schemas import ChannelCreate, LinkFacts, Verdict
from shared.kernel.errors import InvalidInput
from shared.web.forms import parse

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
AFTER = (timedelta(minutes=3), timedelta(seconds=30))
INCIDENT = UUID(int=1)


def link(
    *,
    seen: int | None,
    connected: int | None = 600,
    disconnected: int | None = None,
    opened: int | None = None,
) -> LinkFacts:
    """Instants as seconds before now."""

    def before(seconds: int | None) -> datetime | None:
        return None if seconds is None else NOW - timedelta(seconds=seconds)

    incident = None if opened is None else INCIDENT
    return LinkFacts(
        "fra1", "", before(seen), before(connected), before(disconnected), incident, before(opened)
    )


def verdict(facts: LinkFacts, watching: int = 86_400) -> Verdict:
    return judge(facts, NOW, NOW - timedelta(seconds=watching), AFTER)


class TestJudge:
    @pytest.mark.parametrize(
        ("facts", "expected"),
        [
            (link(seen=None), Verdict.NOTHING),
            (link(seen=60), Verdict.NOTHING),
            (link(seen=179), Verdict.NOTHING),
            (link(seen=181), Verdict.LOST),
            (link(seen=181, disconnected=181), Verdict.LOST),
            (link(seen=300, opened=120), Verdict.NOTHING),
            (link(seen=5, connected=20, opened=120), Verdict.NOTHING),
            (link(seen=5, connected=31, opened=120), Verdict.BACK),
            (link(seen=5, connected=900, opened=120), Verdict.BACK),
            (link(seen=5, connected=60, disconnected=5, opened=120), Verdict.NOTHING),
            (link(seen=None, opened=120), Verdict.GONE),
        ],
    )
    def test_says(self, facts: LinkFacts, expected: Verdict) -> None:
        assert verdict(facts) is expected

    def test_does_not_blame_a_node_for_the_time_before_the_watch(self) -> None:
        assert verdict(link(seen=9000), watching=100) is Verdict.NOTHING


class TestReceivers:
    @pytest.mark.parametrize(
        "address",
        ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fe80::1", "::ffff:127.0.0.1", "0.0.0.1"],
    )
    def test_inner_addresses_are_refused(self, address: str) -> None:
        policy = receivers("clearnet", (), allow_loopback=False)
        assert refusal([ip_address("203.0.113.1"), ip_address(address)], policy) is not None

    def test_an_allowed_network_never_opens_loopback(self) -> None:
        policy = receivers(
            "clearnet", (ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8")), allow_loopback=False
        )
        assert refusal([ip_address("10.1.2.3")], policy) is None
        assert refusal([ip_address("127.0.0.1")], policy) is not None

    def test_loopback_has_a_switch(self) -> None:
        policy = receivers("clearnet", (), allow_loopback=True)
        assert refusal([ip_address("127.0.0.1"), ip_address("::1")], policy) is None

    def test_a_literal_in_the_address_is_judged_at_once(self) -> None:
        policy = receivers("clearnet", (), allow_loopback=False)
        assert refusal_of_literal("http://[::1]:80/", policy) is not None
        assert refusal_of_literal("https://hooks.example/", policy) is None


class TestChannel:
    @pytest.mark.parametrize(
        "url",
        [
            "ftp://hooks.example",
            "https://",
            "https://u:p@hooks.example",
            "file:///etc/passwd",
            "https://h.example/#x",
        ],
    )
    def test_refuses_what_is_no_plain_web_address(self, url: str) -> None:
        with pytest.raises(InvalidInput):
            parse(ChannelCreate, {"name": "pager", "url": url})


def test_the_signature_depends_on_every_part() -> None:
    assert (
        len({signature("a", 1, "x"), signature("b", 1, "x"), signature("a", 2, "x"), signature("a", 1, "y")})
        == 4
    )

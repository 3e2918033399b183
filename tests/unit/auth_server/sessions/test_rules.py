"""Devices, places and ways on, decided without anything else."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth_server.sessions import rules

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", "Chrome, Windows"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/19.0 Safari/605.1", "Safari, macOS"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1",
            "Safari, iPhone",
        ),
        ("Mozilla/5.0 (Linux; Android 16; Pixel) Chrome/140.0 Mobile Safari/537.36", "Chrome, Android"),
        ("curl/8.14", "curl"),
        ("", ""),
    ],
)
def test_a_device_is_named_by_program_and_system(user_agent: str, name: str) -> None:
    assert rules.device_name(user_agent) == name


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1:2:3:4:5%eth0", "2001:db8:0:1::/64"),
        ("", "unknown"),
        ("unix", "unknown"),
    ],
)
def test_an_address_stands_for_its_customer(address: str, place: str) -> None:
    assert rules.place_of(address) == place


@given(st.text(max_size=40))
def test_whatever_is_asked_for_stays_on_this_site(target: str) -> None:
    found = rules.safe_next(target, "/otherwise")
    assert found.startswith("/")
    assert not found.startswith(("//", "/\\", "/\t"))
    assert found.isprintable()


def test_a_passkey_is_fresh_for_five_minutes() -> None:
    assert rules.is_fresh(NOW, NOW + timedelta(minutes=5))
    assert not rules.is_fresh(NOW, NOW + timedelta(minutes=5, seconds=1))
    assert not rules.is_fresh(None, NOW)

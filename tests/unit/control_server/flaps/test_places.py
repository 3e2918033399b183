"""Where things are explained, and what a probe of them is aimed at."""

from datetime import UTC, datetime

import pytest

from control_server.flaps.rules.addresses import address_of
from control_server.flaps.rules.snapshots import target_of
from control_server.flaps.schemas import Subject, SubjectKind
from shared.protocol.fleet import ProtocolState, RuntimeSnapshot


@pytest.mark.parametrize(
    ("subject", "above", "place"),
    [
        (None, None, "/flaps"),
        (None, 100, "/flaps?above=100"),
        (("r1", SubjectKind.NODE, ""), None, "/flaps?node=r1"),
        (("r1", SubjectKind.SESSION, "f g&h"), None, "/flaps?node=r1&session=f+g%26h"),
        (
            ("r1", SubjectKind.PREFIX, "fd42::/48"),
            0,
            "/flaps?node=r1&prefix=fd42%3A%3A%2F48&above=0",
        ),
    ],
)
def test_an_address_says_what_is_explained_and_what_is_listed(
    subject: Subject | None, above: int | None, place: str
) -> None:
    assert address_of(subject, above) == place


@pytest.mark.parametrize(
    ("told", "target"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:DB8::1", "2001:db8::1"),
        ("fe80::1%wg-f", ""),
        ("fe80::1", ""),
        ("169.254.1.1", ""),
        ("", ""),
        ("dynamic", ""),
    ],
)
def test_a_probe_is_aimed_at_a_neighbour_that_has_an_address_of_its_own(told: str, target: str) -> None:
    protocol = ProtocolState(name="f", kind="BGP", state="up", neighbor_address=told)
    snapshot = RuntimeSnapshot(taken_at=datetime(2030, 1, 2, tzinfo=UTC), protocols=(protocol,))
    assert target_of(snapshot, "f") == target
    assert target_of(snapshot, "g") == ""
    assert target_of(None, "f") == ""

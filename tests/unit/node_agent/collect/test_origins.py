"""Origin validation (RFC 6811)."""

import pytest

from node_agent.bird.routes import RoaSeen
from node_agent.collect.origins import Authorisations
from shared.protocol.reports import Validity

KNOWN = Authorisations(
    [
        RoaSeen("172.20.0.0/16", 24, 4242429901),
        RoaSeen("172.20.0.0/16", 20, 4242429902),
        RoaSeen("172.20.8.0/24", 24, 0),
    ]
)


@pytest.mark.parametrize(
    ("prefix", "origin", "expected"),
    [
        ("172.20.0.0/16", 4242429901, Validity.VALID),
        ("172.20.4.0/24", 4242429901, Validity.VALID),
        ("172.20.4.0/25", 4242429901, Validity.INVALID),
        ("172.20.4.0/24", 4242429902, Validity.INVALID),
        ("172.20.8.0/24", 4242429901, Validity.VALID),
        ("172.20.8.0/24", 0, Validity.VALID),
        ("172.21.0.0/16", 4242429901, Validity.NOT_FOUND),
        ("172.16.0.0/12", 4242429901, Validity.NOT_FOUND),
        ("172.20.0.0/16", None, Validity.UNCHECKED),
        ("fd42:9901::/48", 4242429901, Validity.UNCHECKED),
    ],
)
def test_a_route_is_held_against_every_covering_authorisation(
    prefix: str, origin: int | None, expected: Validity
) -> None:
    assert KNOWN.validity(prefix, origin) is expected


def test_without_authorisations_nothing_is_said() -> None:
    assert Authorisations().validity("172.20.0.0/16", 4242429901) is Validity.UNCHECKED

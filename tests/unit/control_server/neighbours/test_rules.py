"""Filters and ownership by route objects."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from control_server.neighbours.rules import may_originate, prefix_list
from control_server.neighbours.schemas import Known, RegistryFilter, RouteObject


def route(prefix: str, max_length: int | None = None, *mnt_by: str) -> RouteObject:
    return RouteObject(prefix=ip_network(prefix), max_length=max_length, mnt_by=mnt_by)


def test_a_filter_has_each_prefix_once_and_as_long_as_the_longest_object_says() -> None:
    found = prefix_list(
        [route("fd42::/48"), route("172.20.2.0/24", 26), route("172.20.1.0/24"), route("172.20.2.0/24")]
    )
    assert [(str(entry.prefix), entry.shortest, entry.longest) for entry in found] == [
        ("172.20.1.0/24", 24, 24),
        ("172.20.2.0/24", 24, 26),
        ("fd42::/48", 48, 48),
    ]


@pytest.mark.parametrize(("said", "longest"), [(None, 24), (8, 24), (28, 28), (128, 32)])
def test_a_length_that_an_object_cannot_mean_is_taken_as_the_nearest(said: int | None, longest: int) -> None:
    assert route("172.20.1.0/24", said).longest == longest


@pytest.mark.parametrize(
    ("prefix", "verdict"),
    [
        ("172.20.1.0/24", Known.YES),
        ("172.20.2.0/26", Known.YES),
        ("172.20.2.0/27", Known.NO),
        ("172.20.0.0/16", Known.NO),
        ("172.20.1.0/25", Known.NO),
        ("fd42::/48", Known.NO),
    ],
)
def test_ownership_is_what_an_object_allows(prefix: str, verdict: Known) -> None:
    routes = [route("172.20.1.0/24", None, "FOO-MNT"), route("172.20.2.0/24", 26, "BAR-MNT")]
    found = may_originate(routes, ip_network(prefix))
    assert found.verdict is verdict
    assert bool(found.mnt_by) is (verdict is Known.YES)


def test_a_filter_is_of_the_neighbour_or_of_a_set() -> None:
    assert RegistryFilter().source(4242429801) == "AS4242429801"
    assert RegistryFilter(as_set="as-foo").source(4242429801) == "AS-FOO"

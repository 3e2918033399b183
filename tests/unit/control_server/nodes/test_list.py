"""The list of nodes: who is found, in which order, on how many pages, and where the list stands."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from control_server.nodes import rules
from control_server.nodes.schemas import Listed, NodeQuery

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)


def node(
    name: str,
    state: str = "ok",
    *,
    site: str = "",
    labels: Mapping[str, str] | None = None,
    ago: int | None = 0,
) -> Listed:
    seen = None if ago is None else NOON - timedelta(seconds=ago)
    return Listed(name, site, "", labels or {}, state, seen)


def names(found: list[Listed]) -> list[str]:
    return [one.node_id for one in found]


class TestMatching:
    NODES = (
        node("fra1", site="Frankfurt", labels={"region": "eu"}),
        node("ams1", site="Amsterdam", labels={"region": "eu"}),
        node("syd1", site="Sydney", labels={"region": "oc"}),
    )

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ("", ["fra1", "ams1", "syd1"]),
            ("FRANK", ["fra1"]),
            ("region=eu", ["fra1", "ams1"]),
            ("region=eu amster", ["ams1"]),
            ("nowhere", []),
        ],
    )
    def test_every_word_is_in_the_node(self, words: str, found: list[str]) -> None:
        assert names(rules.matching(self.NODES, words)) == found


class TestOrdered:
    NODES = (
        node("c", "ok", ago=5),
        node("b", "down", ago=None),
        node("a", "stale", ago=300),
        node("d", ago=1),
    )

    @pytest.mark.parametrize(
        ("sorting", "order"),
        [
            ("name", "abcd"),
            ("-name", "dcba"),
            ("state", "bacd"),
            ("-state", "dcab"),
            ("seen", "dcab"),
        ],
    )
    def test_follows_what_was_asked_for(self, sorting: str, order: str) -> None:
        assert names(rules.ordered(self.NODES, sorting)) == list(order)


class TestPages:
    @pytest.mark.parametrize(("found", "pages"), [(0, 1), (1, 1), (100, 1), (101, 2), (1000, 10)])
    def test_hold_a_hundred_each(self, found: int, pages: int) -> None:
        assert rules.last_page(found) == pages


class TestAddress:
    def test_leaves_out_what_is_usual(self) -> None:
        assert rules.address(NodeQuery()) == "/nodes"
        assert (
            rules.address(NodeQuery("a b", "down", "-seen", 3), page=1)
            == "/nodes?q=a+b&state=down&sort=-seen"
        )

    def test_keeps_what_is_not_changed(self) -> None:
        assert rules.address(NodeQuery("region=eu"), page=2) == "/nodes?q=region%3Deu&page=2"

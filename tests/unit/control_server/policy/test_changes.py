"""Changes as people read them."""

from __future__ import annotations

from typing import Any

from control_server.desired_state.rules.differences import differences, file_differences
from control_server.policy.rules.changes import by_thing, file_changes


def changes(before: dict[str, Any] | None, after: dict[str, Any]) -> list[tuple[str, str, str, list[str]]]:
    found = by_thing(differences(before, after))
    return [(each.kind, each.name, each.sign, [row.path for row in each.rows]) for each in found]


class TestByThing:
    def test_what_is_new_is_told_by_its_facts(self) -> None:
        peering = {"name": "f", "asn": 1, "session": {"passive": False, "hold": 90}}
        befores: tuple[dict[str, Any], ...] = ({"peerings": []}, {"peerings": [{"name": "g", "asn": 2}]})
        for before in befores:
            found = changes(before, {"peerings": [*before["peerings"], peering]})
            assert found == [("peerings", "f", "+", ["name", "asn", "session.hold"])]

    def test_of_what_is_new_only_what_is_unusual_is_told(self) -> None:
        session = {"neighbor6": "fe80::1", "policy": {"local_pref": 100, "prepend": 2}}
        after = {"peerings": [{"name": "f", "asn": 1, "session": session}]}
        (found,) = changes({"peerings": []}, after)
        assert found[3] == ["name", "asn", "session.neighbor6", "session.policy.prepend"]

    def test_what_changes_of_one_thing_stands_together(self) -> None:
        before = {"links": [{"interface": "wg-a", "mtu": 1420, "port": 1}], "node": {"region": 0}}
        after = {"links": [{"interface": "wg-a", "mtu": 1400, "port": 2}], "node": {"region": 41}}
        assert changes(before, after) == [
            ("links", "wg-a", "~", ["mtu", "port"]),
            ("node", "", "~", ["region"]),
        ]

    def test_what_is_gone_is_told_by_its_facts(self) -> None:
        kept, gone = {"name": "f", "asn": 1}, {"name": "g", "asn": 2}
        assert changes({"peerings": [kept, gone]}, {"peerings": [kept]}) == [
            ("peerings", "g", "-", ["name", "asn"]),
        ]


class TestFileChanges:
    def test_lines_have_the_numbers_of_both_files(self) -> None:
        (file,) = file_changes(file_differences({"a": "one\ntwo\nthree"}, {"a": "one\n2\n3\nthree"}))
        assert (file.state, file.added, file.removed) == ("changed", 2, 1)
        assert [(row.kind, row.old, row.new, row.head) for row in file.rows[1:]] == [
            ("same", 1, 1, "one"),
            ("removed", 2, None, "two"),
            ("added", None, 2, "2"),
            ("added", None, 3, "3"),
            ("same", 3, 4, "three"),
        ]

    def test_in_pairs_of_lines_what_differs_is_marked(self) -> None:
        (file,) = file_changes(file_differences({"a": "limit 200 block;"}, {"a": "limit 400 block;"}))
        removed, added = file.rows[1:]
        assert (removed.head, removed.middle, removed.tail) == ("limit ", "2", "00 block;")
        assert (added.head, added.middle, added.tail) == ("limit ", "4", "00 block;")

    def test_files_that_come_and_go_say_so(self) -> None:
        found = file_changes(file_differences({"gone": "x"}, {"new": "y"}))
        assert [(file.path, file.state) for file in found] == [("gone", "gone"), ("new", "new")]

"""Who may change, add or take what."""

from collections.abc import Mapping

import pytest

from registry_server.objects.schemas import FileVersion
from registry_server.policy.schemas import PolicyCode
from registry_server.policy.service import find_objections
from tests.integration.registry.network import thing

OTHER = "mnt-by:             OTHER-MNT\nsource:             DN42\n"
REGISTRY: Mapping[str, bytes] = {
    "data/mntner/FOO-MNT": thing("mntner", "FOO-MNT"),
    "data/person/OTHER-DN42": thing("person", "Other", "nic-hdl:OTHER-DN42", end=OTHER),
    "data/as-block/AS4242420000-AS4242429999": thing(
        "as-block", "AS4242420000 - AS4242429999", "policy:closed", end=OTHER
    ),
    "data/as-block/AS4242429900-AS4242429949": thing(
        "as-block", "AS4242429900 - AS4242429949", "policy:open", end=OTHER
    ),
    "data/as-block/AS4242429950-AS4242429959": thing(
        "as-block", "AS4242429950 - AS4242429959", "policy:ask", "mnt-lower:FOO-MNT", end=OTHER
    ),
    "data/as-block/AS4242429960-AS4242429969": thing(
        "as-block", "AS4242429960 - AS4242429969", "policy:closed"
    ),
    "data/aut-num/AS4242429901": thing("aut-num", "AS4242429901", "as-name:OTHER", end=OTHER),
    "data/inetnum/172.20.0.0_14": thing(
        "inetnum",
        "172.20.0.0 - 172.23.255.255",
        "cidr:172.20.0.0/14",
        "netname:ROOT",
        "policy:open",
        end=OTHER,
    ),
    "data/inetnum/172.22.0.0_16": thing(
        "inetnum",
        "172.22.0.0 - 172.22.255.255",
        "cidr:172.22.0.0/16",
        "netname:SHUT",
        "policy:closed",
        end=OTHER,
    ),
    "data/inetnum/172.20.0.0_24": thing(
        "inetnum", "172.20.0.0 - 172.20.0.255", "cidr:172.20.0.0/24", "netname:OURS"
    ),
    "data/inetnum/172.20.1.0_24": thing(
        "inetnum", "172.20.1.0 - 172.20.1.255", "cidr:172.20.1.0/24", "netname:THEIRS", end=OTHER
    ),
}


def versions(files: Mapping[str, bytes]) -> list[FileVersion]:
    return [FileVersion(path.encode(), "100644", str(hash(raw)), raw) for path, raw in files.items()]


def codes(changed: Mapping[str, bytes | None], mntner: str | None = "foo-mnt") -> list[PolicyCode]:
    after = {path: raw for path, raw in {**REGISTRY, **changed}.items() if raw is not None}
    return [code for _, code, _ in find_objections(versions(REGISTRY), versions(after), mntner)]


def new(object_class: str, key: str, text: str = "") -> dict[str, bytes]:
    directory = "dns" if object_class == "domain" else object_class
    file_name = key.replace("/", "_").replace(" ", "")
    return {f"data/{directory}/{file_name}": thing(object_class, text or key)}


class TestNames:
    @pytest.mark.parametrize(
        ("object_class", "good", "bad"),
        [
            ("organisation", "ORG-FOO", "FOO"),
            ("mntner", "BAR-MNT", "BAR"),
            ("person", "BAR-DN42", "BAR"),
            ("role", "BAR-DN42", "BAR-MNT"),
            ("domain", "foo.dn42", "a.foo.dn42"),
            ("domain", "foo.dn42", "foo.example"),
        ],
    )
    def test_of_new_objects_have_their_form(self, object_class: str, good: str, bad: str) -> None:
        assert codes(new(object_class, good), None) == []
        assert codes(new(object_class, bad), None) == [PolicyCode.NAME]

    def test_of_what_is_there_are_as_they_are(self) -> None:
        before = versions({**REGISTRY, **new("mntner", "OLD")})
        after = versions({**REGISTRY, "data/mntner/OLD": b"mntner: OLD\n"})
        assert find_objections(before, after, None) == []


class TestWhatIsThere:
    def test_is_changed_by_its_maintainer_alone(self) -> None:
        text = thing("mntner", "FOO-MNT", "remarks:new")
        assert codes({"data/mntner/FOO-MNT": text}) == []
        assert codes({"data/mntner/FOO-MNT": text}, "OTHER-MNT") == [PolicyCode.NOT_YOURS]

    def test_is_not_taken_over_by_naming_oneself(self) -> None:
        taken = thing("aut-num", "AS4242429901", "as-name:OTHER")
        assert codes({"data/aut-num/AS4242429901": taken}) == [PolicyCode.NOT_YOURS]

    def test_is_removed_by_its_maintainer_alone(self) -> None:
        assert codes({"data/person/OTHER-DN42": None}) == [PolicyCode.NOT_YOURS]
        assert codes({"data/person/OTHER-DN42": None}, "OTHER-MNT") == []

    def test_that_did_not_change_is_not_looked_at(self) -> None:
        assert codes({}) == []


class TestNumbers:
    @pytest.mark.parametrize(
        ("asn", "mntner", "expected"),
        [
            ("AS4242429902", "FOO-MNT", []),
            ("AS4242420001", "FOO-MNT", [PolicyCode.NOT_OPEN]),
            ("AS4242420001", "OTHER-MNT", []),
            ("AS4242429955", "FOO-MNT", []),
            ("AS4242429955", "BAR-MNT", [PolicyCode.NOT_OPEN]),
            ("AS4242429965", "OTHER-MNT", []),
            ("AS64496", "FOO-MNT", [PolicyCode.OUTSIDE]),
            ("AS-NONE", "FOO-MNT", [PolicyCode.OUTSIDE]),
        ],
    )
    def test_are_taken_from_an_open_block_or_from_ones_own(
        self, asn: str, mntner: str, expected: list[PolicyCode]
    ) -> None:
        assert codes(new("aut-num", asn), mntner) == expected

    @pytest.mark.parametrize(
        ("key", "mntner", "expected"),
        [
            ("AS4242429961-AS4242429962", "FOO-MNT", []),
            ("AS4242429910-AS4242429911", "FOO-MNT", [PolicyCode.NOT_OPEN]),
            ("AS4242429951-AS4242429952", "FOO-MNT", [PolicyCode.NOT_OPEN]),
            ("AS64500-AS64510", "FOO-MNT", [PolicyCode.OUTSIDE]),
        ],
    )
    def test_a_block_is_cut_from_ones_own_alone(
        self, key: str, mntner: str, expected: list[PolicyCode]
    ) -> None:
        assert codes(new("as-block", key), mntner) == expected


class TestAddresses:
    @pytest.mark.parametrize(
        ("object_class", "prefix", "expected"),
        [
            ("inetnum", "172.21.0.0/24", []),
            ("inetnum", "172.22.1.0/24", [PolicyCode.NOT_OPEN]),
            ("inetnum", "172.20.0.128/25", []),
            ("inetnum", "172.20.1.128/25", [PolicyCode.NOT_OPEN]),
            ("inetnum", "10.0.0.0/8", [PolicyCode.OUTSIDE]),
            ("inet6num", "fd42::/48", [PolicyCode.OUTSIDE]),
            ("route", "172.20.0.0/24", []),
            ("route", "172.20.1.0/24", [PolicyCode.NOT_OPEN]),
            ("route", "172.20.1.0/25", [PolicyCode.NOT_OPEN]),
            ("route", "172.21.9.0/24", []),
            ("route", "192.0.2.0/24", [PolicyCode.OUTSIDE]),
            ("route", "nonsense", [PolicyCode.OUTSIDE]),
        ],
    )
    def test_are_taken_from_an_open_network_or_from_ones_own(
        self, object_class: str, prefix: str, expected: list[PolicyCode]
    ) -> None:
        assert codes(new(object_class, prefix)) == expected

    def test_who_holds_a_network_above_may_add_below_another(self) -> None:
        assert codes(new("inetnum", "172.20.0.64/26"), "OTHER-MNT") == []

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.classes import CLASSES
from registry_server.objects.rules.typed import AttributeKind, kind_of, parts_of
from registry_server.objects.schemas import Attribute


@pytest.mark.parametrize(
    ("object_class", "name", "value", "kind", "parts"),
    [
        ("route", "origin", "AS4242429901, as1", AttributeKind.ASN, ["4242429901", "1"]),
        ("route", "origin", "ASAS1", AttributeKind.ASN, ["ASAS1"]),
        ("route6", "route6", "FD42:0::/32", AttributeKind.PREFIX, ["fd42::/32"]),
        (
            "inetnum",
            "inetnum",
            "172.20.0.0 - 172.20.0.255",
            AttributeKind.RANGE,
            ["172.20.0.0", "172.20.0.255"],
        ),
        ("as-block", "as-block", "AS1-AS2", AttributeKind.RANGE, ["AS1", "AS2"]),
        ("mntner", "auth", "#ssh-rsa AAAA", AttributeKind.AUTH, ["unknown", "#ssh-rsa AAAA"]),
        ("mntner", "auth", "ssh-rsa AAAA x", AttributeKind.AUTH, ["ssh-rsa", "AAAA x"]),
        (
            "domain",
            "nserver",
            "ns1.foo.dn42 172.20.0.53",
            AttributeKind.SERVER,
            ["ns1.foo.dn42", "172.20.0.53"],
        ),
        ("as-set", "members", "AS1 # us\nAS-FOO", AttributeKind.REFERENCE, ["AS1", "AS-FOO"]),
        ("person", "remarks", "one # two\nthree", AttributeKind.TEXT, ["one # two", "three"]),
        ("inetnum", "policy", "open   # for all", AttributeKind.WORD, ["open"]),
        ("person", "x-anything", "a b", AttributeKind.TEXT, ["a b"]),
    ],
)
def test_values_are_read_as_their_kind_asks(
    object_class: str, name: str, value: str, kind: AttributeKind, parts: list[str]
) -> None:
    assert kind_of(object_class, name) is kind
    assert parts_of(kind, Attribute(name, value, 1)) == parts


@given(st.sampled_from(sorted(CLASSES)), st.sampled_from(list(AttributeKind)), st.text(max_size=80))
def test_no_value_is_too_odd(object_class: str, kind: AttributeKind, value: str) -> None:
    assert isinstance(kind_of(object_class, value), AttributeKind)
    assert all(isinstance(part, str) for part in parts_of(kind, Attribute("x", value, 1)))

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.cache import KeyFamily, KeyRegistry, Kind, Tier


def family(pattern: str, name: str | None = None, **changes: Any) -> KeyFamily:
    declared: dict[str, Any] = {
        "name": name or pattern,
        "tier": Tier.KV,
        "database": 1,
        "kind": Kind.JSON,
        "ttl": timedelta(minutes=1),
        "writer": "tests",
        "purpose": "tests",
        "loss": "nothing",
    }
    return KeyFamily(pattern=pattern, **(declared | changes))


WEBSOCKETS = family("ws:sub:<node>:<instance>:<connection>")
IDENTITY = family("reg:v<version>:identity:<asn>/<mntner>")

parts = st.text(min_size=1, max_size=200)


class TestKey:
    def test_reads_as_the_key_index_writes_it(self) -> None:
        assert WEBSOCKETS.key(node="fra1", instance="a-2", connection=7).name == "ws:sub:fra1:a-2:7"
        assert IDENTITY.key(version=4, asn=4242420000, mntner="EXAMPLE-MNT").name == (
            "reg:v4:identity:4242420000/EXAMPLE-MNT"
        )

    @given(st.tuples(parts, parts, parts), st.tuples(parts, parts, parts))
    def test_different_parts_never_name_the_same_key(
        self, one: tuple[str, str, str], other: tuple[str, str, str]
    ) -> None:
        names = [
            WEBSOCKETS.key(node=node, instance=instance, connection=connection).name
            for node, instance, connection in (one, other)
        ]
        assert (names[0] == names[1]) == (one == other)

    @given(parts)
    def test_no_part_reaches_past_its_place(self, part: str) -> None:
        name = WEBSOCKETS.key(node=part, instance="i", connection="c").name
        assert name.count(":") == 4
        assert name.isascii()
        assert not set(name) & set("*?[]\\ \r\n\x00")
        assert WEBSOCKETS.expression.fullmatch(name)
        assert len(name) < 300

    def test_shows_its_family_and_never_its_name(self) -> None:
        key = WEBSOCKETS.key(node="secret", instance="secret", connection="secret")
        assert "secret" not in f"{key} {key!r}"

    @pytest.mark.parametrize("given_parts", [{}, {"node": "a"}, {"other": "a"}])
    def test_takes_exactly_its_parts(self, given_parts: dict[str, str]) -> None:
        with pytest.raises(ValueError, match="takes"):
            WEBSOCKETS.key(**given_parts)

    def test_refuses_an_empty_part(self) -> None:
        with pytest.raises(ValueError, match="empty"):
            WEBSOCKETS.key(node="", instance="a", connection="b")


class TestFamily:
    @pytest.mark.parametrize("pattern", ["a:<one><two>", "a:<one>-<two>", "a:<one>x", "a:<one>:<one>"])
    def test_refuses_places_that_could_run_into_each_other(self, pattern: str) -> None:
        with pytest.raises(ValueError, match="part"):
            family(pattern)

    @pytest.mark.parametrize("kind", [Kind.JSON, Kind.TEXT, Kind.COUNTER, Kind.LIST, Kind.LOG])
    def test_has_a_ttl(self, kind: Kind) -> None:
        with pytest.raises(ValueError, match="TTL"):
            family("a:<b>", kind=kind, ttl=None)

    @pytest.mark.parametrize("kind", [Kind.CHANNEL, Kind.VERSION])
    def test_has_no_ttl_where_nothing_ends(self, kind: Kind) -> None:
        with pytest.raises(ValueError, match="TTL"):
            family("a:<b>", kind=kind)

    def test_varies_by_a_tenth_at_most(self) -> None:
        with pytest.raises(ValueError, match="tenth"):
            family("a:<b>", jitter=0.2)

    def test_of_a_foreign_owner_is_never_built(self) -> None:
        cap = family("session:<hash>", kind=Kind.FOREIGN, ttl=None, foreign_owner="Cap", database=0)
        with pytest.raises(ValueError, match="belongs to Cap"):
            cap.key(hash="x")
        assert cap.expression.fullmatch("session:$argon2id$v=19$m=65536,t=3,p=4$a/b+c=")

    def test_escapes_its_text_for_scan(self) -> None:
        assert family("a*[x]:<b>").glob == r"a\*\[x\]:*"


class TestRegistry:
    def test_finds_the_family_of_a_stored_key(self) -> None:
        codes, used = family("oauth:code:<sha256>"), family("oauth:code:used:<sha256>")
        registry = KeyRegistry(codes, used)
        assert registry.find(Tier.KV, 1, "oauth:code:used:ab") is used
        assert registry.find(Tier.KV, 1, "oauth:code:ab") is codes
        assert registry.find(Tier.KV, 2, "oauth:code:ab") is None
        assert registry.find(Tier.CACHE, 1, "oauth:code:ab") is None
        assert registry.find(Tier.KV, 1, "oauth:code:a b") is None

    def test_knows_the_marks_of_who_is_filling(self) -> None:
        costly = family("costly:<id>", fill_token=True)
        assert KeyRegistry(costly).find(Tier.KV, 1, "costly:1:fill") is costly

    def test_finds_no_channel_among_keys(self) -> None:
        registry = KeyRegistry(family("evt:node:<node>", kind=Kind.CHANNEL, ttl=None))
        assert registry.find(Tier.KV, 1, "evt:node:a") is None

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("a:<x>", "a:<y>"),
            ("a:<x>", "a:b"),
            ("a:b<x>", "a:<y>"),
            ("a:bc<x>", "a:b<y>"),
            ("a:<x>/<y>", "a:<x>:<y>"),
            ("a:b", "a:b"),
        ],
    )
    def test_refuses_families_that_could_name_the_same_key(self, one: str, other: str) -> None:
        registry = KeyRegistry(family(one, "one"))
        with pytest.raises(ValueError, match="same key"):
            registry.add(family(other, "other"))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("reg:ver", "reg:v<version>:asn:<asn>"),
            ("health:fleet", "health:node:<node>"),
            ("a:b<x>", "a:c<x>"),
        ],
    )
    def test_takes_families_that_cannot(self, one: str, other: str) -> None:
        assert len(list(KeyRegistry(family(one, "one"), family(other, "other")))) == 2

    def test_takes_the_same_pattern_in_another_database(self) -> None:
        control = family("throttle:login:<sha256>", "control")
        auth = family("throttle:login:<sha256>", "auth", database=2)
        registry = KeyRegistry(control)
        registry.update(KeyRegistry(auth))
        assert registry["auth"] is auth

    def test_refuses_the_same_channel_in_another_database(self) -> None:
        """Channels know no database."""
        registry = KeyRegistry(family("a:<b>", "one", kind=Kind.CHANNEL, ttl=None))
        with pytest.raises(ValueError, match="same key"):
            registry.add(family("a:<b>", "two", kind=Kind.CHANNEL, ttl=None, database=2))

    def test_refuses_a_name_twice(self) -> None:
        with pytest.raises(ValueError, match="twice"):
            KeyRegistry(family("a:<b>", "same"), family("c:<d>", "same"))

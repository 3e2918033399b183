"""What a report of routes means, and where prefixes stand."""

import base64
import zlib
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control_server.routing.errors import PrefixNotUnderstood
from control_server.routing.rules import (
    best_change,
    cause,
    covering,
    highest_of,
    instant,
    name_of,
    network_of,
    place_of,
    verdict,
)
from control_server.routing.schemas import BestKind, ChangeCause, Known, Verdict
from shared.protocol.fleet import Sight
from shared.protocol.reports import (
    MAX_UNPACKED_BYTES,
    PrefixReport,
    Route,
    UnreadableReport,
    Validity,
    pack_changes,
    unpack_changes,
)

NOW = datetime(2030, 1, 2, tzinfo=UTC)


def known(**values: Any) -> Known:
    fixed = {"stream": "one", "sequence": 4, "rounds": 9, "mark": 2, "synchronising": False}
    return Known(**{**fixed, "complete_at": NOW, "daemon_started_at": NOW, **values})


def report(**values: Any) -> PrefixReport:
    fixed = {"stream": "one", "sequence": 5, "base": 4, "taken_at": NOW}
    return PrefixReport.model_validate({**fixed, **values})


def route(**values: Any) -> Route:
    made = Route("rl_f", 0, True, False, None, 1, "2 1", 2, Validity.VALID, "fe80::1", 100, None)
    return made._replace(**values)


class TestVerdict:
    def test_the_next_is_taken(self) -> None:
        assert verdict(known(), report()) is Verdict.TAKE

    @pytest.mark.parametrize("sequence", [1, 3, 4])
    def test_what_was_taken_is_only_acknowledged(self, sequence: int) -> None:
        assert verdict(known(), report(sequence=sequence)) is Verdict.REPEATED
        assert verdict(known(), report(sequence=sequence, begins=True)) is Verdict.REPEATED

    def test_a_report_on_another_base_needs_the_whole(self) -> None:
        assert verdict(known(), report(sequence=7, base=6)) is Verdict.OUT_OF_STEP
        assert verdict(known(), report(stream="two", base=0, sequence=1)) is Verdict.OUT_OF_STEP

    def test_nothing_builds_upon_nothing(self) -> None:
        fresh = known(stream="", sequence=0, complete_at=None)
        assert verdict(fresh, report(sequence=1, base=0)) is Verdict.OUT_OF_STEP
        assert verdict(fresh, report(sequence=1, base=0, begins=True)) is Verdict.TAKE

    def test_a_whole_goes_on_where_it_has_begun(self) -> None:
        half = known(synchronising=True, complete_at=None)
        assert verdict(half, report()) is Verdict.TAKE

    def test_a_look_that_saw_nothing_needs_no_base(self) -> None:
        unseen = report(stream="two", sequence=1, base=0, sight=Sight.UNAVAILABLE)
        assert verdict(known(), unseen) is Verdict.TAKE


class TestCause:
    def test_the_first_sight_is_no_change(self) -> None:
        assert cause(known(complete_at=None), report(begins=True)) is ChangeCause.FIRST_SIGHT

    def test_a_daemon_that_began_anew_explains_everything(self) -> None:
        later = report(daemon_started_at=NOW + timedelta(minutes=5))
        assert cause(known(), later) is ChangeCause.DAEMON_RESTART
        drifted = report(daemon_started_at=NOW + timedelta(seconds=3))
        assert cause(known(), drifted) is ChangeCause.CHANGE

    def test_a_whole_after_others_has_no_times(self) -> None:
        assert cause(known(), report(begins=True)) is ChangeCause.RESYNCHRONISED
        assert cause(known(synchronising=True), report()) is ChangeCause.RESYNCHRONISED


class TestBestChange:
    def test_is_one_for_a_prefix_however_many_peers_tell_of_it(self) -> None:
        before = [route(), route(protocol="rl_g", best=False)]
        after = [route(best=False), route(protocol="rl_g")]
        found = best_change("10.0.0.0/8", before, after)
        assert found is not None
        assert found.kind is BestKind.CHANGED
        assert (found.before and found.before.protocol, found.after and found.after.protocol) == (
            "rl_f",
            "rl_g",
        )

    def test_another_peer_than_the_best_changes_nothing(self) -> None:
        assert best_change("10.0.0.0/8", [route()], [route(), route(protocol="rl_g", best=False)]) is None

    def test_an_age_changes_nothing(self) -> None:
        assert best_change("10.0.0.0/8", [route()], [route(since=NOW, local_pref=5)]) is None

    def test_a_refused_route_is_never_the_best(self) -> None:
        found = best_change("10.0.0.0/8", [route()], [route(filtered=True, reason=13)])
        assert found is not None
        assert found.kind is BestKind.WITHDRAWN

    def test_a_new_one_is_announced(self) -> None:
        found = best_change("10.0.0.0/8", [], [route()])
        assert found is not None
        assert found.kind is BestKind.ANNOUNCED


class TestInstant:
    def test_is_the_agents_as_long_as_it_can_be_right(self) -> None:
        assert instant(NOW - timedelta(seconds=40), NOW) == NOW - timedelta(seconds=40)
        assert instant(NOW - timedelta(hours=1), NOW) == NOW
        assert instant(NOW + timedelta(days=9), NOW) == NOW


class TestPlaces:
    @pytest.mark.parametrize("text", ["", "nonsense", "10.0.0.0/33", "10.0.0", "2130706433x", "a" * 200])
    def test_what_is_no_prefix_is_refused(self, text: str) -> None:
        with pytest.raises(PrefixNotUnderstood):
            network_of(text)

    def test_an_address_is_the_longest_of_prefixes(self) -> None:
        assert str(network_of(" 192.0.2.7 ")) == "192.0.2.7/32"
        assert str(network_of("2001:DB8::1/32")) == "2001:db8::/32"

    @given(st.ip_addresses(), st.integers(0, 128))
    def test_what_lies_in_a_prefix_lies_between_its_ends(self, address: Any, length: int) -> None:
        inner = ip_network(address)
        outer = inner.supernet(new_prefix=min(length, inner.max_prefixlen))
        assert place_of(outer).lowest <= place_of(inner).lowest <= highest_of(outer)
        assert str(outer) in covering(inner)
        assert len(covering(inner)) == inner.max_prefixlen + 1

    def test_families_do_not_mix(self) -> None:
        assert highest_of(network_of("0.0.0.0/0")) < place_of(network_of("::/0")).lowest


class TestReasons:
    def test_have_words(self) -> None:
        assert [name_of(code) for code in (13, None, 99)] == ["rpki_invalid", "limit", "code_99"]


class TestPayload:
    def test_comes_back_as_it_went(self) -> None:
        changes = [("10.0.0.0/8", [route(), route(protocol="rl_g", since=NOW)]), ("10.1.0.0/16", [])]
        assert unpack_changes(report(count=2, payload=pack_changes(changes))) == changes

    @pytest.mark.parametrize(
        "payload", ["%%%", "aGVsbG8=", "eJyLjgUAARUAuQ=", pack_changes([("10.0.0.0/8", [])])[:-8]]
    )
    def test_what_is_broken_is_refused(self, payload: str) -> None:
        with pytest.raises(UnreadableReport):
            unpack_changes(report(count=1, payload=payload))

    def test_what_writes_out_too_large_is_refused_before_it_is(self) -> None:
        bomb = base64.b64encode(zlib.compress(b" " * (MAX_UNPACKED_BYTES + 1))).decode()
        with pytest.raises(UnreadableReport):
            unpack_changes(report(count=1, payload=bomb))

    def test_another_number_of_prefixes_is_refused(self) -> None:
        with pytest.raises(UnreadableReport):
            unpack_changes(report(count=2, payload=pack_changes([("10.0.0.0/8", [])])))

"""The parsers take anything: whatever a tool prints, they answer and never raise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node_agent.probes.mtr_live import MtrLive
from node_agent.probes.summaries.mtr import MtrTrace, parse_mtr
from node_agent.probes.summaries.ping import parse_ping
from node_agent.probes.summaries.traceroute import parse_traceroute

WORDS = st.sampled_from(
    [
        *("64 bytes from", "From", "icmp_seq=", "seq=", "time=", "ms", "(DUP!)", "no answer yet for", "rtt"),
        *("packets transmitted", "received", "min/avg/max/mdev =", "+1 errors,", "%", "packet loss", "/"),
        *(
            "traceroute to",
            "*",
            "!H",
            "!<13>",
            "(192.0.2.1)",
            "[AS4242429901]",
            " 1 ",
            "192.0.2.1",
            "2001:db8::1",
        ),
        *("x ", "h ", "p ", "d ", "0", "1", "255", "999999999", "-5.25", "1e999", "\x00", "…", " ", "  "),
    ]
)
LINES = st.lists(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map("".join)), max_size=12)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from("xhpd"), st.integers(0, 12), st.sampled_from(["33000", "192.0.2.1", "192.0.2.9"])
    ),
    max_size=60,
).map(lambda events: [f"{kind} {hop} {word}" for kind, hop, word in events])


@settings(deadline=None)
@given(LINES)
def test_no_output_makes_a_parser_raise(lines: list[str]) -> None:
    for summary in (parse_ping(lines), parse_traceroute(lines), parse_mtr(lines, "192.0.2.9")):
        json.dumps(summary, allow_nan=False)


@settings(deadline=None)
@given(EVENTS, st.booleans())
def test_mtr_never_counts_more_replies_than_probes(events: list[str], complete: bool) -> None:
    summary = parse_mtr(events, "192.0.2.9", complete=complete)
    for number, hop in enumerate(summary["hops"], start=1):
        assert hop["hop"] == number
        assert 0 <= hop["received"] <= hop["sent"]
        assert 0 <= hop["loss_percent"] <= 100


@settings(deadline=None)
@given(EVENTS, st.booleans())
def test_mtr_can_be_shown_at_any_point(events: list[str], complete: bool) -> None:
    live = MtrLive("192.0.2.9")
    shown = [line for event in events for line in live.feed(event)]
    shown += live.finish(complete=complete)
    assert all("\n" not in line for line in shown)


class TestMtrLive:
    def test_shows_a_hop_when_it_first_answers_and_each_cycle(self) -> None:
        live = MtrLive("203.0.113.2")
        events = ["x 0 1", "h 0 192.0.2.2", "h 0 192.0.2.2", "p 0 400 1", "x 1 2", "x 2 3", "h 1 203.0.113.2"]
        events += ["p 1 900 2", "h 2 203.0.113.2", "p 2 900 3", "x 0 4", "p 0 410 4", "x 1 5"]
        shown = [line for event in events for line in live.feed(event)]
        assert shown == [
            "  1  192.0.2.2  0.400 ms",
            "  2  203.0.113.2  0.900 ms",
            "cycle 1: 2 of 2 hops answered, target in 0.900 ms",
        ]
        assert [" ".join(line.split()) for line in live.finish(complete=True)] == [
            "cycle 2: 2 of 2 hops answered, target in 0.900 ms",
            "",
            "Hop Address Loss% Snt Last Avg Best Wrst StDev",
            "1 192.0.2.2 0.0% 2 0.410 0.405 0.400 0.410 0.007",
            "2 203.0.113.2 50.0% 2 0.900 0.900 0.900 0.900 0.000",
        ]

    def test_passes_on_what_is_no_event(self) -> None:
        live = MtrLive("203.0.113.2")
        assert live.feed("mtr: something else") == ["mtr: something else"]
        assert live.feed("") == []

    def test_says_that_the_target_was_not_reached(self) -> None:
        live = MtrLive("203.0.113.2")
        for event in ("x 0 1", "x 1 2"):
            live.feed(event)
        lines = live.finish(complete=True)
        assert lines[0] == "cycle 1: 0 of 2 hops answered, target not reached"
        assert lines[-1].split() == ["2", "???", "100.0%", "1"]

    @pytest.mark.parametrize(("complete", "sent"), [(True, 2), (False, 1)])
    def test_a_probe_under_way_is_no_loss_before_the_end(self, *, complete: bool, sent: int) -> None:
        trace = MtrTrace("192.0.2.9")
        for event in ("x 0 1", "h 0 192.0.2.9", "p 0 100 1", "x 0 2"):
            trace.feed(event)
        assert trace.hops(complete=complete)[0].sent == sent

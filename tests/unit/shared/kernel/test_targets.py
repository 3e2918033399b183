from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.kernel.targets import (
    ALWAYS_DENIED,
    CLEARNET,
    DN42,
    HostName,
    TargetInvalid,
    TargetPolicy,
    TargetRefused,
    parse_target,
)

ADDRESSES = st.ip_addresses()


class TestParseTarget:
    @pytest.mark.parametrize("text", ["192.0.2.1", "2001:db8::1", "::1", "0.0.0.0", "255.255.255.255"])  # noqa: S104
    def test_reads_a_canonical_address(self, text: str) -> None:
        assert parse_target(text) == ip_address(text)

    @pytest.mark.parametrize(
        "text", ["a", "router.example", "a-b.c9.example", "xn--bcher-kva.example", "9a.example"]
    )
    def test_reads_a_strict_host_name(self, text: str) -> None:
        assert parse_target(text) == HostName(text)

    def test_lowers_the_case_of_a_name(self) -> None:
        assert str(parse_target("Router.Example")) == "router.example"

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "target_empty"),
            ("a" * 300, "target_too_long"),
            ("-f", "target_option"),
            ("--help", "target_option"),
            ("a;b", "target_name"),
            ("$(x)", "target_name"),
            ("`x`", "target_name"),
            ("a|b", "target_name"),
            ("a&b", "target_name"),
            ("a/24", "target_name"),
            ("a\nb", "target_characters"),
            ("a\n", "target_characters"),
            ("a\x00", "target_characters"),
            ("a\x7f", "target_characters"),
            ("a b", "target_characters"),
            ("münchen.example", "target_not_ascii"),
            ("１９２.0.2.1", "target_not_ascii"),
            ("2130706433", "target_address"),
            ("0x7f000001", "target_address"),
            ("0x7f.1", "target_address"),
            ("0X7F.0.0.1", "target_address"),
            ("0177.0.0.1", "target_address"),
            ("127.1", "target_address"),
            ("127.0.0.01", "target_address"),
            ("999.1.1.1", "target_address"),
            ("192.0.2.1.", "target_name"),
            ("router.example.0x", "target_address"),
            ("fe80::1%eth0", "target_zone"),
            ("2001:DB8::1", "target_not_canonical"),
            ("2001:db8:0:0::1", "target_not_canonical"),
            ("2001:0db8::1", "target_not_canonical"),
            ("[2001:db8::1]", "target_address"),
            ("host:80", "target_address"),
            (".example", "target_name"),
            ("a..example", "target_name"),
            ("a.example.", "target_name"),
            ("-a.example", "target_option"),
            ("a-.example", "target_name"),
            ("a_b.example", "target_name"),
            ("a" * 64 + ".example", "target_name"),
        ],
    )
    def test_refuses_with_a_reason(self, text: str, code: str) -> None:
        with pytest.raises(TargetInvalid) as caught:
            parse_target(text)
        (field,) = caught.value.fields
        assert (field.field, field.code) == ("target", code)
        assert field.message == caught.value.detail

    def test_reads_both_spellings_of_a_mapped_address(self) -> None:
        assert parse_target("::ffff:192.0.2.1") == IPv6Address("::ffff:192.0.2.1")

    @settings(deadline=None)
    @given(st.text(max_size=300))
    def test_returns_or_refuses_any_text(self, text: str) -> None:
        try:
            target = parse_target(text)
        except TargetInvalid:
            return
        assert text.isascii()
        assert str(target) == text.lower() or isinstance(target, IPv6Address)

    @settings(deadline=None)
    @given(ADDRESSES)
    def test_reads_every_address_in_its_canonical_form(self, address: IPv4Address | IPv6Address) -> None:
        assert parse_target(str(address)) == address

    @settings(deadline=None)
    @given(st.integers(min_value=0, max_value=2**32 - 1))
    def test_refuses_an_address_written_as_one_number(self, number: int) -> None:
        for text in (str(number), hex(number), oct(number).replace("0o", "0")):
            with pytest.raises(TargetInvalid):
                parse_target(text)

    @settings(deadline=None)
    @given(st.from_regex(r"[a-z0-9-]{1,9}[;|&$`'\"<>(){}\\*?!~#^=,/@+_]", fullmatch=True))
    def test_refuses_every_character_of_a_shell(self, text: str) -> None:
        with pytest.raises(TargetInvalid):
            parse_target(text)


class TestTargetPolicy:
    @pytest.mark.parametrize(
        "text",
        [
            "127.0.0.1",
            "127.255.0.9",
            "::1",
            "::",
            "0.0.0.0",  # noqa: S104
            "0.1.2.3",
            "169.254.0.1",
            "169.254.169.254",
            "fe80::1",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
            "240.0.0.1",
            "::ffff:192.0.2.1",
            "::127.0.0.1",
            "2002:7f00:1::",
            "64:ff9b::192.0.2.1",
            "2001:0:1:2:3:4:5:6",
            "fd00:ec2::254",
        ],
    )
    def test_denies_by_default(self, text: str) -> None:
        for policy in (TargetPolicy(), CLEARNET, DN42):
            with pytest.raises(TargetRefused, match="is "):
                policy.check(ip_address(text))

    def test_tells_the_address_and_the_reason(self) -> None:
        with pytest.raises(TargetRefused) as caught:
            TargetPolicy().check(ip_address("127.0.0.1"))
        assert caught.value.detail == "127.0.0.1 is a loopback address."

    @pytest.mark.parametrize("text", ["192.0.2.1", "2001:db8::1", "198.51.100.7"])
    def test_allows_what_nothing_names(self, text: str) -> None:
        assert TargetPolicy().refusal(ip_address(text)) is None

    @pytest.mark.parametrize(
        ("text", "clearnet", "dn42"),
        [
            ("172.20.0.1", False, True),
            ("172.23.255.255", False, True),
            ("172.31.0.1", False, True),
            ("10.127.0.1", False, True),
            ("10.100.0.1", False, True),
            ("fd42::1", False, True),
            ("10.0.0.1", False, False),
            ("172.16.0.1", False, False),
            ("172.24.0.1", False, False),
            ("192.168.1.1", False, False),
            ("100.64.0.1", False, False),
            ("fc00::1", False, False),
            ("203.0.113.1", True, True),
            ("2001:db8::1", True, True),
        ],
    )
    def test_presets_differ_in_private_ranges(self, text: str, *, clearnet: bool, dn42: bool) -> None:
        address = ip_address(text)
        assert (CLEARNET.refusal(address) is None, DN42.refusal(address) is None) == (clearnet, dn42)

    def test_an_explicit_allowance_wins(self) -> None:
        loopback = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
        policy = TargetPolicy(allow=loopback, deny=loopback, own=frozenset({ip_address("127.0.0.1")}))
        assert policy.refusal(ip_address("127.0.0.1")) is None
        assert policy.refusal(ip_address("::1")) is None

    def test_refuses_the_nodes_own_addresses(self) -> None:
        own = frozenset({ip_address("192.0.2.1")})
        assert TargetPolicy(own=own).refusal(ip_address("192.0.2.1")) == "is an address of the node itself"
        assert TargetPolicy(own=own).refusal(ip_address("192.0.2.2")) is None

    @pytest.mark.parametrize(
        "text", ["::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "2001:0:0:0:0:0:80ff:fffe"]
    )
    def test_an_allowed_ipv6_network_does_not_open_the_ipv4_address_inside(self, text: str) -> None:
        everything = TargetPolicy(allow=(IPv6Network("::/0"),))
        assert "127.0.0.1" in (everything.refusal(ip_address(text)) or "")

    @settings(deadline=None)
    @given(ADDRESSES, st.sampled_from([TargetPolicy(), CLEARNET, DN42]))
    def test_never_allows_a_default_denial(
        self, address: IPv4Address | IPv6Address, policy: TargetPolicy
    ) -> None:
        denied = any(
            address.version == network.version and address in network for network, _ in ALWAYS_DENIED
        )
        assert not denied or policy.refusal(address) is not None

    @settings(deadline=None)
    @given(ADDRESSES)
    def test_dn42_allows_all_that_clearnet_allows(self, address: IPv4Address | IPv6Address) -> None:
        assert CLEARNET.refusal(address) is not None or DN42.refusal(address) is None

    @settings(deadline=None)
    @given(st.ip_addresses(v=4))
    def test_an_allowed_ipv4_network_opens_all_of_it(self, address: IPv4Address) -> None:
        assert TargetPolicy(allow=(ip_network("0.0.0.0/0"),)).refusal(address) is None

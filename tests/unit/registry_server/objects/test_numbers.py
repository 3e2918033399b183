from contextlib import suppress
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix, parse_range
from registry_server.objects.schemas import ProblemCode


class TestParseAsn:
    @pytest.mark.parametrize(
        ("text", "number"),
        [("AS0", 0), ("AS4242429901", 4242429901), ("as4294967295", 4294967295), ("As00064496", 64496)],
    )
    def test_reads_32_bits(self, text: str, number: int) -> None:
        assert parse_asn(text) == number

    @pytest.mark.parametrize(
        "text",
        ["", "AS", "ASx", "ASAS4242429901", "AS4294967296", "AS-1", "AS１２", "AS64496 ", "64496", "AS1.2"],
    )
    def test_refuses_everything_else(self, text: str) -> None:
        assert parse_asn(text) is None

    def test_reads_plain_digits_when_asked(self) -> None:
        assert parse_asn("4242429901", bare=True) == 4242429901


class TestParsePrefix:
    @pytest.mark.parametrize("text", ["172.20.0.0/14", "0.0.0.0/0", "fd42:1::/48", "::/0", "192.0.2.1/32"])
    def test_reads_what_the_standard_library_reads(self, text: str) -> None:
        prefix, network = parse_prefix(text), ip_network(text)
        assert (prefix.first, prefix.last) == (network[0].packed, network[-1].packed)
        assert (prefix.family, prefix.length, prefix.text) == (network.version, network.prefixlen, text)

    def test_writes_ipv6_canonically(self) -> None:
        assert parse_prefix("FD42:0001:0000::/48").text == "fd42:1::/48"

    @pytest.mark.parametrize("text", ["172.20.0.1/24", "fd42::1/64", "128.0.0.0/0"])
    def test_refuses_host_bits(self, text: str) -> None:
        with pytest.raises(PrefixRefused) as refused:
            parse_prefix(text)
        assert refused.value.code is ProblemCode.HOST_BITS

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "/",
            "172.20.0.0",
            "172.20.0.0/33",
            "172.20.0.0/024",
            "172.20.0.0/+24",
            "172.20.0.0/24 ",
            "172.020.0.0/24",
            "172.20.0/24",
            "fd42::/129",
            "fd42::%lo/64",
            'fd42":/48',
            "fd42::/４８",
            "\x00/1",
        ],
    )
    def test_refuses_what_is_no_prefix(self, text: str) -> None:
        with pytest.raises(PrefixRefused) as refused:
            parse_prefix(text)
        assert refused.value.code is ProblemCode.INVALID_PREFIX

    @given(st.text(max_size=50))
    def test_raises_nothing_else(self, text: str) -> None:
        with suppress(PrefixRefused):
            parse_prefix(text)

    @given(st.ip_addresses(), st.integers(0, 128))
    def test_agrees_with_the_standard_library(self, address: object, length: int) -> None:
        text = f"{address}/{length}"
        try:
            network = ip_network(text)
        except ValueError:
            with pytest.raises(PrefixRefused):
                parse_prefix(text)
        else:
            assert parse_prefix(text).first == network.network_address.packed


class TestParseRange:
    def test_ignores_blanks(self) -> None:
        assert parse_range("192.0.2.0 - 192.0.2.255") == parse_range("192.0.2.0-192.0.2.255")

    @pytest.mark.parametrize("text", ["", "192.0.2.0", "192.0.2.0 - ::1", "a - b"])
    def test_refuses_what_is_no_range(self, text: str) -> None:
        assert parse_range(text) is None

import pytest

from control_server.api_tokens.rules import source_of


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", "unknown"),
        ("testclient", "testclient"),
    ],
)
def test_failures_count_by_address_or_by_the_network_of_a_site(address: str, source: str) -> None:
    assert source_of(address) == source

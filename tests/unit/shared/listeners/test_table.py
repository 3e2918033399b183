"""Who is let go when there are too many."""

import pytest

from shared.listeners.table import ConnectionTable, neighbourhood_of


class Client:
    def __init__(self, neighbourhood: str) -> None:
        self.neighbourhood = neighbourhood
        self.evicted = False

    def evict(self) -> None:
        self.evicted = True


def evicted(clients: list[Client]) -> list[int]:
    return [place for place, client in enumerate(clients) if client.evicted]


class TestAdmit:
    def test_one_address_loses_the_one_that_was_silent_longest(self) -> None:
        table = ConnectionTable(most=10, most_of_one=2)
        clients = [Client("a") for _ in range(3)]
        table.admit(clients[0])
        table.admit(clients[1])
        table.heard(clients[0])
        table.admit(clients[2])
        assert evicted(clients) == [1]
        assert len(table) == 2

    def test_the_address_with_most_makes_room_for_others(self) -> None:
        table = ConnectionTable(most=3, most_of_one=3)
        clients = [Client("a"), Client("b"), Client("b"), Client("c")]
        for client in clients:
            table.admit(client)
        assert evicted(clients) == [1]
        assert set(table) == {clients[0], clients[2], clients[3]}

    def test_who_left_counts_no_more_and_may_leave_twice(self) -> None:
        table = ConnectionTable(most=10, most_of_one=1)
        first, second = Client("a"), Client("a")
        table.admit(first)
        table.left(first)
        table.left(first)
        table.heard(first)
        table.admit(second)
        assert not first.evicted
        assert list(table) == [second]


@pytest.mark.parametrize(
    ("address", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "192.0.2.1", False),
    ],
)
def test_an_ipv6_client_counts_by_its_network(address: str, other: str, same: bool) -> None:
    assert (neighbourhood_of(address) == neighbourhood_of(other)) is same

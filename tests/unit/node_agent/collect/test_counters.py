"""Counters of interfaces and peers."""

from pathlib import Path

from node_agent.apply.links.observing import parse_wireguard
from node_agent.collect.counters import Epochs, read_interfaces, readings
from shared.protocol.reports import CounterReading, LinkKind

KEY, OTHER = "k" * 43 + "=", "o" * 43 + "="


def interface(directory: Path, name: str, received: int = 0, **more: object) -> None:
    place = directory / name
    (place / "statistics").mkdir(parents=True, exist_ok=True)
    values = {"type": 1, "ifindex": 2, **more}
    for file, value in values.items():
        (place / file).write_text(f"{value}\n")
    for file, value in {"rx_bytes": received, "tx_bytes": 5, "rx_packets": 3, "tx_packets": 2}.items():
        (place / "statistics" / file).write_text(f"{value}\n")


def dump(*peers: tuple[str, int], name: str = "wg-f") -> str:
    lines = [f"{name}\tsecret\tpublic\t51820\toff"]
    lines += [f"{name}\t{key}\t(none)\t(none)\t::/0\t0\t{received}\t7\toff" for key, received in peers]
    return "\n".join(lines)


class TestReadInterfaces:
    def test_reads_every_interface_but_the_loopback(self, tmp_path: Path) -> None:
        interface(tmp_path, "lo", type=772)
        interface(tmp_path, "eth0", 2**40, speed=1000)
        (tmp_path / "eth0" / "device").mkdir()
        interface(tmp_path, "wg-f", 9, type=65534, ifindex=7)
        interface(tmp_path, "br0", 1, speed=-1)
        found = {entry.name: entry for entry in read_interfaces(tmp_path)}
        assert sorted(found) == ["br0", "eth0", "wg-f"]
        assert (found["eth0"].kind, found["eth0"].link_bits) == (LinkKind.PHYSICAL, 1_000_000_000)
        assert found["eth0"].received_bytes == 2**40
        assert (found["wg-f"].kind, found["wg-f"].link_bits) == (LinkKind.TUNNEL, None)
        assert (found["br0"].kind, found["br0"].link_bits) == (LinkKind.OTHER, None)

    def test_one_that_goes_away_meanwhile_is_left_out(self, tmp_path: Path) -> None:
        interface(tmp_path, "eth0")
        (tmp_path / "wg-f").mkdir()
        assert [entry.name for entry in read_interfaces(tmp_path)] == ["eth0"]

    def test_this_host_has_some_place_to_read(self) -> None:
        assert isinstance(read_interfaces(), list)


class Host:
    """Looks at interfaces and peers as the test has them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.epochs = Epochs("boot")

    def look(self, *peers: tuple[str, int], index: int = 7) -> dict[str, CounterReading]:
        interface(self.directory, "wg-f", 100, type=65534, ifindex=index)
        found = readings(read_interfaces(self.directory), parse_wireguard(dump(*peers)), self.epochs)
        return {reading.peer: reading for reading in found}


class TestEpochs:
    def test_stay_while_nothing_happens(self, tmp_path: Path) -> None:
        host = Host(tmp_path)
        first, second = host.look((KEY, 10)), host.look((KEY, 20))
        assert {key: reading.epoch for key, reading in first.items()} == {
            key: reading.epoch for key, reading in second.items()
        }

    def test_a_peer_that_was_gone_begins_anew(self, tmp_path: Path) -> None:
        host = Host(tmp_path)
        first = host.look((KEY, 10))
        host.look()
        again = host.look((KEY, 20))
        assert first[KEY].epoch != again[KEY].epoch
        assert first[""].epoch == again[""].epoch

    def test_an_interface_that_was_made_anew_begins_anew_with_its_peers(self, tmp_path: Path) -> None:
        host = Host(tmp_path)
        first, again = host.look((KEY, 10)), host.look((KEY, 20), index=9)
        assert first[KEY].epoch != again[KEY].epoch
        assert first[""].epoch != again[""].epoch

    def test_another_key_is_another_counter(self, tmp_path: Path) -> None:
        host = Host(tmp_path)
        assert set(host.look((KEY, 10))) == {"", KEY}
        assert set(host.look((OTHER, 10))) == {"", OTHER}

    def test_peers_that_nobody_looked_at_are_not_gone(self, tmp_path: Path) -> None:
        host = Host(tmp_path)
        first = host.look((KEY, 10))
        assert len(readings(read_interfaces(tmp_path), None, host.epochs)) == 1
        assert host.look((KEY, 20))[KEY].epoch == first[KEY].epoch


def test_no_secret_is_in_a_reading(tmp_path: Path) -> None:
    found = Host(tmp_path).look((KEY, 10))
    assert "secret" not in "".join(reading.model_dump_json() for reading in found.values())

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from node_agent.collect.host import HostSample, boot_id, own_addresses, sample_host

FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 192.0.2.0
        /24 link UNICAST
Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.7
           /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
"""
IF_INET6 = """00000000000000000000000000000001 01 80 10 80       lo
20010db8000000000000000000000007 02 40 00 80     eth0
broken
"""


def proc(directory: Path) -> Path:
    (directory / "net").mkdir()
    (directory / "net/fib_trie").write_text(FIB_TRIE)
    (directory / "net/if_inet6").write_text(IF_INET6)
    (directory / "meminfo").write_text("MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  400 kB\nbad\n")
    (directory / "uptime").write_text("12.50 3.00\n")
    return directory


class TestHost:
    def test_reads_its_own_addresses_and_no_others(self, tmp_path: Path) -> None:
        expected = {"127.0.0.1", "192.0.2.7", "::1", "2001:db8::7"}
        assert own_addresses(proc(tmp_path)) == {ip_address(text) for text in expected}

    def test_reads_numbers(self, tmp_path: Path) -> None:
        sample = sample_host(proc(tmp_path))
        assert sample.uptime_seconds == 12.5
        assert (sample.memory_total_bytes, sample.memory_used_bytes) == (1_024_000, 614_400)

    def test_a_host_that_tells_nothing_gives_zeros(self, tmp_path: Path) -> None:
        sample = sample_host(tmp_path)
        assert sample == HostSample(load=sample.load)
        assert own_addresses(tmp_path) == frozenset()
        assert boot_id(tmp_path) == ""

    def test_this_host_knows_its_loopback(self) -> None:
        assert ip_address("127.0.0.1") in own_addresses()
        assert boot_id()

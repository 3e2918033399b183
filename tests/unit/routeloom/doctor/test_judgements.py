from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from routeloom.doctor import clocks, host, network, persistence
from routeloom.doctor.findings import Grade

NOW = datetime(2030, 1, 1, tzinfo=UTC)
GIB = 2**30


class TestClocks:
    @pytest.mark.parametrize(
        ("apart", "grade"), [(0.2, Grade.GOOD), (2, Grade.NOTE), (-2, Grade.NOTE), (60, Grade.PROBLEM)]
    )
    def test_a_difference_counts_in_both_directions(self, apart: float, grade: Grade) -> None:
        told = NOW + timedelta(seconds=apart)
        assert clocks.compared("kv", told, NOW, timedelta(0)).grade is grade

    def test_what_the_resolution_explains_is_no_difference(self) -> None:
        told = NOW - timedelta(seconds=2)
        assert clocks.compared("it", told, NOW, timedelta(seconds=2)).grade is Grade.GOOD


def certificate(begins: datetime, ends: datetime) -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loom.example")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    return builder.not_valid_before(begins).not_valid_after(ends).sign(key, hashes.SHA256())


class TestCertificates:
    @pytest.mark.parametrize(
        ("days", "grade"), [(60, Grade.GOOD), (14, Grade.NOTE), (3, Grade.PROBLEM), (-1, Grade.PROBLEM)]
    )
    def test_it_is_said_in_time(self, days: int, grade: Grade) -> None:
        made = certificate(NOW - timedelta(days=30), NOW + timedelta(days=days))
        found = network.judged(made, "loom.example", NOW)
        assert found.grade is grade
        assert (found.remedy == "") == (grade is Grade.GOOD)

    def test_one_of_the_future_is_a_matter_of_clocks(self) -> None:
        made = certificate(NOW + timedelta(days=1), NOW + timedelta(days=60))
        assert network.judged(made, "loom.example", NOW).grade is Grade.PROBLEM


class TestDisks:
    @pytest.mark.parametrize(
        ("free", "grade"), [(50, Grade.GOOD), (12, Grade.NOTE), (4, Grade.PROBLEM), (0, Grade.PROBLEM)]
    )
    def test_by_share(self, free: int, grade: Grade) -> None:
        assert host.room(Path("/"), 100 * GIB, free * GIB).grade is grade

    def test_a_small_disk_needs_some_room_all_the_same(self) -> None:
        assert host.room(Path("/"), GIB, GIB // 3).grade is Grade.PROBLEM


class TestTheAppendOnlyTrap:
    @pytest.mark.parametrize(
        ("files", "running", "grade"),
        [
            (["valkey.conf"], False, Grade.PROBLEM),
            (["valkey.conf"], None, Grade.PROBLEM),
            (["valkey.conf"], True, Grade.GOOD),
            ([], False, Grade.GOOD),
            ([], None, Grade.GOOD),
            ([], True, Grade.NOTE),
        ],
    )
    def test_the_file_and_the_server_are_judged_together(
        self, files: list[str], running: bool | None, grade: Grade
    ) -> None:
        found = persistence.judged("valkey", files, append_only=running)
        assert found.grade is grade
        assert bool(found.remedy) == (grade is not Grade.GOOD)

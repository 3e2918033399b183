from pathlib import Path

import pytest

from setup import backports

DEB822 = """\
# A comment of the machine's owner.
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abcdef
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""
ONE_LINE = """\
deb-src http://mirror.example/debian bookworm main
# deb http://old.example/debian bookworm main
deb [arch=amd64,arm64 signed-by=/usr/share/keyrings/house.gpg] http://mirror.example/debian bookworm main
deb http://tools.example/apt stable main
"""


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


@pytest.fixture
def bookworm(tmp_path: Path) -> Path:
    file = tmp_path / "os-release"
    file.write_text('NAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\n', encoding="utf-8")
    return file


def written(apt: Path) -> str:
    return (apt / "sources.list.d" / "routeloom-backports.sources").read_text(encoding="utf-8")


class TestAdd:
    def test_takes_mirror_and_keyring_from_the_new_format(self, apt: Path, bookworm: Path) -> None:
        (apt / "sources.list.d" / "debian.sources").write_text(DEB822, encoding="utf-8")
        assert backports.add(apt, bookworm)
        assert written(apt) == (
            "Types: deb\n"
            "URIs: http://mirror.example/debian\n"
            "Suites: bookworm-backports\n"
            "Components: main\n"
            "Signed-By: \n"
            " -----BEGIN PGP PUBLIC KEY BLOCK-----\n"
            " .\n"
            " abcdef\n"
            " -----END PGP PUBLIC KEY BLOCK-----\n"
        )

    def test_takes_mirror_and_keyring_from_the_old_format(self, apt: Path, bookworm: Path) -> None:
        (apt / "sources.list").write_text(ONE_LINE, encoding="utf-8")
        assert backports.add(apt, bookworm)
        assert written(apt) == (
            "Types: deb\n"
            "URIs: http://mirror.example/debian\n"
            "Suites: bookworm-backports\n"
            "Components: main\n"
            "Architectures: amd64 arm64\n"
            "Signed-By: /usr/share/keyrings/house.gpg\n"
        )

    def test_adds_nothing_twice(self, apt: Path, bookworm: Path) -> None:
        (apt / "sources.list").write_text(ONE_LINE, encoding="utf-8")
        assert backports.add(apt, bookworm)
        assert not backports.add(apt, bookworm)

    def test_ignores_a_source_that_is_switched_off(self, apt: Path, bookworm: Path) -> None:
        text = "Enabled: no\n" + DEB822.split("\n", 1)[1]
        (apt / "sources.list.d" / "debian.sources").write_text(text, encoding="utf-8")
        assert not backports.add(apt, bookworm)

    def test_invents_no_mirror(self, apt: Path, bookworm: Path) -> None:
        (apt / "sources.list").write_text("deb http://tools.example/apt stable main\n", encoding="utf-8")
        assert not backports.add(apt, bookworm)

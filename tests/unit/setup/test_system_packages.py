import os

import pytest

from setup import backports, system_packages
from setup.steps import SetupFailed
from setup.system_packages import Need

ABSENT = Need("a-package", "no-such-program-anywhere")
ABSENT_PROBE = Need("a-probe", "no-such-probe-anywhere", missing_is_fine=True)


@pytest.fixture(autouse=True)
def unprivileged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


class TestInstall:
    def test_names_what_is_missing_in_one_sentence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(system_packages, "TO_RUN", (ABSENT, ABSENT_PROBE))
        with pytest.raises(SetupFailed, match=r"^Please install a-package: only root can do it here\.$"):
            system_packages.install("run")

    def test_goes_on_without_a_probe_tool(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(system_packages, "TO_RUN", (ABSENT_PROBE,))
        system_packages.install("run")
        assert "going on without a-probe" in capsys.readouterr().out

    def test_the_tests_need_every_tool(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(system_packages, "TO_RUN", (ABSENT_PROBE,))
        monkeypatch.setattr(system_packages, "TO_TEST", ())
        with pytest.raises(SetupFailed, match="a-probe"):
            system_packages.install("test")

    def test_says_where_debian_12_keeps_valkey(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(system_packages, "TO_RUN", (Need("valkey-server", "no-such-program-anywhere"),))
        monkeypatch.setattr(backports, "release_codename", lambda: "bookworm")
        with pytest.raises(SetupFailed, match="bookworm-backports"):
            system_packages.install("run")

from pathlib import Path

import pytest

from setup import steps
from setup.steps import ProgramFailed, content_key, run, set_stamp, stamped, unreachable


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "STAMPS", tmp_path)
    return tmp_path


class TestStamps:
    def test_a_step_is_done_until_its_input_changes(self, root: Path) -> None:
        listed, stamp = root / "list", root / "stamps" / "step"
        listed.write_text("one", encoding="utf-8")
        set_stamp(stamp, content_key([listed]))
        assert stamped(stamp, content_key([listed]))
        listed.write_text("two", encoding="utf-8")
        assert not stamped(stamp, content_key([listed]))

    def test_a_step_that_never_ran_is_not_done(self, root: Path) -> None:
        assert not stamped(root / "never", "")


class TestRun:
    def test_gives_a_program_no_input(self, root: Path) -> None:
        run(["sh", "-c", "! read line"], cwd=root)

    def test_keeps_what_a_failing_program_said(self, root: Path) -> None:
        with pytest.raises(ProgramFailed, match="reason"):
            run(["sh", "-c", "echo reason >&2; exit 3"], cwd=root)
        assert "reason" in (root / "setup.log").read_text(encoding="utf-8")


class TestUnreachable:
    def test_tells_the_network_from_other_troubles(self) -> None:
        assert unreachable("npm error code EAI_AGAIN")
        assert not unreachable("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES")

from pathlib import Path

import pytest

from setup.assets import copy_files
from setup.steps import SetupFailed


@pytest.fixture
def fetched(tmp_path: Path) -> Path:
    source = tmp_path / "assets"
    (source / "node_modules" / "x").mkdir(parents=True)
    (source / "node_modules" / "x" / "y.css").write_text("a {}", encoding="utf-8")
    return source


class TestCopyFiles:
    def test_holds_the_wanted_files_and_nothing_else(self, fetched: Path, tmp_path: Path) -> None:
        vendor = tmp_path / "vendor"
        vendor.mkdir()
        (vendor / "left-over.js").touch()
        copy_files({"node_modules/x/y.css": "deep/y.css"}, fetched, vendor)
        assert [path.name for path in vendor.rglob("*") if path.is_file()] == ["y.css"]

    def test_keeps_what_is_there_when_a_file_is_missing(self, fetched: Path, tmp_path: Path) -> None:
        vendor = tmp_path / "vendor"
        vendor.mkdir()
        (vendor / "kept.js").touch()
        with pytest.raises(SetupFailed, match="which npm did not bring"):
            copy_files({"node_modules/x/no.css": "no.css"}, fetched, vendor)
        assert (vendor / "kept.js").exists()

    def test_writes_nothing_outside(self, fetched: Path, tmp_path: Path) -> None:
        with pytest.raises(SetupFailed, match="outside"):
            copy_files({"node_modules/x/y.css": "../../y.css"}, fetched, tmp_path / "vendor")

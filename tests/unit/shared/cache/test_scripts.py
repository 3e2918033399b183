from pathlib import Path

import pytest

import shared.cache
from shared.cache.scripting import script

DIRECTORY = Path(shared.cache.__file__).parent / "scripts"
NAMES = sorted(path.stem for path in DIRECTORY.glob("*.lua"))


@pytest.mark.parametrize("name", NAMES)
def test_begins_with_its_shebang_and_says_what_it_takes(name: str) -> None:
    lines = script(name).source.decode().splitlines()
    assert lines[0].startswith("#!lua")
    assert any("KEYS:" in line for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_never_reads_or_writes_json_itself(name: str) -> None:
    assert b"cjson" not in script(name).source


def test_is_read_once() -> None:
    assert script(NAMES[0]) is script(NAMES[0])


def test_one_without_a_shebang_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare.lua").write_text("return 1", encoding="utf-8")
    monkeypatch.setattr("shared.cache.scripting._DIRECTORY", tmp_path)
    with pytest.raises(ValueError, match="shebang"):
        script("bare")

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_NETWORK = ["unshare", "--map-root-user", "--net"]


def output_of(*command: str | Path, directory: Path) -> str:
    done = subprocess.run(
        command,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("interpreter", ["python3", "/usr/bin/python3"])
def test_a_fresh_clone_is_ready_after_one_command_and_stays_so_offline(
    interpreter: str, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    output_of("git", "clone", "--quiet", ROOT, clone, directory=tmp_path)
    output_of("make", f"PYTHON={interpreter}", "setup", directory=clone)

    assert output_of(*WITHOUT_NETWORK, "make", "setup", directory=clone) == ""
    assert "Usage" in output_of(*WITHOUT_NETWORK, clone / ".venv/bin/routeloom", "--help", directory=clone)
    assert output_of("git", "status", "--porcelain", directory=clone) == ""


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_an_installation_without_a_network_says_so_in_one_sentence(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    output_of("git", "clone", "--quiet", ROOT, clone, directory=tmp_path)
    command = [*WITHOUT_NETWORK, "make", "setup"]
    done = subprocess.run(
        command, cwd=clone, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    sentences = [line for line in done.stderr.splitlines() if line.startswith("setup: ")]
    assert len(sentences) == 1
    assert "needs the network once" in sentences[0]


def test_make_alone_lists_the_targets() -> None:
    listed = output_of("make", "--no-print-directory", directory=ROOT)
    for target in ("setup", "run", "test", "soak", "check", "format", "bench", "docs", "requirements"):
        assert target in listed

"""Environments of the peers, made on first use from their own locks: their pins must not become ours."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_of(name: str) -> Path:
    """The interpreter of the environment locked in `requirements/peers-<name>.txt`."""
    environment = ROOT / ".venv" / "peers" / name
    python = environment / "bin" / "python"
    if not python.exists():
        uv = str(ROOT / ".venv" / "bin" / "uv")
        lock = str(ROOT / "requirements" / f"peers-{name}.txt")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], check=True)
        install = ["pip", "sync", "--quiet", "--require-hashes", "--python", str(python), lock]
        subprocess.run([uv, *install], check=True)
    return python

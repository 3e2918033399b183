"""`docs/reference/benchmarks.md`: what every benchmark printed, with machine, versions and command."""

from __future__ import annotations

import importlib
import inspect
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "benchmarks.md"
_HEAD = """# Benchmarks

Written by `make bench ARGS=--record`, which measures all, and `make bench ARGS="--record NAME"`, which
replaces one part. A figure is worth something beside the peer that was measured in the same run: a ratio
holds on another machine, a time does not. What we lose stands here too.
"""
_LIBRARIES = ("fastapi", "sqlalchemy", "pydantic", "uvicorn", "valkey", "redis")
_SECTION = re.compile(r"^## `(\w+)`\n", re.MULTILINE)
_COMMAND = re.compile(r"^ {4}\S.*\n?", re.MULTILINE)


def record(name: str, printed: str) -> None:
    """Put what a benchmark printed in the place of what it printed before."""
    sections = recorded()
    sections[name] = _section(name, printed)
    body = "\n".join(f"## `{each}`\n{sections[each]}" for each in sorted(sections))
    PAGE.write_text(f"{_HEAD}\n{body}", encoding="utf-8")


def recorded() -> dict[str, str]:
    """What the page holds of each benchmark."""
    if not PAGE.exists():
        return {}
    parts = _SECTION.split(PAGE.read_text(encoding="utf-8"))[1:]
    return {name: text.rstrip("\n") + "\n" for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _section(name: str, printed: str) -> str:
    module = importlib.import_module(f"tests.benchmarks.bench_{name}")
    what = re.sub(r"\n{3,}", "\n\n", _COMMAND.sub("", inspect.cleandoc(module.__doc__ or ""))).strip()
    told = f"{what}\n\n`make bench ARGS={name}`, {datetime.now(UTC):%Y-%m-%d}, {_machine()}; {_versions()}."
    return f"\n{told}\n\n```text\n{printed.rstrip()}\n```\n"


def _machine() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return f"{os.cpu_count()} × {found[1] if found else platform.machine()}, {_commit()}"


def _commit() -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, cwd=PAGE.parent, capture_output=True, text=True, check=False)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "not from a repository"


def _versions() -> str:
    python = f"Python {platform.python_version()}"
    return ", ".join([python, *(f"{name} {version(name)}" for name in _LIBRARIES)])
